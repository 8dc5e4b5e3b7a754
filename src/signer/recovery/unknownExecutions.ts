import type { Address } from 'viem';
import type { ChainClient } from '../../chain/clients';
import { executionsFrom } from '../../chain/executionsFrom';
import { accountNonce } from '../../chain/safe';
import type { Db } from '../../db/database';
import { type ExplainedNonce, explainedNonces } from '../../db/transactionHealth';
import { JournalError, type UnknownExecutionEntry } from '../journal/entries';
import type { JournalReader } from '../journal/journalReader';
import { storedHashes } from '../store/attempts';

const MAX_ACCOUNTS = 1_000_000;

/** The nonces of an account, from 0 to before `next`, that the journal does not have. */
function missingNonces(
  journal: JournalReader,
  networkId: number,
  { accountId }: ExplainedNonce,
  next: bigint,
): ReadonlySet<bigint> {
  const missing = new Set<bigint>();
  for (let safeNonce = 0n; safeNonce < next; safeNonce += 1n) {
    if (!journal.takenAt({ accountId, networkId, safeNonce })) missing.add(safeNonce);
  }
  return missing;
}

async function unknownOf(
  journal: JournalReader,
  chain: ChainClient,
  account: ExplainedNonce,
): Promise<UnknownExecutionEntry[]> {
  const { organizationId, accountId } = account;
  const networkId = chain.network.id;
  const address = account.address as Address;
  const onChain = await accountNonce(chain, address);
  const missing = missingNonces(journal, networkId, account, onChain ?? 0n);
  const [from] = missing;
  if (onChain === null || from === undefined) return [];
  const found = await executionsFrom(chain, { account: address, from, next: onChain });
  return found
    .filter(({ nonce }) => missing.has(nonce))
    .map(({ nonce, safeTxHash, transactionHash }) => ({
      type: 'unknownExecution',
      organizationId,
      accountId,
      networkId,
      safeNonce: String(nonce),
      safeTxHash,
      transactionHash,
    }));
}

/**
 * Finds the nonces of accounts that were used on a network by executions that the journal does not know. Where it is
 * completed, they are of nobody, whatever the database says of them; else not those that the database has. Throws
 * ChainUnavailable, and JournalError where the endpoints do not agree.
 */
export async function findUnknownExecutions(
  { db, journal }: { readonly db: Db; readonly journal: JournalReader },
  { id, name }: { readonly id: number; readonly name: string },
  endpoints: readonly ChainClient[],
  { isCompleted }: { readonly isCompleted: boolean },
): Promise<readonly UnknownExecutionEntry[]> {
  const found: UnknownExecutionEntry[] = [];
  for (const account of await explainedNonces(db, id, MAX_ACCOUNTS)) {
    const answers = await Promise.all(endpoints.map((chain) => unknownOf(journal, chain, account)));
    const [first] = answers;
    if (new Set(answers.map((answer) => JSON.stringify(answer))).size > 1) {
      throw new JournalError(
        `the signerRpcUrls of network ${name} disagree about account ${account.accountId}`,
      );
    }
    found.push(...(first ?? []));
  }
  if (isCompleted || found.length === 0) return found;
  const stored = await storedHashes(
    db,
    found.map(({ safeTxHash }) => safeTxHash),
  );
  return found.filter(({ safeTxHash }) => !stored.has(safeTxHash));
}
