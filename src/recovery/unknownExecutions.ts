import type { Address } from 'viem';
import type { ChainClient } from '../chain/clients';
import { executionsFrom } from '../chain/executions';
import { accountNonce } from '../chain/safe';
import type { Db } from '../db/database';
import { type ExplainedNonce, explainedNonces } from '../db/transactionHealth';
import { JournalError, type UnknownExecutionEntry } from '../journal/entries';
import type { JournalReader } from '../journal/journal';

const MAX_ACCOUNTS = 1_000_000;

/** The first nonce of an account that neither the database nor the journal explains. */
function nextNonce(journal: JournalReader, networkId: number, { accountId, next }: ExplainedNonce): bigint {
  const highest = journal.highestNonce({ accountId, networkId });
  return highest === undefined || highest < next ? next : highest + 1n;
}

async function unknownOf(
  chain: ChainClient,
  account: ExplainedNonce,
  from: bigint,
): Promise<UnknownExecutionEntry[]> {
  const { organizationId, accountId } = account;
  const address = account.address as Address;
  const onChain = await accountNonce(chain, address);
  if (onChain === null || onChain <= from) return [];
  const found = await executionsFrom(chain, { account: address, from, next: onChain });
  return found.map(({ nonce, safeTxHash, transactionHash }) => ({
    type: 'unknownExecution',
    organizationId,
    accountId,
    networkId: chain.network.id,
    safeNonce: String(nonce),
    safeTxHash,
    transactionHash,
  }));
}

/**
 * Finds the nonces of accounts that were used on a network by executions that neither the database nor the journal
 * knows. Throws ChainUnavailable, and JournalError where the endpoints do not agree.
 */
export async function findUnknownExecutions(
  { db, journal }: { readonly db: Db; readonly journal: JournalReader },
  { id, name }: { readonly id: number; readonly name: string },
  endpoints: readonly ChainClient[],
): Promise<readonly UnknownExecutionEntry[]> {
  const found: UnknownExecutionEntry[] = [];
  for (const account of await explainedNonces(db, id, MAX_ACCOUNTS)) {
    const from = nextNonce(journal, id, account);
    const answers = await Promise.all(endpoints.map((chain) => unknownOf(chain, account, from)));
    const [first] = answers;
    if (new Set(answers.map((answer) => JSON.stringify(answer))).size > 1) {
      throw new JournalError(
        `the signerRpcUrls of network ${name} disagree about account ${account.accountId}`,
      );
    }
    found.push(...(first ?? []));
  }
  return found;
}
