import {
  NATIVE_CURRENCY,
  type Policy,
  type PolicyDefinition,
  type PolicyToken,
  tokenIn,
  transferCondition,
} from '../domain/policy';
import type { Db, Tx } from './database';
import { readDefinition } from './policyDefinition';
import type { PolicyRow } from './tables';

/** A policy of an organization. */
export type StoredPolicy = Policy & {
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Position in the order of commit. */
  readonly position: bigint;
};

function policy(row: PolicyRow): StoredPolicy {
  return {
    ...readDefinition(row.id, row.definition),
    id: row.id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    position: row.position,
  };
}

/** The definition of a policy, without its id. */
export function definitionOf(policy: PolicyDefinition): PolicyDefinition {
  const { id: _, createdAt: __, updatedAt: ___, position: ____, ...definition } = policy as StoredPolicy;
  return definition;
}

/** The policies of an organization, newest first; all of them, or a page. */
export async function listPolicies(
  db: Db | Tx,
  page: { organizationId: string; before?: bigint; limit?: number },
): Promise<StoredPolicy[]> {
  const query = db('policies')
    .where({ organization_id: page.organizationId, removed_at: null })
    .orderBy('position', 'desc');
  if (page.before !== undefined) query.where('position', '<', page.before);
  if (page.limit !== undefined) query.limit(page.limit);
  return (await query).map(policy);
}

/** The given policies that exist in the organization. */
export async function findPolicies(
  db: Db | Tx,
  organizationId: string,
  ids: readonly string[],
): Promise<StoredPolicy[]> {
  const rows = await db('policies')
    .where({ organization_id: organizationId, removed_at: null })
    .whereIn('id', [...ids])
    .orderBy('id');
  return rows.map(policy);
}

/** One policy, or undefined. */
export async function findPolicy(
  db: Db | Tx,
  organizationId: string,
  id: string,
): Promise<StoredPolicy | undefined> {
  return (await findPolicies(db, organizationId, [id]))[0];
}

/** A token that a policy names, as it was read from its chain. */
export interface PolicyTokenAt extends PolicyToken {
  readonly networkId: number;
  readonly address: string;
}

/** The tokens, apart from native currencies, that the policies of an account, or of all accounts, name; none twice. */
export async function listPolicyTokens(
  db: Db | Tx,
  organizationId: string,
  accountId?: string,
): Promise<PolicyTokenAt[]> {
  const query = db('policies')
    .where({ organization_id: organizationId, removed_at: null })
    .whereRaw(`definition->'tokenTransferCondition'->>'tokenAddress' <> ?`, [NATIVE_CURRENCY])
    .orderBy('position');
  if (accountId !== undefined) {
    query.whereRaw(`(definition->'accountIds' = 'null' OR definition->'accountIds' @> ?::jsonb)`, [
      JSON.stringify([accountId]),
    ]);
  }
  const rows = await query;
  const tokens = new Map<string, PolicyTokenAt>();
  for (const stored of rows.map(policy)) {
    const { networkId } = stored;
    const token = transferCondition(stored);
    const address = token?.tokenAddress;
    if (!token || !address) continue;
    tokens.set(`${networkId}:${address}`, { networkId, address, ...tokenIn(token) });
  }
  return [...tokens.values()];
}

/** Stores new policies. `setPolicyPosition` sets their positions in the list. */
export async function insertPolicies(
  tx: Tx,
  organizationId: string,
  policies: readonly Policy[],
): Promise<void> {
  if (policies.length === 0) return;
  await tx('policies')
    .insert(
      policies.map((added) => ({
        id: added.id,
        organization_id: organizationId,
        name: added.name,
        definition: JSON.stringify(definitionOf(added)),
        position: 0,
      })),
    )
    .onConflict('id')
    .merge();
}

/** Replaces the definition of a policy. */
export async function replacePolicy(tx: Tx, changed: Policy): Promise<void> {
  await tx('policies')
    .where({ id: changed.id })
    .update({
      name: changed.name,
      definition: JSON.stringify(definitionOf(changed)),
      updated_at: tx.raw('now()'),
      removed_at: null,
    });
}

/** Removes policies; their rows are kept. */
export async function removePolicies(tx: Tx, ids: readonly string[]): Promise<void> {
  await tx('policies')
    .whereIn('id', [...ids])
    .update({ removed_at: tx.raw('now()'), updated_at: tx.raw('now()') });
}
