import type { Knex } from 'knex';
import type { LeaseHold } from '../domain/signerLease';
import type { AuthorizationOutcome } from './authorizations';
import {
  type Envelope,
  type EnvelopeColumn,
  type EnvelopeRow,
  envelope,
  envelopeColumn,
  envelopeColumns,
  envelopeIn,
  envelopeNonceColumns,
  type UnsentEnvelope,
} from './chain';
import type { Db, Tx } from './database';
import type { Reservation } from './reservations';
import { type Columns, columnsOf, queryRows, requireRow, type Statement, together } from './rows';
import { currentHold } from './signerLease';
import type { ChainAttemptRow } from './tables';

/** The outcome of an attempt of an account, with the network's confirmations. */
export type AttemptResult = NonNullable<ChainAttemptRow['outcome']>;

/**
 * Something that an account is to execute at one of its nonces: a transaction, or the empty call that takes the nonce
 * from one. Its content never changes.
 */
export interface Attempt {
  readonly id: bigint;
  readonly kind: 'transaction' | 'cancellation';
  readonly organizationId: string;
  readonly transactionId: string;
  readonly accountId: string;
  readonly networkId: number;
  readonly to: string;
  /** In wei. */
  readonly value: bigint;
  readonly data: string;
  readonly safeNonce: bigint;
  readonly safeTxGas: bigint;
  readonly safeTxHash: string;
  /** null until it is signed. */
  readonly signature: string | null;
  /** Head of the chain when it was stored. */
  readonly fromBlock: bigint;
  readonly outcome: AttemptResult | null;
  readonly outcomeHash: string | null;
  readonly blockNumber: bigint | null;
  readonly blockHash: string | null;
  readonly confirmations: number;
}

const OF_ACCOUNTS = ['transaction', 'cancellation'] as const satisfies readonly ChainAttemptRow['kind'][];

/** What is read of an attempt. */
type AttemptRow = Omit<ChainAttemptRow, 'proposal_id' | 'created_at' | 'block_at' | 'decided_at'>;

const COLUMNS: Columns<AttemptRow> = {
  id: true,
  kind: true,
  organization_id: true,
  transaction_id: true,
  account_id: true,
  network_id: true,
  to_address: true,
  value: true,
  data: true,
  safe_nonce: true,
  safe_tx_gas: true,
  safe_tx_hash: true,
  from_block: true,
  outcome: true,
  outcome_hash: true,
  block_number: true,
  block_hash: true,
  confirmations: true,
};

/** A row of those kinds: a check of the table says what it has. */
export type AccountAttemptRow = AttemptRow & {
  readonly kind: Attempt['kind'];
  readonly organization_id: string;
  readonly transaction_id: string;
  readonly account_id: string;
  readonly safe_nonce: bigint;
  readonly safe_tx_gas: string;
  readonly safe_tx_hash: string;
  readonly signature: string | null;
  readonly from_block: bigint;
};

/** An attempt of any kind, with its signature if it has one. */
type SignedAttemptRow = AttemptRow & Pick<AccountAttemptRow, 'signature'>;

function isOfAccount(row: SignedAttemptRow): row is AccountAttemptRow {
  return OF_ACCOUNTS.some((kind) => kind === row.kind);
}

/** Selects attempts, each with its signature. */
function selectSigned(db: Db | Tx) {
  return db('chain_attempts')
    .leftJoin('chain_signatures', 'chain_signatures.attempt_id', 'chain_attempts.id')
    .select<SignedAttemptRow[]>([...columnsOf('chain_attempts', COLUMNS), 'chain_signatures.signature']);
}

/** Selects what accounts are to execute. */
export function selectAttempts(db: Db | Tx) {
  return selectSigned(db).whereIn('kind', OF_ACCOUNTS) as unknown as Knex.QueryBuilder<
    AccountAttemptRow,
    AccountAttemptRow[]
  >;
}

