import type { OrganizationState } from '../domain/governance';
import type { DecisionSeal } from '../domain/seal';
import type { Db, Tx } from './database';
import { queryRows, type Statement } from './rows';
import { type StoredSeal, storedSeal } from './seals';

/** The seal of a proposal; undefined while it has none. */
export async function findSeal(db: Db | Tx, proposalId: string): Promise<StoredSeal | undefined> {
  const row = await db('seals').where({ proposal_id: proposalId }).first();
  return row && storedSeal(row);
}

/** The decision in a stored seal. */
export function decisionIn({ body, sequence }: Pick<StoredSeal, 'body' | 'sequence'>): DecisionSeal {
  const seal = JSON.parse(body);
  if (seal.type !== 'decision') throw new Error(`seal ${sequence} is not of a decision`);
  return seal;
}

/** The sealed decision about a proposal; undefined while it has none. */
export async function findDecision(db: Db | Tx, proposalId: string): Promise<DecisionSeal | undefined> {
  const stored = await findSeal(db, proposalId);
  return stored && decisionIn(stored);
}

/**
 * What the admins of an organization have decided, up to which decision the tables show it, and the decisions that they do
 * not show, in their order.
 */
export interface Projected {
  readonly state: OrganizationState | undefined;
  readonly sequence: number;
  readonly pending: readonly DecisionSeal[];
}

/** Reads what the tables show of the decisions of an organization. Call it with the organization locked. */
export async function readProjected(tx: Tx, organizationId: string): Promise<Projected> {
  const [row] = await queryRows<{
    projected_sequence: bigint;
    state: string | null;
    pending: readonly Pick<StoredSeal, 'sequence' | 'body'>[];
  }>(
    tx,
    `SELECT o.projected_sequence, z.state,
        coalesce((SELECT json_agg(json_build_object('sequence', s.sequence, 'body', s.body) ORDER BY s.sequence)
          FROM seals s WHERE s.organization_id = o.id AND s.sequence > o.projected_sequence), '[]') AS pending
      FROM organizations o LEFT JOIN sealed_states z ON z.organization_id = o.id WHERE o.id = ?`,
    [organizationId],
  );
  return {
    state: row?.state ? JSON.parse(row.state) : undefined,
    sequence: Number(row?.projected_sequence ?? 0),
    pending: (row?.pending ?? []).map(decisionIn),
  };
}

/** Records that the tables show the decisions up to a sequence. */
export function storeProjectedSequence(tx: Tx, organizationId: string, sequence: number): Statement {
  return tx('organizations').where({ id: organizationId }).update({ projected_sequence: sequence });
}
