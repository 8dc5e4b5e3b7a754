import type { Db, Tx } from '../../db/database';
import {
  type Envelope,
  type EnvelopeFee,
  type EnvelopeRow,
  envelopeColumns,
  toEnvelope,
} from '../../db/envelopes';
import { requireRow } from '../../db/rows';
import type { AccountRescue, AdminsSafeStatus } from '../../domain/adminsSafe';

/** A transaction that keeps the admins' Safe, as the journal has it. */
interface Upkeep {
  readonly organizationId: string;
  readonly networkId: number;
  /** The account; null: the keeper. */
  readonly accountId: string | null;
  readonly safeNonce: string;
  readonly safeTxHash: string;
  readonly to: string;
  readonly data: string;
  readonly safeTxGas: string;
  readonly sequence: number;
}

/** Stores what keeps the admins' Safe, unless it is there. Returns its id. */
export async function provideUpkeep(db: Db | Tx, entry: Upkeep): Promise<bigint> {
  await db('chain_attempts')
    .insert({
      kind: 'upkeep',
      organization_id: entry.organizationId,
      account_id: entry.accountId,
      network_id: BigInt(entry.networkId),
      to_address: entry.to,
      data: entry.data,
      safe_nonce: BigInt(entry.safeNonce),
      safe_tx_gas: entry.safeTxGas,
      safe_tx_hash: entry.safeTxHash,
      sealed_sequence: BigInt(entry.sequence),
    })
    .onConflict(['safe_tx_hash'])
    .ignore();
  const row = await db('chain_attempts').where({ safe_tx_hash: entry.safeTxHash }).first('id');
  return requireRow(row).id;
}

/** The nonces of an account that are taken in the tables: the highest, and whether all are decided. */
export async function takenOfAccount(
  tx: Tx,
  { accountId, networkId }: { readonly accountId: string; readonly networkId: number },
): Promise<{
  readonly highest: bigint | null;
  readonly isDecided: boolean;
  readonly upkeepHash: string | null;
}> {
  const on = { account_id: accountId, network_id: BigInt(networkId) };
  const taken = () => tx('chain_attempts').where(on).whereNotNull('safe_nonce');
  const newest = await taken().orderBy('safe_nonce', 'desc').first('safe_nonce');
  const undecided = await taken().where({ outcome: null }).select('kind', 'safe_tx_hash');
  const unknown = await tx('unknown_executions').where(on).orderBy('safe_nonce', 'desc').first('safe_nonce');
  const nonces = [newest?.safe_nonce, unknown?.safe_nonce].flatMap((nonce) => nonce ?? []);
  return {
    highest: nonces.reduce<bigint | null>((most, one) => (most === null || one > most ? one : most), null),
    isDecided: undecided.length === 0,
    upkeepHash: undecided.find(({ kind }) => kind === 'upkeep')?.safe_tx_hash ?? null,
  };
}

/** The hash of an upkeep; null where the attempt is none. */
export async function upkeepHash(db: Db | Tx, attemptId: bigint): Promise<string | null> {
  const row = await db('chain_attempts').where({ id: attemptId, kind: 'upkeep' }).first('safe_tx_hash');
  return row?.safe_tx_hash ?? null;
}

/** Records that an upkeep was executed; null: it is undecided again, because its chain has lost the block. */
export async function decideUpkeep(db: Db, attemptId: bigint, outcome: 'executed' | null): Promise<void> {
  await db.raw('SELECT decide_upkeep(?, ?)', [String(attemptId), outcome]);
}

/** What became of an envelope of an upkeep, and what it cost where it is in a block; null: nothing yet, or its chain has lost the block. */
interface UpkeepOutcome {
  readonly outcome: Envelope['outcome'];
  readonly fee?: EnvelopeFee;
}

/** Records what became of an envelope of an upkeep. */
export async function decideUpkeepEnvelope(
  db: Db,
  { id }: Pick<Envelope, 'id'>,
  { outcome, fee }: UpkeepOutcome,
): Promise<void> {
  const amounts = [fee?.blockNumber, fee?.gasUsed, fee?.gasPrice, fee?.dataFee];
  const [block = null, ...paid] = amounts.map((amount) => (amount == null ? null : String(amount)));
  await db.raw('SELECT decide_upkeep_envelope(?, ?, ?, ?, ?, ?, ?)', [
    ...[String(id), outcome, block, fee?.blockAt ?? null],
    ...paid,
  ]);
}

/** The envelopes of an upkeep, oldest first. */
export async function upkeepEnvelopes(db: Db, attemptId: bigint): Promise<Envelope[]> {
  const rows = await db('chain_envelopes')
    .where({ attempt_id: attemptId })
    .orderBy('id')
    .select<EnvelopeRow[]>(envelopeColumns('chain_envelopes'));
  return rows.map(toEnvelope);
}

/** How an admins' Safe is. */
export interface SafeStatus {
  readonly status: AdminsSafeStatus;
  readonly owners: readonly string[] | null;
  readonly threshold: number | null;
  readonly sequence: number | null;
  readonly reason: string | null;
}

/** Whose admins' Safe, and where. */
interface SafePlace {
  readonly organizationId: string;
  readonly networkId: number;
}

/** Stores how an admins' Safe was read; `since` moves with its status only. */
export async function recordAdminsSafe(db: Db, observed: SafePlace & SafeStatus): Promise<void> {
  const { organizationId, networkId, status, owners, threshold, sequence, reason } = observed;
  const now = db.fn.now() as unknown as Date;
  const seen = {
    ...{ status, threshold, reason, observed_at: now },
    owners: owners === null ? null : JSON.stringify(owners),
    sequence: sequence === null ? null : BigInt(sequence),
  };
  await db('admins_safes')
    .insert({ organization_id: organizationId, network_id: BigInt(networkId), since: now, ...seen })
    .onConflict(['organization_id', 'network_id'])
    .merge({
      ...seen,
      since: db.raw('CASE WHEN admins_safes.status = excluded.status THEN admins_safes.since ELSE now() END'),
    });
}

/** Stores that an admins' Safe that was read before cannot be read now. */
export async function recordUnknown(
  db: Db,
  { organizationId, networkId, reason }: SafePlace & Pick<SafeStatus, 'reason'>,
): Promise<void> {
  await db('admins_safes')
    .where({ organization_id: organizationId, network_id: BigInt(networkId) })
    .update({
      ...{ status: 'unknown', reason, observed_at: db.fn.now() as unknown as Date },
      since: db.raw(`CASE WHEN status = 'unknown' THEN since ELSE now() END`),
    });
}

/** Stores whether the admins can take an account over. */
export async function recordRescue(
  db: Db,
  { accountId, networkId, rescue }: { accountId: string; networkId: number; rescue: AccountRescue },
): Promise<void> {
  await db('account_rescues')
    .insert({
      ...{ account_id: accountId, network_id: BigInt(networkId), rescue },
      since: db.fn.now() as unknown as Date,
    })
    .onConflict(['account_id', 'network_id'])
    .merge({
      rescue,
      since: db.raw(
        'CASE WHEN account_rescues.rescue = excluded.rescue THEN account_rescues.since ELSE now() END',
      ),
    });
}