function attempt(row: AccountAttemptRow): Attempt {
  return {
    id: row.id,
    kind: row.kind,
    organizationId: row.organization_id,
    transactionId: row.transaction_id,
    accountId: row.account_id,
    networkId: Number(row.network_id),
    to: row.to_address,
    value: BigInt(row.value),
    data: row.data,
    safeNonce: row.safe_nonce,
    safeTxGas: BigInt(row.safe_tx_gas),
    safeTxHash: row.safe_tx_hash,
    signature: row.signature,
    fromBlock: row.from_block,
    outcome: row.outcome,
    outcomeHash: row.outcome_hash,
    blockNumber: row.block_number,
    blockHash: row.block_hash,
    confirmations: row.confirmations,
  };
}

/** All attempts of a transaction, oldest first. */
export async function attemptsOfTransaction(db: Db | Tx, transactionId: string): Promise<Attempt[]> {
  return (await selectAttempts(db).where({ transaction_id: transactionId }).orderBy('id')).map(attempt);
}

/** An account on a network, and its nonces. */
export interface AccountNonces {
  readonly accountId: string;
  readonly networkId: number;
}

/** What was stored at one nonce of an account. */
interface StoredAtNonce {
  /** The transaction first, then its cancellation. */
  readonly attempts: readonly Attempt[];
  /** Of both, oldest first. */
  readonly envelopes: readonly Envelope[];
  readonly accountAddress: string | undefined;
  /** What the signer has recorded of the transaction; null while it has not. */
  readonly signerOutcome: AuthorizationOutcome | null;
  /** How often the transaction was reopened. */
  readonly reopenings: number;
}

/** What was stored at one nonce of an account, in one statement. */
export async function attemptsAtNonce(
  db: Db | Tx,
  { accountId, networkId }: AccountNonces,
  safeNonce: bigint,
): Promise<StoredAtNonce> {
  const beside = `(SELECT json_agg(${envelopeColumn} ORDER BY e.id) FROM chain_envelopes e
      WHERE e.attempt_id = chain_attempts.id) AS envelopes,
    (SELECT a.address FROM accounts a WHERE a.id = chain_attempts.account_id) AS account_address,
    (SELECT z.outcome FROM authorizations z WHERE z.transaction_id = chain_attempts.transaction_id) AS signer_outcome,
    (SELECT t.reopenings FROM transactions t WHERE t.id = chain_attempts.transaction_id) AS reopenings`;
  type Row = AccountAttemptRow & {
    readonly envelopes: readonly EnvelopeColumn[] | null;
    readonly account_address: string;
    readonly signer_outcome: AuthorizationOutcome | null;
    readonly reopenings: number;
  };
  const rows: Row[] = await selectAttempts(db)
    .where({ account_id: accountId, network_id: BigInt(networkId), safe_nonce: safeNonce })
    .orderBy('id')
    .select(db.raw(beside));
  const carrying = rows.flatMap((row) => (row.envelopes ?? []).map(envelopeIn));
  return {
    attempts: rows.map(attempt),
    envelopes: carrying.sort((one, two) => (one.id < two.id ? -1 : 1)),
    accountAddress: rows[0]?.account_address,
    signerOutcome: rows[0]?.signer_outcome ?? null,
    reopenings: rows[0]?.reopenings ?? 0,
  };
}

/** The undecided transactions of an account below a nonce, lowest first, each with its cancellation. */
export async function undecidedBelow(
  db: Db | Tx,
  { accountId, networkId }: AccountNonces,
  safeNonce: bigint,
): Promise<Attempt[]> {
  const rows = await selectAttempts(db)
    .where({ account_id: accountId, network_id: BigInt(networkId), outcome: null })
    .where('safe_nonce', '<', safeNonce)
    .orderBy(['safe_nonce', 'id']);
  return rows.map(attempt);
}

