import type { Address, Hex } from 'viem';
import type { ApiDependencies } from './api/dependencies';
import { CHAIN_ID_MS, knownTokens, readBalances } from './chain/balances';
import { ask, assertChainId, type ChainClient, ChainUnavailable } from './chain/clients';
import { relayerIndex } from './chain/relayerIndex';
import { SharedReads } from './chain/sharedReads';
import { noTotals, readNetworkTotals, type Totals } from './chain/totals';
import { simulateTransaction } from './chain/transactionSimulation';
import { createReadWalletCode } from './chain/walletCode';
import type { Clients } from './clients';
import type { TransactionSimulation } from './contract/transactionContract';
import { isAccountAddress, listAccounts } from './db/accounts';
import type { Db } from './db/database';
import { listPolicyTokens } from './db/policies';
import { payingRelayer } from './db/reservations';
import type { StoredTransaction } from './db/storedTransactions';
import { listTransactionTokens } from './db/transactionTokens';
import { NATIVE_CURRENCY } from './domain/policy';
import type { TransactionContent } from './domain/transactionContent';
import type { WalletCode } from './domain/walletWarning';
import { KeyedLimiter } from './temporal/keyedLimiter';
import { contentOf, tokenOf } from './transactions/policy';

/** How long others get the same simulation, and the same newest block, or the news that there is none. */
const FRESH_MS = 1_000;
/** How many simulations use one network at once. */
const SIMULATIONS_AT_ONCE = 8;

/** Reads the balances of accounts on all their networks, for the API. */
export function createReadBalances({ db, chains, tokens }: Clients): ApiDependencies['readBalances'] {
  return async (account) => {
    const named = await Promise.all([
      listTransactionTokens(db, [account.id]),
      // Transactions are shown with the token as their policy has read it.
      listPolicyTokens(db, account.organizationId, account.id),
    ]);
    const known = knownTokens(tokens, named.flat());
    const perNetwork = await Promise.all(
      account.networkIds.map(async (id) => {
        const chain = chains.get(id);
        return chain ? readBalances(chain, account.address as Address, known) : [];
      }),
    );
    return perNetwork.flat();
  };
}

/** How long others get the same totals, in milliseconds. */
const TOTALS_MS = 5_000;
/** The tokens that transactions name are looked up for so many accounts. */
const MOST_TOKEN_ACCOUNTS = 1_000;

/** Reads what all accounts of an organization hold together, for the API: once for all who ask within a few seconds. */
export function createReadTotals({ db, chains, tokens }: Clients): ApiDependencies['readTotals'] {
  const reads = new SharedReads<Totals>(TOTALS_MS, FRESH_MS);
  async function read(organizationId: string): Promise<Totals> {
    const accounts = await listAccounts(db, { organizationId });
    const ids = accounts.slice(0, MOST_TOKEN_ACCOUNTS).map(({ id }) => id);
    const named = await Promise.all([listTransactionTokens(db, ids), listPolicyTokens(db, organizationId)]);
    const known = knownTokens(tokens, named.flat());
    const used = new Set(accounts.flatMap(({ networkIds }) => networkIds));
    const perNetwork = await Promise.all(
      [...used]
        .sort((a, b) => a - b)
        .map((networkId) => {
          const on = accounts.filter(({ networkIds }) => networkIds.includes(networkId));
          const chain = chains.get(networkId);
          // One that is not configured any more.
          if (!chain) return noTotals(networkId, on.length);
          const addresses = on.map(({ address }) => address as Address);
          return readNetworkTotals(chain, addresses, known);
        }),
    );
    return {
      totals: perNetwork.flatMap(({ totals }) => totals),
      missing: perNetwork.flatMap(({ missing }) => missing),
    };
  }
  return (organizationId) => reads.read(organizationId, () => read(organizationId));
}

/**
 * Whether a token transfer goes to a contract, which may have no function that sends tokens on. null for anything else: other
 * transactions, accounts of the organization, and delegated keys (EIP-7702), since whoever has the key sends what is
 * there. `unknown` while the node does not answer.
 */
