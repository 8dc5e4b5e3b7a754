import type { Knex } from 'knex';
import type { AuthorizationOutcome } from './authorizations';
import type { Db, Tx } from './database';
import {
  type Envelope,
  type EnvelopeJson,
  type EnvelopeRow,
  envelopeColumns,
  envelopeFromJson,
  envelopeJson,
  toEnvelope,
} from './envelopes';
import { type Columns, columnsOf, requireRow } from './rows';
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
type AttemptRow = Omit<
  ChainAttemptRow,
  'proposal_id' | 'sealed_sequence' | 'created_at' | 'block_at' | 'decided_at'
>;

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
export function selectSigned(db: Db | Tx) {
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

/** An attempt of an account as it is stored. */
export function toAttempt(row: AccountAttemptRow): Attempt {
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
  return (await selectAttempts(db).where({ transaction_id: transactionId }).orderBy('id')).map(toAttempt);
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
  const beside = `(SELECT json_agg(${envelopeJson} ORDER BY e.id) FROM chain_envelopes e
      WHERE e.attempt_id = chain_attempts.id) AS envelopes,
    (SELECT a.address FROM accounts a WHERE a.id = chain_attempts.account_id) AS account_address,
    (SELECT z.outcome FROM authorizations z WHERE z.transaction_id = chain_attempts.transaction_id) AS signer_outcome,
    (SELECT t.reopenings FROM transactions t WHERE t.id = chain_attempts.transaction_id) AS reopenings`;
  type Row = AccountAttemptRow & {
    readonly envelopes: readonly EnvelopeJson[] | null;
    readonly account_address: string;
    readonly signer_outcome: AuthorizationOutcome | null;
    readonly reopenings: number;
  };
  const rows: Row[] = await selectAttempts(db)
    .where({ account_id: accountId, network_id: BigInt(networkId), safe_nonce: safeNonce })
    .orderBy('id')
    .select(db.raw(beside));
  const all = rows.flatMap((row) => (row.envelopes ?? []).map(envelopeFromJson));
  return {
    attempts: rows.map(toAttempt),
    envelopes: all.sort((one, two) => (one.id < two.id ? -1 : 1)),
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
  return rows.map(toAttempt);
}

/** What an envelope carries; `attempt` is undefined for a deployment and for a filled nonce. */
export interface EnvelopePayload {
  readonly kind: ChainAttemptRow['kind'];
  readonly attempt: Attempt | undefined;
  /** How far the cancellation of a transaction is; null for anything else, and where nobody has requested one. */
  readonly cancellation: 'requested' | 'signed' | null;
  readonly outcome: AttemptResult | null;
  /** False for anything but a deployment. */
  readonly isDeploymentPending: boolean;
}

/** The columns of `EnvelopePayload` that other tables have. */
export const OF_OTHER_TABLES = `(CASE WHEN chain_attempts.kind <> 'transaction' THEN NULL
    WHEN EXISTS (SELECT FROM chain_attempts other
      WHERE other.transaction_id = chain_attempts.transaction_id AND other.kind = 'cancellation') THEN 'signed'
    WHEN EXISTS (SELECT FROM transactions t
      WHERE t.id = chain_attempts.transaction_id AND t.cancelling) THEN 'requested' END) AS cancellation,
  EXISTS (SELECT FROM deployments d WHERE chain_attempts.kind = 'deployment' AND d.status = 'pending'
    AND (d.proposal_id, d.account_id, d.network_id)
      = (chain_attempts.proposal_id, chain_attempts.account_id, chain_attempts.network_id)) AS is_deployment_pending`;

export type EnvelopePayloadRow = SignedAttemptRow &
  Pick<EnvelopePayload, 'cancellation'> & { readonly is_deployment_pending: boolean };

/** What a row says that an envelope carries. */
export function toEnvelopePayload(row: EnvelopePayloadRow): EnvelopePayload {
  const { kind, cancellation, outcome, is_deployment_pending: isDeploymentPending } = row;
  const attempt = isOfAccount(row) ? toAttempt(row) : undefined;
  return { kind, attempt, cancellation, outcome, isDeploymentPending };
}

/** What an envelope carries. */
export async function envelopePayload(
  db: Db | Tx,
  { attemptId }: Pick<Envelope, 'attemptId'>,
): Promise<EnvelopePayload> {
  const row = await selectSigned(db)
    .select<EnvelopePayloadRow[]>(db.raw(OF_OTHER_TABLES))
    .where({ id: attemptId })
    .first();
  return toEnvelopePayload(requireRow(row));
}

/** The envelopes of attempts, oldest first. */
export async function envelopesOf(db: Db | Tx, of: readonly Pick<Attempt, 'id'>[]): Promise<Envelope[]> {
  if (of.length === 0) return [];
  const rows = await db('chain_envelopes')
    .whereRaw('attempt_id = ANY (?::bigint[])', [of.map(({ id }) => String(id))])
    .orderBy('id')
    .select<EnvelopeRow[]>(envelopeColumns('chain_envelopes'));
  return rows.map(toEnvelope);
}