/** Those of these hashes that attempts have. */
export async function storedHashes(db: Db, safeTxHashes: readonly string[]): Promise<ReadonlySet<string>> {
  const hashes = await db('chain_attempts')
    .whereIn('safe_tx_hash', [...safeTxHashes])
    .pluck('safe_tx_hash');
  return new Set(hashes.flatMap((hash) => hash ?? []));
}

/** What an envelope carries; `attempt` is undefined for a deployment and for a filled nonce. */
interface Carried {
  readonly kind: ChainAttemptRow['kind'];
  readonly attempt: Attempt | undefined;
  /** How far the cancellation of a transaction is; null for anything else, and where nobody has requested one. */
  readonly cancellation: 'requested' | 'signed' | null;
}

/** `Carried['cancellation']` of an attempt. */
const CANCELLATION = `(CASE WHEN chain_attempts.kind <> 'transaction' THEN NULL
    WHEN EXISTS (SELECT FROM chain_attempts other
      WHERE other.transaction_id = chain_attempts.transaction_id AND other.kind = 'cancellation') THEN 'signed'
    WHEN EXISTS (SELECT FROM transactions t
      WHERE t.id = chain_attempts.transaction_id AND t.cancelling) THEN 'requested' END) AS cancellation`;

type CarriedRow = SignedAttemptRow & Pick<Carried, 'cancellation'>;

function carried(row: CarriedRow): Carried {
  const { kind, cancellation } = row;
  return { kind, cancellation, attempt: isOfAccount(row) ? attempt(row) : undefined };
}

/** An envelope and what it carries; undefined where a restored backup has lost it. */
export async function findCarried(
  db: Db,
  envelopeId: bigint,
): Promise<(Carried & { readonly envelope: Envelope }) | undefined> {
  const [row] = (await selectSigned(db)
    .join('chain_envelopes as e', 'e.attempt_id', 'chain_attempts.id')
    .select(db.raw(`${envelopeColumn} AS envelope, (${UNSENT}), ${CANCELLATION}`))
    .where({ 'e.id': envelopeId })) as (CarriedRow & UnsentColumn & { readonly envelope: EnvelopeColumn })[];
  return row && { ...carried(row), envelope: { ...envelopeIn(row.envelope), unsent: row.unsent } };
}

/** What an envelope carries. */
export async function carriedBy(db: Db | Tx, { attemptId }: Pick<Envelope, 'attemptId'>): Promise<Carried> {
  const row = await selectSigned(db)
    .select<CarriedRow[]>(db.raw(CANCELLATION))
    .where({ id: attemptId })
    .first();
  return carried(requireRow(row));
}