async function readRecipientCode(
  db: Db,
  readCode: (address: string) => Promise<WalletCode>,
  { organizationId, content }: { readonly organizationId: string; readonly content: TransactionContent },
): Promise<'contract' | 'unknown' | null> {
  if (content.type !== 'TOKEN_TRANSFER' || content.tokenAddress === NATIVE_CURRENCY) return null;
  const { destination } = content;
  const code = await readCode(destination);
  if (code !== 'contract' && code !== 'unknown') return null;
  return (await isAccountAddress(db, organizationId, destination)) ? null : code;
}

/** Reads whether a token transfer that does not exist yet goes to a contract, for the API. */
export function createReadRecipientCode({
  db,
  chains,
}: Pick<Clients, 'db' | 'chains'>): ApiDependencies['readRecipientCode'] {
  return async ({ networkId, ...transfer }) => {
    const chain = chains.get(networkId);
    return chain ? readRecipientCode(db, createReadWalletCode(chain), transfer) : 'unknown';
  };
}

/** Simulates a transaction at a block. Throws ChainUnavailable. */
async function simulateAt(
  { db, config }: Pick<Clients, 'db' | 'config'>,
  chain: ChainClient,
  record: StoredTransaction,
  block: bigint,
): Promise<TransactionSimulation> {
  const { accountId, to, value, calldata } = record;
  const { network } = chain;
  const account = record.accountAddress as Address;
  const blockNumber = Number(block);
  const index = relayerIndex(accountId, network.relayers);
  const sender = await payingRelayer(db, { accountId, networkId: network.id }, index);
  if (sender === undefined) throw new ChainUnavailable(network, `relayer ${index} is not registered yet`);
  const call = { account, to: to as Address, value, data: calldata.toLowerCase() as Hex };
  const found = await simulateTransaction(
    chain,
    { accountId, call, token: tokenOf(record) },
    { maxGas: config.maxGas, sender: sender as Address, blockNumber: block },
  );
  const recipientCode = await readRecipientCode(db, createReadWalletCode(chain), {
    organizationId: record.organizationId,
    content: contentOf(record),
  });
  const mark = recipientCode === null ? {} : { recipientCode };
  return found.ok
    ? { status: 'succeeds', gas: String(found.gas), blockNumber, ...mark }
    : { status: 'fails', reason: found.message, blockNumber, ...mark };
}

/**
 * Simulates transactions for the API: each once a second at most, and few of one network at once. While a network is
 * unavailable, it is asked once a second for all of its transactions together.
 */
export function createSimulate({
  db,
  config,
  chains,
}: Pick<Clients, 'db' | 'config' | 'chains'>): ApiDependencies['simulate'] {
  const heads = new SharedReads<bigint>(FRESH_MS);
  const simulations = new SharedReads<TransactionSimulation>(FRESH_MS);
  const limiter = new KeyedLimiter(SIMULATIONS_AT_ONCE);

  async function readHead(chain: ChainClient): Promise<bigint> {
    await assertChainId(chain, { withinMs: CHAIN_ID_MS });
    return ask(chain, (rpc) => rpc.getBlockNumber());
  }

  async function simulate(chain: ChainClient, record: StoredTransaction): Promise<TransactionSimulation> {
    const { id } = chain.network;
    // Not within the limit: nobody waits in turn for a network that is unavailable.
    const newest = (since?: number) => heads.read(`${id}`, () => readHead(chain), since);
    const at = (block: bigint) =>
      limiter.run(`${id}`, null, () => simulateAt({ db, config }, chain, record, block));
    const askedAt = performance.now();
    const block = await newest();
    const found = await at(block);
    if (found.status !== 'fails') return found;
    // A block since then may contain what it lacks.
    const newer = await newest(askedAt);
    return newer === block ? found : at(newer);
  }

  return async (record) => {
    const chain = chains.get(record.networkId);
    if (!chain) return { status: 'unavailable' };
    try {
      return await simulations.read(record.id, () => simulate(chain, record));
    } catch (error) {
      if (error instanceof ChainUnavailable) return { status: 'unavailable' };
      throw error;
    }
  };
}
