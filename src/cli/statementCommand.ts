import { type Command, InvalidArgumentError } from 'commander';
import { createChainClients } from '../chain/clients';
import { type ListedToken, readTokenList } from '../chain/tokenList';
import type { NetworkConfig } from '../config';
import { findAccount } from '../db/accounts';
import { findSeenTokens, type SeenToken } from '../db/movementLists';
import { findOrganizationOfAccount } from '../db/operator';
import { ZERO_ADDRESS } from '../domain/movement';
import { assetAmount } from '../domain/policyText';
import { type AssetStatement, readStatement } from '../movements/statement';
import type { Within } from './commandContext';
import { CommandRefused } from './output';
import { table } from './text';

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/;

/** A time as it is given: a day begins at midnight, UTC. */
function timeIn(text: string): Date {
  const time = new Date(text);
  if (!(DAY.test(text) || TIME.test(text)) || Number.isNaN(time.getTime())) {
    throw new InvalidArgumentError('expected a day or a time, such as 2026-10-01 or 2026-10-01T00:00:00Z');
  }
  return time;
}

/** What amounts of an asset are shown with. */
function assetOf(
  { networkId, tokenAddress }: AssetStatement,
  networks: readonly NetworkConfig[],
  tokens: readonly (ListedToken | SeenToken)[],
) {
  const network = networks.find(({ id }) => id === networkId);
  if (tokenAddress === ZERO_ADDRESS && network) return network.nativeAsset;
  const token = tokens.find((one) => one.networkId === networkId && one.address === tokenAddress);
  return { symbol: token?.symbol ?? '', decimals: token?.decimals ?? null };
}

const textOf = (raw: bigint | null) => (raw === null ? null : String(raw));

/** Amounts of an asset as text. */
type AmountText = (raw: bigint | null) => string;

function amountIn(asset: Parameters<typeof assetAmount>[1]): AmountText {
  return (raw) => {
    if (raw === null) return 'unknown';
    return raw < 0n ? `-${assetAmount(String(-raw), asset)}` : assetAmount(String(raw), asset);
  };
}

function differenceText({ difference, unproved }: AssetStatement, amount: AmountText): string {
  if (difference === null) return `not compared: ${unproved ?? 'unavailable'}`;
  return difference === 0n ? 'none' : amount(difference);
}

/** What is not explained, one line for each part. */
function unexplainedTexts({ networkId, unexplained }: AssetStatement, amount: AmountText) {
  return unexplained.map(({ fromBlock, toBlock, amount: raw }) => {
    const blocks = fromBlock === toBlock ? `block ${fromBlock}` : `blocks ${fromBlock} to ${toBlock}`;
    return `Network ${networkId}, ${blocks}: no movement explains ${amount(raw)}.`;
  });
}

function assetsTable(
  shown: readonly { readonly one: AssetStatement; readonly amount: AmountText }[],
): string {
  return table(
    ['network', 'blocks', 'token', 'opening', 'in', 'out', 'fees', 'closing', 'difference'],
    shown.map(({ one, amount }) => [
      String(one.networkId),
      `${one.fromBlock} to ${one.toBlock}`,
      one.tokenAddress === ZERO_ADDRESS ? 'native currency' : one.tokenAddress,
      ...[one.opening, one.sums.in, one.sums.out, one.sums.fees, one.closing].map(amount),
      differenceText(one, amount),
    ]),
    'The account is on no network.',
  );
}

/** A statement as a document: amounts in the smallest unit. */
function documentOf({ sums, opening, closing, difference, unexplained, ...one }: AssetStatement) {
  return {
    ...one,
    ...{ fromBlock: Number(one.fromBlock), toBlock: Number(one.toBlock) },
    opening: textOf(opening),
    ...{ in: String(sums.in), out: String(sums.out), fees: String(sums.fees) },
    closing: textOf(closing),
    difference: textOf(difference),
    unexplained: unexplained.map((part) => ({
      fromBlock: Number(part.fromBlock),
      toBlock: Number(part.toBlock),
      amount: String(part.amount),
    })),
  };
}

/** `statement`. */
export function statementCommand(program: Command, within: Within): void {
  program
    .command('statement')
    .description('Add up what moved on an account, and compare it with the balances on chain')
    .argument('<acc_…>')
    .option(
      '--from <time>',
      'blocks at or after this day or time; absent: from the first of the account',
      timeIn,
    )
    .option('--to <time>', 'blocks before this day or time; absent: up to the last that is read', timeIn)
    .action((id: string, period: { from?: Date; to?: Date }, command: Command) =>
      within(command, async ({ db, installationConfig, output }) => {
        const { from, to } = period;
        if (from && to && from >= to) throw new CommandRefused('--to must be after --from');
        const organizationId = await findOrganizationOfAccount(db(), id);
        const account = organizationId && (await findAccount(db(), organizationId, id));
        if (!account) throw new CommandRefused(`account ${id} not found`);
        const { networks, tokenListFile } = await installationConfig();
        const { tokens } = readTokenList(new Set(networks.map((network) => network.id)), tokenListFile);
        const deps = { db: db(), chains: createChainClients(networks), tokens };
        const read = await readStatement(deps, account, period);
        if (!read.ok) throw new CommandRefused(read.refusal.message);
        const seen = await findSeenTokens(db(), read.value);
        const shown = read.value.map((one) => ({
          one,
          amount: amountIn(assetOf(one, networks, [...tokens, ...seen])),
        }));
        const unexplained = shown.flatMap(({ one, amount }) => unexplainedTexts(one, amount));
        output.result(
          { accountId: id, from: from ?? null, to: to ?? null, assets: read.value.map(documentOf) },
          [assetsTable(shown), ...unexplained].join('\n'),
        );
      }),
    );
}