/** The envelopes of attempts, oldest first. */
export async function envelopesOf(db: Db | Tx, of: readonly Pick<Attempt, 'id'>[]): Promise<Envelope[]> {
  if (of.length === 0) return [];
  const rows = await db('chain_envelopes')
    .whereRaw('attempt_id = ANY (?::bigint[])', [of.map(({ id }) => String(id))])
    .orderBy('id')
    .select<EnvelopeRow[]>(envelopeColumns('chain_envelopes'));
  return rows.map(envelope);
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
  along: readonly Statement[] = [],
): Promise<bigint> {
  const [row]: { id: bigint }[] = await together(insertStatement(tx, input), along);
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
  along: readonly Statement[],
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
  const [found]: { attempt_id: bigint; reservation_id: bigint }[] = await together(both, along);
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

/** Records how many confirmations an attempt has, where that is not what was noted. */
export function noteConfirmations(
  db: Db,
  { id, confirmations: noted }: Pick<Attempt, 'id' | 'confirmations'>,
  confirmations: number,
): readonly Statement[] {
  if (noted === confirmations) return [];
  return [db('chain_attempts').where({ id, outcome: null }).update({ confirmations })];
}

/** The envelope `e` as `UnsentEnvelope`, in JSON; without a row where it was sent. */
const UNSENT = `SELECT json_build_object('kind', c.kind, 'organizationId', c.organization_id,
    'networkId', c.network_id, 'transactionId', c.transaction_id, 'safeNonce', c.safe_nonce::text,
    'transactionHash', e.transaction_hash, 'relayerAddress', e.relayer_address, 'version', a.version,
    'sequence', o.projected_sequence::text,
    'sentBefore', EXISTS (SELECT FROM chain_envelopes other
      WHERE other.attempt_id = e.attempt_id AND other.id <> e.id AND other.sent_at IS NOT NULL)) AS unsent
  FROM chain_attempts c
  LEFT JOIN approvals a ON a.id = c.transaction_id
  LEFT JOIN organizations o ON o.id = a.organization_id
  WHERE c.id = e.attempt_id AND e.sent_at IS NULL`;

interface UnsentColumn {
  readonly unsent: UnsentEnvelope | null;
}

/** An envelope with what its sending is recorded with; null where it was sent. */
export async function readUnsent(db: Db, id: bigint): Promise<UnsentEnvelope | null> {
  const sql = `SELECT u.unsent FROM chain_envelopes e CROSS JOIN LATERAL (${UNSENT}) u WHERE e.id = ?`;
  const [row] = await queryRows<UnsentColumn>(db, sql, [String(id)]);
  return row ? row.unsent : null;
}

/** Records that an envelope was sent; only the first time counts. */
export function markSent(db: Db, id: bigint): Statement {
  return db('chain_envelopes').where({ id, sent_at: null }).update({ sent_at: db.fn.now() });
}

/** Whether the deployment of an attempt is still pending. */
async function isDeploymentPending(db: Db | Tx, attemptId: bigint): Promise<boolean> {
  const row = await db('chain_attempts as c')
    .join('deployments as d', (on) =>
      on
        .on('d.proposal_id', 'c.proposal_id')
        .on('d.account_id', 'c.account_id')
        .on('d.network_id', 'c.network_id'),
    )
    .where({ 'c.id': attemptId, 'd.status': 'pending' })
    .first('d.status');
  return row !== undefined;
}

/** Decided attempts of a network. */
export interface DecidedRange {
  readonly networkId: number;
  /** Of blocks above this one. */
  readonly above?: bigint;
  /** Of blocks up to this one. */
  readonly upTo?: bigint;
  /** Recorded at this time or later. */
  readonly since?: Date;
}

/** The decided attempts of a range, after another one in their order: highest block first. */
export async function decidedAttempts(
  db: Db,
  range: DecidedRange & { readonly below?: Pick<Attempt, 'id' | 'blockNumber'>; readonly limit: number },
): Promise<Attempt[]> {
  const query = selectAttempts(db)
    .where({ network_id: BigInt(range.networkId) })
    .whereNotNull('block_number')
    .orderBy([
      { column: 'block_number', order: 'desc' },
      { column: 'id', order: 'desc' },
    ])
    .limit(range.limit);
  if (range.above !== undefined) query.where('block_number', '>', range.above);
  if (range.upTo !== undefined) query.where('block_number', '<=', range.upTo);
  if (range.since !== undefined) query.where('decided_at', '>=', range.since);
  if (range.below) {
    query.whereRaw('(block_number, id) < (?, ?)', [String(range.below.blockNumber), String(range.below.id)]);
  }
  return (await query).map(attempt);
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
  return row && envelope(row);
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

/** True when an envelope is obsolete, so that no workflow follows it. */
export async function isObsolete(db: Db | Tx, envelope: Envelope): Promise<boolean> {
  const { kind, attempt, cancellation } = await carriedBy(db, envelope);
  if (kind === 'deployment') return !(await isDeploymentPending(db, envelope.attemptId));
  // Bytes that are to be cancelled are not sent: where the signer holds the cancellation back, a filler takes their nonce.
  return attempt === undefined || attempt.outcome !== null || cancellation !== null;
}
