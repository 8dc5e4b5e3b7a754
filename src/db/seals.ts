import type { OrganizationState } from '../domain/governance';
import type { Db, Tx } from './database';
import { QUEUE_ALONE, QUEUE_SHARED, sealedQueue } from './lockQueues';
import type { Statement } from './rows';
import type { SealRow } from './tables';

/** A stored seal. */
export interface StoredSeal {
  readonly organizationId: string;
  readonly sequence: number;
  /** Null for the genesis. */
  readonly proposalId: string | null;
  readonly body: string;
  readonly hash: string;
  readonly signature: string;
  readonly sealedAt: Date;
}

/** A seal as it is stored. */
export function storedSeal(row: SealRow): StoredSeal {
  return {
    organizationId: row.organization_id,
    sequence: Number(row.sequence),
    proposalId: row.proposal_id,
    body: row.body,
    hash: row.hash,
    signature: row.signature,
    sealedAt: row.sealed_at,
  };
}

/** A seal as columns. */
export function sealColumns(seal: StoredSeal) {
  return {
    organization_id: seal.organizationId,
    sequence: seal.sequence,
    proposal_id: seal.proposalId,
    body: seal.body,
    hash: seal.hash,
    signature: seal.signature,
    sealed_at: seal.sealedAt,
  };
}

/** Stores a seal; only the signer's login may. A second one of a proposal, or of a sequence, is an error. */
export function insertSeal(tx: Tx, seal: StoredSeal): Statement {
  return tx('seals').insert(sealColumns(seal));
}

/** The seals of an organization after a sequence, in their order; up to and with another, or all. */
export async function listSeals(
  db: Db | Tx,
  organizationId: string,
  { after, upTo }: { readonly after: number; readonly upTo?: number },
): Promise<StoredSeal[]> {
  const query = db('seals')
    .where({ organization_id: organizationId })
    .where('sequence', '>', after)
    .orderBy('sequence');
  if (upTo !== undefined) query.where('sequence', '<=', upTo);
  return (await query).map(storedSeal);
}

/** The state of now as it is stored, with the hash of the latest seal. */
export interface StoredState {
  readonly organizationId: string;
  readonly sequence: number;
  readonly state: string;
  readonly signature: string;
  readonly sealHash: string;
}

/**
 * The sealed state of an organization as it is stored; undefined before its genesis is admitted. With a lock it does not
 * change before the transaction ends.
 */
export async function findSealedState(
  db: Db | Tx,
  organizationId: string,
  options: { readonly lock?: 'share' | 'update' } = {},
): Promise<StoredState | undefined> {
  const query = db('sealed_states')
    .leftJoin('seals', (on) =>
      on
        .on('seals.organization_id', 'sealed_states.organization_id')
        .on('seals.sequence', 'sealed_states.sequence'),
    )
    .where('sealed_states.organization_id', organizationId)
    .first('sealed_states.sequence', 'sealed_states.state', 'sealed_states.signature', 'seals.hash');
  if (options.lock !== undefined) {
    const isShared = options.lock === 'share';
    const queue = isShared ? QUEUE_SHARED : QUEUE_ALONE;
    query
      .withMaterialized('queued', db.raw(`SELECT ${queue}(?)`, [sealedQueue(organizationId)]))
      .joinRaw('CROSS JOIN queued');
    if (isShared) query.forShare('sealed_states');
    else query.forUpdate('sealed_states');
  }
  const row = await query;
  if (!row) return undefined;
  const { sequence } = row;
  // Where the lock was waited for, the state is newer than what else the statement sees.
  const sealHash =
    row.hash ?? (await db('seals').where({ organization_id: organizationId, sequence }).first('hash'))?.hash;
  return {
    organizationId,
    sequence: Number(sequence),
    state: row.state,
    signature: row.signature,
    sealHash: sealHash ?? '',
  };
}

/** What the admins of an organization have decided; undefined before its genesis is admitted. */
export async function readOrganizationState(
  db: Db | Tx,
  organizationId: string,
): Promise<OrganizationState | undefined> {
  const row = await db('sealed_states').where({ organization_id: organizationId }).first('state');
  return row && JSON.parse(row.state);
}

/** Stores the state of an organization, whatever is stored; only the signer's login may. */
export async function storeState(
  tx: Tx,
  { organizationId, sequence, state, signature }: Omit<StoredState, 'sealHash'>,
): Promise<void> {
  const row = { sequence, state, signature };
  await tx('sealed_states')
    .insert({ organization_id: organizationId, ...row })
    .onConflict('organization_id')
    .merge(row);
}
