import {
  type Intent,
  type Known,
  PayloadMismatch,
  pinInMemory,
  spokenHash,
  statementOf,
  verify,
  verifyGenesis,
} from '@orgwallet/client';
import { type Command, InvalidArgumentError } from 'commander';
import type { Db } from '../db/database';
import { readOrganization } from '../db/organizations';
import { findProposalById, readProposalNow } from '../db/proposals';
import { findTransactionById } from '../db/transactions';
import { canonicalJson } from '../domain/canonicalJson';
import { proposalView } from '../domain/proposalView';
import { quoted } from '../domain/quoted';
import { transactionView } from '../domain/transactionView';
import { readGenesis } from '../organizations/admitGenesis';
import type { CommandContext, Within } from './commandContext';
import { readInputJson } from './inputFile';
import { CommandRefused } from './output';

/** Payloads by name, such as `approvePayload`, with the decimals of the token that a record says it sends. */
type Payloads = readonly (readonly [name: string, payload: string, decimals?: number])[];

/** The payloads in a file: typed data itself, a record, or a response of the API. */
function payloadsIn(content: unknown): Payloads {
  const { primaryType, data, signingPayloads, signatureData } = Object(content);
  if (primaryType !== undefined) return [['payload', canonicalJson(content)]];
  const found = Object.entries({ ...signatureData, ...signingPayloads }).flatMap(([name, payload]) =>
    name.endsWith('Payload') ? [[name, String(payload), data?.asset?.decimals] as const] : [],
  );
  return found.length > 0 || typeof data !== 'object' ? found : payloadsIn(data);
}

/** The payloads of a record, as the API shows them. */
async function payloadsOf(db: Db, id: string): Promise<Payloads> {
  if (id.startsWith('txn_')) {
    const found = await findTransactionById(db, id);
    if (!found) throw new CommandRefused(`transaction ${id} not found`);
    return payloadsIn(transactionView(found.record, found.now));
  }
  const record = await findProposalById(db, id);
  if (!record) throw new CommandRefused(`proposal ${id} not found`);
  const { domainSalt } = await readOrganization(db, record.organizationId);
  return payloadsIn(proposalView(record, await readProposalNow(db, record.organizationId), domainSalt));
}

interface Options {
  readonly intent?: string;
  readonly salt?: string;
  readonly decimals?: number;
  readonly hash?: string;
  readonly wallet?: string;
}

/** The payload of a genesis: of an organization that is recorded, or in a file; undefined where it is none. */
async function genesisIn({ db }: CommandContext, subject: string): Promise<string | undefined> {
  if (subject.startsWith('org_')) {
    const genesis = await readGenesis(db(), subject);
    if (!genesis) throw new CommandRefused(`organization ${subject} not found`);
    return genesis.payload;
  }
  if (/^(prop|txn)_/.test(subject) || subject === '-') return undefined;
  const content = Object(readInputJson(subject));
  const payload = Object(content.payload ?? content);
  return payload.primaryType === 'FoundOrganization' ? canonicalJson(payload) : undefined;
}

/** Shows a genesis, and compares its hash with the one that the others have. Throws CommandRefused. */
function runGenesis({ output }: CommandContext, payload: string, { hash, wallet }: Options): void {
  try {
    const { description, domainHash, messageHash, digest, state, admins } = verifyGenesis(payload, {
      hash,
      wallet,
    });
    const { id, name } = state;
    const { threshold } = state.admins;
    output.result(
      { organization: id, name, threshold, admins, domainHash, messageHash, digest },
      [
        description,
        '',
        `domain hash   ${domainHash}`,
        `message hash  ${messageHash}`,
        `digest        ${digest}`,
        `read aloud    ${spokenHash(digest)}`,
        hash === undefined
          ? 'Compare the digest with the others: --hash 0x…'
          : 'It has the hash that was given.',
      ].join('\n'),
    );
  } catch (error) {
    if (error instanceof PayloadMismatch) throw new CommandRefused(`genesis: ${error.message}`);
    throw error;
  }
}

function wholeNumber(text: string): number {
  if (!/^\d{1,3}$/.test(text)) throw new InvalidArgumentError('expected a whole number, such as 6');
  return Number(text);
}

/** What one payload is, or how it differs from what was asked for. Throws CommandRefused. */
function verified(name: string, payload: string, intent: Intent | undefined, options: Options) {
  try {
    const { salt, decimals } = options;
    const known = {
      ...(salt === undefined ? {} : knownSalt(payload, salt)),
      ...(decimals === undefined ? {} : { decimals }),
    };
    const { typedData, description, domainHash, messageHash, digest } = verify(payload, intent, known);
    return {
      name,
      description,
      summary: typedData.message.summary,
      domainHash,
      messageHash,
      digest,
      typedData,
    };
  } catch (error) {
    if (error instanceof PayloadMismatch) throw new CommandRefused(`${name}: ${error.message}`);
    // What was asked for is not an intent: nothing was compared.
    if (error instanceof TypeError && intent !== undefined) {
      throw new CommandRefused(`${options.intent}: ${error.message}`);
    }
    throw error;
  }
}

/** The pin of an organization whose salt is known. */
function knownSalt(payload: string, salt: string): Known {
  const { organization } = statementOf(payload).typedData.message;
  return organization === undefined ? {} : { pins: pinInMemory({ organization, salt }) };
}

async function run(context: CommandContext, subject: string, options: Options): Promise<void> {
  const { db, output } = context;
  const genesis = await genesisIn(context, subject);
  if (genesis !== undefined) {
    runGenesis(context, genesis, options);
    return;
  }
  const payloads = /^(prop|txn)_/.test(subject)
    ? await payloadsOf(db(), subject)
    : payloadsIn(readInputJson(subject));
  if (payloads.length === 0) throw new CommandRefused(`${subject} has nothing to sign`);
  const intent = options.intent === undefined ? undefined : (readInputJson(options.intent) as Intent);
  const results = payloads.map(([name, payload, decimals]) =>
    verified(name, payload, intent, decimals === undefined ? options : { decimals, ...options }),
  );
  const text = results.map(({ name, description, summary, domainHash, messageHash, digest }) =>
    [
      `${name}: ${description}`,
      '',
      `summary       ${summary.map(quoted).join(`\n${' '.repeat(14)}`)}`,
      `domain hash   ${domainHash}`,
      `message hash  ${messageHash}`,
      `digest        ${digest}`,
    ].join('\n'),
  );
  output.result(results, text.join('\n\n'));
}

/** `verify`: what a payload does and its hashes, computed by the client and not by the service. */
export function verifyCommand(program: Command, within: Within): void {
  program
    .command('verify')
    .description('Show what a payload does, from its bytes alone, and the hashes that hardware wallets show')
    .argument(
      '<id | file>',
      'a proposal, a transaction, an organization (its genesis), or a file with a payload or a response (-: standard input)',
    )
    .option(
      '--intent <file>',
      'what was asked for, as JSON: refuse a payload that differs, and name the field',
    )
    .option('--hash <0x…>', 'of a genesis, as the others have it: refuse another one')
    .option('--wallet <0x…>', 'of the founder who signs: refuse a genesis in which it is not an admin')
    .option('--salt <0x…>', 'the salt of your organization: refuse a payload with another one')
    .option(
      '--decimals <number>',
      'of the token that is sent, where the file does not have them: to compare the amount in the summary',
      wholeNumber,
    )
    .action((subject: string, options: Options, command: Command) =>
      within(command, (context) => run(context, subject, options)),
    );
}
