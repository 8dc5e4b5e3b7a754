import { constants } from 'node:buffer';
import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { createChainClient } from '../chain/clients';
import { createIdentifyVoter } from '../chain/voter';
import type { NetworkConfig } from '../config';
import { type AuditProof, verifyAudit } from '../db/audit';
import { tokenOfPolicy } from '../domain/policy';
import { assetAmount } from '../domain/policyText';
import { exportProof } from '../proof/export';
import type { HeadLine } from '../proof/lines';
import { ProofError, type Proved, prove } from '../proof/prove';
import { type CommandContext, keystoreOf, organizationsOf, type Within } from './commandContext';
import { readInputFile } from './inputFile';
import { CommandRefused } from './output';
import { count } from './text';

const NO_NETWORK: NetworkConfig = {
  id: 0,
  name: 'none',
  rpcUrls: [],
  signerRpcUrls: [],
  relayers: 1,
  nativeAsset: { symbol: '', name: '', decimals: 18 },
  confirmations: 1,
  maxFeePerGas: 0n,
};

/** The node that is asked about contract wallets; undefined where none is named. */
function nodeOf({ rpc, network }: { rpc?: string; network?: string }): NetworkConfig | undefined {
  if (rpc === undefined && network === undefined) return undefined;
  if (rpc === undefined || !/^[1-9][0-9]*$/.test(network ?? '')) {
    throw new CommandRefused('--rpc <url> and --network <id> are given together');
  }
  return {
    ...NO_NETWORK,
    id: Number(network),
    name: `network ${network}`,
    rpcUrls: [rpc],
    signerRpcUrls: [rpc],
  };
}

function proofOf(proof: AuditProof) {
  return proof.ok
    ? { ok: true as const, entries: Number(proof.entries), hash: proof.hash }
    : { ok: false as const, position: Number(proof.position), id: proof.id, reason: proof.reason };
}

async function exportTo(
  context: CommandContext,
  organizationId: string,
  out: string | undefined,
): Promise<HeadLine> {
  const keystore = await keystoreOf(context);
  const proof = await exportProof(
    { db: context.signerDb(), keystore, journalFile: context.config().journalFile },
    organizationId,
  );
  if (!proof) throw new CommandRefused(`the genesis of organization ${organizationId} is not admitted`);
  if (out === undefined) context.output.document(proof.text);
  else writeFileSync(out, proof.text, { mode: 0o600 });
  return proof.head;
}

/** What was authorized of one token under one policy, in its smallest unit. */
type Spent = Pick<Proved['authorizations'][number], 'policyId' | 'networkId' | 'tokenAddress'> & {
  readonly amount: bigint;
};

/** What a proof proves, in words; amounts in whole units where a policy names the token. */
function provedText({ state, seals, authorizations, upkeep, attested, head }: Proved): string {
  const nameOf = (id: string) => state.members[id]?.name ?? id;
  const spent = new Map<string, Spent>();
  for (const { policyId, networkId, tokenAddress, amount, outcome } of authorizations) {
    if (outcome === 'reverted' || outcome === 'cancelled' || outcome === 'rejected') continue;
    const key = [policyId, networkId, tokenAddress].join();
    const before = spent.get(key)?.amount ?? 0n;
    spent.set(key, { policyId, networkId, tokenAddress, amount: before + BigInt(amount) });
  }
  const spentText = ({ policyId, networkId, tokenAddress, amount }: Spent) => {
    const policies = Object.values(state.policies).map(({ definition }) => definition);
    const [token] = policies.flatMap((policy) => tokenOfPolicy(policy, networkId, tokenAddress) ?? []);
    const text = token ? `${assetAmount(String(amount), token)} of` : `${amount} raw units of`;
    return `authorized under ${policyId} on network ${networkId}: ${text} ${tokenAddress}`;
  };
  return [
    `${state.name} (${state.id}) as of ${head.at}: every signature, change and authorization is proved`,
    `decisions ${seals}, authorizations ${authorizations.length}, transactions that keep the admins' Safe ${upkeep.length}`,
    `admins ${state.admins.threshold} of ${state.admins.memberIds.map(nameOf).join(', ')}`,
    ...Object.values(state.members).map(({ id, name, walletAddress, walletKind }) =>
      ['member', id, name, walletAddress, walletKind].join(' '),
    ),
    ...Object.values(state.policies).map(({ id, definition }) => `policy ${id} ${definition.name}`),
    ...[...spent.values()].map(spentText),
    ...attested.map(
      ({ line, memberId, at }) =>
        `line ${line}: the contract wallet of ${memberId} was asked by the signer at ${at}`,
    ),
  ].join('\n');
}

/** `audit verify`, `audit export`, `audit prove`. */
export function auditCommands(program: Command, within: Within): void {
  const audit = program.command('audit').description('The append-only log of every state change');

  audit
    .command('verify')
    .description('Prove that no entry was changed, removed or moved; names the first broken one')
    .option('--org <org_…>', 'only of this organization')
    .action((options: { org?: string }, command: Command) =>
      within(command, async ({ db, output }) => {
        const results = [];
        for (const { id } of await organizationsOf(db(), options.org)) {
          results.push({ organizationId: id, ...proofOf(await verifyAudit(db(), id)) });
        }
        const words = results.map((result) => {
          if (result.ok) {
            return `${result.organizationId}: ${count(result.entries, 'entry', 'entries')}, unbroken (${result.hash})`;
          }
          const entry = result.id ? `${result.position} (${result.id})` : String(result.position);
          return `${result.organizationId}: BROKEN at entry ${entry}: ${result.reason}`;
        });
        output.result(results, words.length > 0 ? words.join('\n') : 'There are no organizations.');
        if (results.some(({ ok }) => !ok)) throw new CommandRefused('an audit log is broken');
      }),
    );

  audit
    .command('export')
    .description(
      'Write the proof of an organization: every decision, every authorization, and a head signed now',
    )
    .requiredOption('--org <org_…>', 'the organization')
    .option('--out <proof.jsonl>', 'the file; else standard output')
    .action((options: { org: string; out?: string }, command: Command) =>
      within(command, async (context) => {
        const head = await exportTo(context, options.org, options.out);
        if (options.out !== undefined) {
          context.output.result(head, `${options.out}: ${head.sequence} decisions as of ${head.at}`);
        }
      }),
    );

  audit
    .command('prove <proof.jsonl>')
    .description('Check a proof: it needs no database, no network and no secret')
    .option('--rpc <url>', 'ask this node about contract wallets, with --network')
    .option('--network <id>', 'the network of contract wallets, with --rpc')
    .action((file: string, options: { rpc?: string; network?: string }, command: Command) =>
      within(command, async ({ output }) => {
        const network = nodeOf(options);
        const identifyVoter = createIdentifyVoter(
          network ? { network, clients: [createChainClient(network)] } : { network: NO_NETWORK, clients: [] },
        );
        try {
          const proved = await prove(readInputFile(file, { maxBytes: constants.MAX_STRING_LENGTH }), {
            identifyVoter,
            asksContracts: Boolean(network),
          });
          output.result(proved, provedText(proved));
        } catch (error) {
          if (error instanceof ProofError) throw new CommandRefused(`${file}: ${error.message}`);
          throw error;
        }
      }),
    );
}
