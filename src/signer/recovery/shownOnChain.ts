import type { Address } from 'viem';
import { confirmedAt, findInEnvelopes, headOf, searchAtNonce } from '../../chain/atNonce';
import type { ChainClient } from '../../chain/clients';
import type { Execution } from '../../chain/executions';
import { type AccountNonces, attemptsAtNonce } from '../../db/attempts';
import type { Db } from '../../db/database';
import { JournalError } from '../journal/entries';

/** A nonce of an account, and the block since which something may have used it. */
interface Searched extends AccountNonces {
  readonly account: Address;
  readonly safeNonce: bigint;
  readonly fromBlock: bigint;
}

/** What used a nonce, with the time of its block. */
export interface ShownExecution extends Pick<Execution, 'kind' | 'safeTxHash'> {
  readonly blockAt: Date;
}

/** What one endpoint shows at a nonce, with the network's confirmations; null where it shows nothing. */
async function shownBy(
  db: Db,
  chain: ChainClient,
  { account, safeNonce, fromBlock, ...on }: Searched,
): Promise<ShownExecution | null> {
  const { attempts, envelopes } = await attemptsAtNonce(db, on, safeNonce);
  // The rows only say where to look.
  const own = await findInEnvelopes(chain, account, attempts, envelopes);
  const head = await headOf(chain);
  const found = own ?? (await searchAtNonce(chain, { account, transaction: { safeNonce, fromBlock } }, head));
  const blockAt = found && (await confirmedAt(chain, found, head));
  if (!found || !blockAt) return null;
  return { kind: found.kind, safeTxHash: found.safeTxHash, blockAt };
}

/**
 * What has used a nonce of an account, as all endpoints of the signer show it; null where there are none, or they show
 * nothing. Throws ChainUnavailable, and JournalError where they disagree.
 */
export async function shownOnChain(
  db: Db,
  endpoints: readonly ChainClient[],
  searched: Searched,
): Promise<ShownExecution | null> {
  const shown = await Promise.all(endpoints.map((chain) => shownBy(db, chain, searched)));
  if (new Set(shown.map((one) => JSON.stringify(one))).size > 1) {
    throw new JournalError(
      `the signerRpcUrls of network ${searched.networkId} disagree about nonce ${searched.safeNonce} of account ${searched.accountId}`,
    );
  }
  return shown[0] ?? null;
}
