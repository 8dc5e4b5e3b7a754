import type { Attempt } from '../../db/attempts';
import type { Db, Tx } from '../../db/database';
import { type AccountOnNetwork, type Envelope, toEnvelope } from '../../db/envelopes';
import type { Reservation } from '../../db/reservations';
import { combineStatements, requireRow, type Statement } from '../../db/rows';
import type { LeaseHold } from '../../domain/signerLease';
import { envelopeNonceColumns } from './reservations';
import { currentHold } from './signerLease';

/** Those of these hashes that attempts have. */
export async function storedHashes(db: Db, safeTxHashes: readonly string[]): Promise<ReadonlySet<string>> {
  const hashes = await db('chain_attempts')
    .whereIn('safe_tx_hash', [...safeTxHashes])
    .pluck('safe_tx_hash');
  return new Set(hashes.flatMap((hash) => hash ?? []));
}

/** The nonces of an account, from one on, that attempts or authorizations have. */
export async function storedNonces(
  tx: Tx,
  { accountId, networkId, from }: { accountId: string; networkId: number; from: bigint },
): Promise<ReadonlySet<bigint>> {
  const of = (table: 'chain_attempts' | 'authorizations') =>
    tx(table)
      .where({ account_id: accountId, network_id: BigInt(networkId) })
      .where('safe_nonce', '>=', from)
      .pluck('safe_nonce');
  const nonces = [...(await of('chain_attempts')), ...(await of('authorizations'))];
  return new Set(nonces.flatMap((nonce) => nonce ?? []));
}

/** An attempt that is to be stored. */
export type NewAttempt = Pick<
  Attempt,
  | 'kind'
  | 'organizationId'
  | 'transactionId'
  | 'accountId'
  | 'networkId'
  | 'to'
  | 'value'
  | 'data'
  | 'safeNonce'
  | 'safeTxGas'
  | 'safeTxHash'
  | 'fromBlock'
>;

function insertStatement(tx: Tx, input: NewAttempt) {
  return tx('chain_attempts')
    .insert({
      kind: input.kind,
      organization_id: input.organizationId,
      transaction_id: input.transactionId,
      account_id: input.accountId,
      network_id: input.networkId,
      to_address: input.to,
      value: String(input.value),
      data: input.data,
      safe_nonce: input.safeNonce,
      safe_tx_gas: String(input.safeTxGas),
      safe_tx_hash: input.safeTxHash,
      from_block: input.fromBlock,
    })
    .returning('id');
}

/** Stores an attempt before it is signed, and other statements in the same round trip. Returns its id. */
export async function insertAttempt(
  tx: Tx,
  input: NewAttempt,
  batch: readonly Statement[] = [],
): Promise<bigint> {
  const [row]: { id: bigint }[] = await combineStatements(insertStatement(tx, input), batch);
  return requireRow(row).id;
}

/**
 * Stores an attempt with a nonce of a relayer for its envelope, and other statements, in one round trip. Returns the ids
 * only: what is signed is what the caller has in memory.
 */
export async function insertAttemptReserved(
  tx: Tx,
  input: NewAttempt,
  reserving: Omit<Reservation, 'id' | 'attemptId'>,
  batch: readonly Statement[],
): Promise<{ attemptId: bigint; reservationId: bigint }> {
  const { attempt_id: _, ...columns } = envelopeNonceColumns({ ...reserving, attemptId: 0n });
  const values = Object.values(columns).map(String);
  const reserve = tx(tx.raw('relayer_reservations (attempt_id, ??)', [Object.keys(columns)]))
    .insert(tx('attempt').select('id', ...values.map((value) => tx.raw('?', [value]))))
    .returning('id');
  const both = tx('attempt')
    .with('attempt', insertStatement(tx, input))
    .with('reserved', reserve)
    .crossJoin(tx.raw('reserved'))
    .select(['attempt.id as attempt_id', 'reserved.id as reservation_id']);
  const [found]: { attempt_id: bigint; reservation_id: bigint }[] = await combineStatements(both, batch);
  const { attempt_id: attemptId, reservation_id: reservationId } = requireRow(found);
  return { attemptId, reservationId };
}

/**
 * Stores the signature of an attempt; where it has one, that stays. Stores none where another signer has taken the lease
 * over since `hold`.
 */
export function insertSignature(
  db: Db,
  id: bigint,
  signature: string,
  hold: LeaseHold | undefined,
): Statement {
  const values = db.select(db.raw('?::bigint, ?', [String(id), signature]));
  return db(db.raw('chain_signatures (attempt_id, signature)'))
    .insert(hold === undefined ? values : values.whereExists(currentHold(db, hold)))
    .onConflict(db.raw('(attempt_id)'))
    .ignore();
}

/** Stores the need to fill a nonce of a relayer with an empty transfer to itself. */
export async function insertFiller(tx: Tx, networkId: number, relayerAddress: string): Promise<bigint> {
  const [row] = await tx('chain_attempts')
    .insert({ kind: 'filler', network_id: networkId, to_address: relayerAddress, data: '0x' })
    .returning('id');
  return requireRow(row).id;
}

/** The newest envelope at a nonce of a relayer, or undefined. */
export async function envelopeAtNonce(
  db: Db | Tx,
  at: { networkId: number; relayerAddress: string; nonce: number },
): Promise<Envelope | undefined> {
  const row = await db('chain_envelopes')
    .where({
      network_id: BigInt(at.networkId),
      relayer_address: at.relayerAddress,
      relayer_nonce: BigInt(at.nonce),
    })
    .orderBy('id', 'desc')
    .first();
  return row && toEnvelope(row);
}

/** Whether an undecided envelope of a relayer has a higher nonce. */
export async function hasUndecidedAbove(
  db: Db | Tx,
  at: { networkId: number; relayerAddress: string; nonce: number },
): Promise<boolean> {
  const row = await db('chain_envelopes')
    .where({ network_id: BigInt(at.networkId), relayer_address: at.relayerAddress, outcome: null })
    .where('relayer_nonce', '>', at.nonce)
    .first('id');
  return row !== undefined;
}

/** The attempt to deploy an account on a network, created at the first call. */
export async function provideDeploymentAttempt(
  tx: Tx,
  attempt: AccountOnNetwork & { organizationId: string; proposalId: string; to: string; data: string },
): Promise<bigint> {
  await tx('chain_attempts')
    .insert({
      kind: 'deployment',
      organization_id: attempt.organizationId,
      proposal_id: attempt.proposalId,
      account_id: attempt.accountId,
      network_id: attempt.networkId,
      to_address: attempt.to,
      data: attempt.data,
    })
    .onConflict(tx.raw(`(account_id, network_id) WHERE kind = 'deployment'`))
    .ignore();
  const row = await tx('chain_attempts')
    .where({ kind: 'deployment', account_id: attempt.accountId, network_id: BigInt(attempt.networkId) })
    .first('id');
  return requireRow(row).id;
}
