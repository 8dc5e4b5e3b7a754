import { z } from 'zod';
import {
  NATIVE_COIN,
  type Policy,
  type PolicyDefinition,
  type TokenTransferCondition,
} from '../domain/policy';
import type { Db, Row, Tx } from './database';

/** A policy of an organization. */
export interface StoredPolicy extends Policy {
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Place in the order of commit. */
  readonly position: bigint;
}

const scope = z.enum(['PER_ITEM', 'ALL_ITEMS']);
const member = z.strictObject({ type: z.literal('user'), memberId: z.string() });
const group = z.strictObject({ type: z.literal('group'), groupId: z.string() });
const excludeInitiator = z.boolean();

/** What is stored as `definition`. A policy of which anything is unknown is not read at all. */
const definition: z.ZodType<PolicyDefinition> = z.strictObject({
  name: z.string(),
  type: z.enum(['AUTO_APPROVAL', 'MANUAL_APPROVAL']),
  transactionType: z.enum(['TOKEN_TRANSFER', 'CONTRACT_INTERACTION', 'ANY']),
  networkId: z.int(),
  description: z.string().nullable(),
  accountIds: z.array(z.string()).min(1).nullable(),
  limitation: z
    .strictObject({
      hours: z.int(),
      initiatorScope: scope,
      sourceAccountScope: scope,
      destinationScope: scope,
    })
    .nullable(),
  initiatorSetting: z.discriminatedUnion('type', [member, group]).nullable(),
  approverSetting: z
    .discriminatedUnion('type', [
      member.extend({ excludeInitiator }),
      group.extend({ threshold: z.int().min(1), excludeInitiator }),
    ])
    .nullable(),
  tokenTransferCondition: z
    .strictObject({
      tokenAddress: z.string().nullable(),
      tokenSymbol: z.string(),
      tokenName: z.string(),
      tokenLogoUrl: z.string().nullable(),
      tokenDecimals: z.int(),
      amountThreshold: z.string().nullable(),
      destinationAddresses: z.array(z.string()),
    })
    .nullable(),
  contractInteractionCondition: z
    .array(
      z.strictObject({
        contractAddress: z.string(),
        allowedFunctions: z.array(z.string()),
        functions: z.array(z.strictObject({ name: z.string().nullable(), selector: z.string() })),
        maxValue: z.string(),
      }),
    )
    .min(1)
    .nullable(),
});

/** Reads a stored definition. Throws for one of which anything is unknown. */
export function readDefinition(stored: unknown): PolicyDefinition {
  return definition.parse(stored);
}

function policy(row: Row): StoredPolicy {
  return {
    ...readDefinition(row.definition),
    id: row.id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    position: row.position,
  };
}

/** The part of a policy that decides, apart from its id. */
export function definitionOf(stored: PolicyDefinition): PolicyDefinition {
  return {
    name: stored.name,
    type: stored.type,
    transactionType: stored.transactionType,
    networkId: stored.networkId,
    description: stored.description,
    accountIds: stored.accountIds,
    limitation: stored.limitation,
    initiatorSetting: stored.initiatorSetting,
    approverSetting: stored.approverSetting,
    tokenTransferCondition: stored.tokenTransferCondition,
    contractInteractionCondition: stored.contractInteractionCondition,
  };
}

/** The policies of an organization, newest first; all of them, or a page. */
export async function listPolicies(
  db: Db | Tx,
  page: { organizationId: string; before?: bigint; limit?: number },
): Promise<StoredPolicy[]> {
  const query = db('policies')
    .where({ organization_id: page.organizationId, removed_at: null })
    .orderBy('position', 'desc');
  if (page.before !== undefined) query.where('position', '<', String(page.before));
  if (page.limit !== undefined) query.limit(page.limit);
  return (await query).map(policy);
}

/** Those of the given policies that exist in the organization. */
export async function findPolicies(
  db: Db | Tx,
  organizationId: string,
  ids: readonly string[],
  options: { lock?: 'update' } = {},
): Promise<StoredPolicy[]> {
  const query = db('policies')
    .where({ organization_id: organizationId, removed_at: null })
    .whereIn('id', [...ids])
    .orderBy('id');
  if (options.lock) query.forUpdate();
  return (await query).map(policy);
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
export interface PolicyToken {
  readonly networkId: number;
  readonly address: string;
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
  readonly logoUrl: string | null;
}

/** The tokens, apart from native coins, that the policies of an account name; none twice. */
export async function listPolicyTokens(
  db: Db | Tx,
  organizationId: string,
  accountId: string,
): Promise<PolicyToken[]> {
  const rows: Row[] = await db('policies')
    .where({ organization_id: organizationId, removed_at: null })
    .whereRaw(`definition->'tokenTransferCondition'->>'tokenAddress' <> ?`, [NATIVE_COIN])
    .whereRaw(`(definition->'accountIds' = 'null' OR definition->'accountIds' @> ?::jsonb)`, [
      JSON.stringify([accountId]),
    ])
    .orderBy('position');
  const tokens = new Map<string, PolicyToken>();
  for (const { networkId, tokenTransferCondition: token } of rows.map(policy)) {
    const address = token?.tokenAddress;
    if (!token || !address) continue;
    tokens.set(`${networkId}:${address}`, { networkId, ...tokenFacts(address, token) });
  }
  return [...tokens.values()];
}

function tokenFacts(address: string, token: TokenTransferCondition): Omit<PolicyToken, 'networkId'> {
  return {
    address,
    symbol: token.tokenSymbol,
    name: token.tokenName,
    decimals: token.tokenDecimals,
    logoUrl: token.tokenLogoUrl,
  };
}

/** Stores new policies. Their places in the list follow with `placePolicy`. */
export async function insertPolicies(
  tx: Tx,
  organizationId: string,
  policies: readonly Policy[],
): Promise<void> {
  if (policies.length === 0) return;
  await tx('policies').insert(
    policies.map((added) => ({
      id: added.id,
      organization_id: organizationId,
      name: added.name,
      definition: JSON.stringify(definitionOf(added)),
      position: 0,
    })),
  );
}

/** Puts a new definition in the place of the one that a policy has. */
export async function replacePolicy(tx: Tx, changed: Policy): Promise<void> {
  await tx('policies')
    .where({ id: changed.id })
    .update({
      name: changed.name,
      definition: JSON.stringify(definitionOf(changed)),
      updated_at: tx.raw('now()'),
    });
}

/** Ends policies; their rows stay. */
export async function removePolicies(tx: Tx, ids: readonly string[]): Promise<void> {
  await tx('policies')
    .whereIn('id', [...ids])
    .update({ removed_at: tx.raw('now()'), updated_at: tx.raw('now()') });
}
