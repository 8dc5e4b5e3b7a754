import type { Db } from '../../db/database';
import { QUEUE_ALONE, sealedQueue } from '../../db/lockQueues';
import { combineStatements } from '../../db/rows';
import { type StoredSeal, type StoredState, sealColumns } from '../../db/seals';
import type { StoredProposal } from '../../db/storedProposals';

/** What `sealedColumn` reads; null before the genesis is admitted. */
export interface SealedColumn {
  readonly sealed: Omit<StoredState, 'organizationId'> | null;
}

/** SQL: the sealed state of an organization as it is stored, as one JSON value. */
export const sealedColumn = (organizationId: string) =>
  `(SELECT json_build_object('sequence', z.sequence, 'state', z.state, 'signature', z.signature,
        'sealHash', coalesce(s.hash, ''))
      FROM sealed_states z LEFT JOIN seals s ON s.organization_id = z.organization_id AND s.sequence = z.sequence
      WHERE z.organization_id = ${organizationId}) AS sealed`;

/** The sealed state that `sealedColumn` read of an organization. */
export function sealedIn(organizationId: string, { sealed }: SealedColumn): StoredState | null {
  return sealed && { ...sealed, organizationId, sequence: Number(sealed.sequence) };
}

/** A state as it was verified, and the approval that was decided from it. */
interface ExpectedSeal {
  readonly before: StoredState;
  readonly record: Pick<StoredProposal, 'id' | 'version'>;
}

/**
 * Stores the next seal of an organization and the state that it makes, in one statement; only the signer's login may. False,
 * and nothing is stored, where the state before it is not exactly the one that was verified, or the approval has changed since.
 */
export async function storeNextSeal(
  db: Db,
  seal: StoredSeal,
  next: StoredState,
  { before, record }: ExpectedSeal,
): Promise<boolean> {
  const { organizationId } = before;
  const current = db.raw(
    `SELECT FROM queued CROSS JOIN sealed_states z
        JOIN seals s ON s.organization_id = z.organization_id AND s.sequence = z.sequence
      WHERE z.organization_id = ? AND z.sequence = ? AND z.state = ? AND z.signature = ? AND s.hash = ?
      FOR UPDATE OF z`,
    [organizationId, before.sequence, before.state, before.signature, before.sealHash],
  );
  const { state, sequence, signature } = next;
  const columns = sealColumns(seal);
  const inserted = db(db.raw('seals (??)', [Object.keys(columns)])).insert(
    db('unchanged').select(Object.values(columns).map((value) => db.raw('?', [value]))),
  );
  const stored: unknown[] = await combineStatements(
    db('sealed_states')
      .where({ organization_id: organizationId })
      .whereRaw('EXISTS (SELECT FROM unchanged)')
      .update({ state, sequence, signature })
      .returning('sequence'),
    [
      { name: 'queued', statement: db.raw(`SELECT ${QUEUE_ALONE}(?)`, [sealedQueue(organizationId)]) },
      { name: 'current', statement: current },
      // Once the state is locked: what its version is then.
      {
        name: 'unchanged',
        statement: db.raw('SELECT FROM current WHERE hold_approval(?) = ?', [record.id, record.version]),
      },
      inserted,
    ],
  );
  return stored.length > 0;
}
