import type { Address, Hex } from 'viem';
import { outcomeKindOf, type SignedAtNonce } from '../../src/chain/atNonce';
import { type ChainClient, ChainUnavailable } from '../../src/chain/clients';
import type { Execution } from '../../src/chain/executions';
import { feeOf, type ReceiptFee, totalFee } from '../../src/chain/receiptFee';
import { revertReason } from '../../src/chain/revertReason';
import { type InnerCall, simulateInner } from '../../src/chain/simulation';
import { tracedRevert } from '../../src/chain/traces';
import { hasTransferFrom } from '../../src/chain/transferLogs';
import type { Attempt } from '../../src/db/attempts';
import type { AuthorizationOutcome } from '../../src/db/authorizations';
import type { Db } from '../../src/db/database';
import type { Envelope } from '../../src/db/envelopes';
import type { AttemptOutcome } from '../../src/domain/transaction';
import { tokenOf } from '../../src/transactions/policy';
import { relayerOf } from '../relayer/relayerOf';

/** The attempts at one nonce of an account, as they are stored. */
export interface AtNonce extends SignedAtNonce {
  readonly transaction: Attempt;
  readonly cancellation: Attempt | undefined;
  /** The envelopes of both, oldest first. */
  readonly envelopes: readonly Envelope[];
  /** What the signer has recorded of the transaction; null while it has not. */
  readonly signerOutcome: AuthorizationOutcome | null;
  /** How often the transaction was reopened. */
  readonly reopenings: number;
}

/** Why the inner call failed: as the node traces it, or found by simulating it before and after its block. */
async function failureReason(db: Db, chain: ChainClient, at: AtNonce, execution: Execution): Promise<string> {
  const { to, value, data, safeTxGas } = at.transaction;
  const call: InnerCall = { account: at.account, to: to as Address, value, data: data as Hex };
  const traced = await tracedRevert(chain, execution.transactionHash, call);
  if (traced !== undefined) return `the call reverted with ${revertReason(traced)}`;
  for (const blockNumber of [execution.blockNumber - 1n, execution.blockNumber]) {
    try {
      const sender = await relayerOf(db, chain.network, at.transaction.accountId);
      const seen = await simulateInner(chain, call, { ceiling: safeTxGas, sender, blockNumber });
      if (!seen.ok && seen.kind === 'accountFunds') return seen.reason;
      if (!seen.ok && seen.kind === 'revert') return `the call reverted with ${seen.reason}`;
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
    }
  }
  return 'the call reverted in its block, and does not revert when simulated: the reason is unknown';
}

/** The outcome of a transaction, from the execution at its nonce, in a block of that time. `fee`: what it cost one of the relayers. Throws ChainUnavailable. */
export async function outcomeOf(
  db: Db,
  chain: ChainClient,
  at: AtNonce,
  execution: Execution,
  {
    blockAt,
    fee: paid = feeOf(execution.receipt),
  }: { readonly blockAt: Date; readonly fee?: ReceiptFee | undefined },
): Promise<AttemptOutcome> {
  const { blockHash, transactionHash, blockNumber } = execution;
  const { reopenings } = at;
  const fee = totalFee(paid);
  const common = {
    transactionHash,
    blockNumber: String(blockNumber),
    blockHash,
    blockTime: blockAt.toISOString(),
    ...(fee === null ? {} : { fee: String(fee) }),
    ...(reopenings > 0 ? { reopenings } : {}),
  };
  const kind = outcomeKindOf(at, execution);
  if (kind === 'cancelled') return { ...common, kind };
  if (kind === 'reverted') return { ...common, kind, reason: await failureReason(db, chain, at, execution) };
  const { transactionId: id, to, value, data: calldata } = at.transaction;
  const token = tokenOf({ id, to, value, calldata });
  const logged = token === null || hasTransferFrom(execution.logs, token, at.account);
  // Such a token may have moved the amount all the same: it counts as spent, and is not sent again.
  const note = `the call succeeded, and the token ${token} logged no Transfer from the account: check that it has arrived`;
  const isReversed = at.signerOutcome !== null && at.signerOutcome !== kind;
  return { ...common, kind, ...(logged ? {} : { note }), ...(isReversed ? { reversed: true } : {}) };
}
