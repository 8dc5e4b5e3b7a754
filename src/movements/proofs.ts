import type { ChainClient } from '../chain/clients';
import { listDueProofs, noteProof } from '../db/accountProofs';
import { findAccount } from '../db/accounts';
import { findScanPlace } from '../db/movementScans';
import { listAccountScans } from '../db/movementSums';
import type { Unexplained } from '../domain/statement';
import { type StatementDeps, stateNetwork } from './statement';

/** A change of a balance that no movement explains. */
interface UnexplainedChange extends Unexplained {
  readonly accountId: string;
  readonly tokenAddress: string;
}

/** Accounts that are compared in one go. */
const ACCOUNTS_AT_ONCE = 5;

/**
 * Compares the movements of accounts of a network with their balances, from where they were compared before up to what is read:
 * those that are due, a few at a time. What no movement explains is stored and returned. Of an account that cannot be compared now
 * nothing is recorded, so that it is tried again; it is added to `skipped`, whose accounts wait until all others had their turn.
 * Throws ChainUnavailable.
 */
export async function proveDueAccounts(
  deps: StatementDeps,
  chain: ChainClient,
  skipped: Set<string>,
): Promise<UnexplainedChange[]> {
  const { db } = deps;
  const networkId = chain.network.id;
  const place = await findScanPlace(db, networkId);
  if (!place) return [];
  const found: UnexplainedChange[] = [];
  const due = await listDueProofs(db, networkId, { except: [...skipped], limit: ACCOUNTS_AT_ONCE });
  if (due.length < ACCOUNTS_AT_ONCE) skipped.clear();
  for (const { accountId, organizationId, provedTo } of due) {
    skipped.add(accountId);
    const account = await findAccount(db, organizationId, accountId);
    const scan = (await listAccountScans(db, accountId)).find((one) => one.networkId === networkId);
    if (!account || !scan) continue;
    const above = provedTo ?? scan.fromBlock - 1n;
    if (above >= place.number) continue;
    const stated = await stateNetwork(deps, { account, chain, above, upTo: place.number });
    if (stated.some(({ unproved }) => unproved === 'unavailable')) continue;
    const unexplained = stated.flatMap(({ tokenAddress, unexplained: parts }) =>
      parts.map((part) => ({ ...part, accountId, tokenAddress })),
    );
    const proof = { accountId, networkId, provedFrom: provedTo, provedTo: place.number };
    if (await db.transaction((tx) => noteProof(tx, proof, unexplained))) found.push(...unexplained);
    skipped.delete(accountId);
  }
  return found;
}
