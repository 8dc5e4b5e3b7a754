import { z } from 'zod';
import type { NetworkConfig } from '../config';
import { type PolicyItem, proposedPolicy } from '../contract/policies';
import { findAccounts } from '../db/accounts';
import type { AuditInput } from '../db/audit';
import { findGroups } from '../db/groups';
import { newId } from '../db/ids';
import { findMembers } from '../db/members';
import { definitionOf, findPolicies, insertPolicies, replacePolicy, type StoredPolicy } from '../db/policies';
import { setPositions } from '../db/positions';
import { isSameAddress } from '../domain/address';
import { canonicalJson, type JsonValue } from '../domain/canonicalJson';
import { networkNotConfigured } from '../domain/network';
import {
  type ApproverSetting,
  type InitiatorSetting,
  NATIVE_CURRENCY,
  type Policy,
  type PolicyDefinition,
  type PolicyView,
  policyDefinitionSchema,
  policyOfView,
  policyView,
} from '../domain/policy';
import { policyText } from '../domain/policyText';
import { accept, type Outcome, refuse } from '../domain/refusal';
import { quoted } from '../domain/signing';
import type { Applied, KindContext, Outside, Plan, Token } from './kind';

/** The body of a request that creates or changes policies. */
export interface PoliciesBody {
  readonly policies: readonly PolicyItem[];
}

/** The policies of a proposal: after the change, or before their removal. */
export interface PoliciesData {
  readonly policies: readonly PolicyView[];
}

export const policiesData: z.ZodType<PoliciesData> = z
  .object({ policies: z.array(proposedPolicy) })
  .meta({ id: 'PoliciesData' });

/** What the tokens of a request report about themselves, in the order of its policies; null where none is named. */
export type PolicyFacts = readonly (Token | null)[];

/** The ids of new policies, fixed when they are proposed. */
export interface PoliciesDetails {
  /** Ids of the new ones, in their order. */
  readonly policyIds: readonly string[];
}

/** The token fields of a policy that covers any token. */
export const ANY_TOKEN: Token = { symbol: '', name: '', decimals: 0, logoUrl: null };

type TokenReader = Pick<Outside, 'networks' | 'readToken'>;

async function observeToken(
  { networks, readToken }: TokenReader,
  item: PolicyItem,
): Promise<Outcome<Token | null>> {
  const condition = item.tokenTransferCondition;
  if (!condition) return accept(null);
  const { tokenAddress } = condition;
  if (tokenAddress === null) return accept(ANY_TOKEN);
  const network = networks.find(({ id }) => id === item.networkId);
  if (!network) return refuse('validationError', networkNotConfigured(networks, item.networkId), 'networkId');
  if (tokenAddress === NATIVE_CURRENCY) return accept({ ...network.nativeAsset, logoUrl: null });
  const read = await readToken(network.id, tokenAddress);
  return read.ok
    ? accept(read.token)
    : refuse('validationError', read.reason, 'tokenTransferCondition.tokenAddress');
}

/** Reads the tokens that policies name, each once. Refuses unreadable tokens and wrong decimals. */
export async function observePolicies(
  { networks, readToken }: TokenReader,
  { policies }: PoliciesBody,
): Promise<Outcome<PolicyFacts>> {
  const reading = new Map<string, ReturnType<Outside['readToken']>>();
  const readOnce: Outside['readToken'] = (networkId, tokenAddress) => {
    const key = `${networkId}:${tokenAddress}`;
    const known = reading.get(key) ?? readToken(networkId, tokenAddress);
    reading.set(key, known);
    return known;
  };
  const observed = await Promise.all(
    policies.map((item) => observeToken({ networks, readToken: readOnce }, item)),
  );
  const facts: (Token | null)[] = [];
  for (const [i, outcome] of observed.entries()) {
    if (!outcome.ok) {
      const { code, message, field } = outcome.refusal;
      return refuse(code, message, `policies[${i}].${field}`);
    }
    const given = policies[i]?.tokenTransferCondition?.tokenDecimals ?? null;
    const token = outcome.value;
    if (token && given !== null && given !== token.decimals) {
      return refuse(
        'validationError',
        `the token has ${token.decimals} decimals, not ${given}`,
        `policies[${i}].tokenTransferCondition.tokenDecimals`,
      );
    }
    facts.push(token);
  }
  return accept(facts);
}

/** A setting without the name of its request field. */
function settingOf<Setting extends object>(setting: Setting): Omit<Setting, 'field'> {
  const { field: _, ...others } = setting as Setting & { field?: string };
  return others;
}

/** The condition of the item's transactionType, with what its token reports about itself. */
function conditionFrom(item: PolicyItem, token: Token | null): object {
  const { transactionType, tokenTransferCondition: transfer, contractInteractionCondition } = item;
  if (transactionType === 'CONTRACT_INTERACTION') return { transactionType, contractInteractionCondition };
  if (transactionType === 'ANY' || !transfer || !token) return { transactionType };
  const { tokenAddress, amountThreshold, destinationAddresses } = transfer;
  return {
    transactionType,
    tokenTransferCondition: {
      tokenAddress,
      tokenSymbol: token.symbol,
      tokenName: token.name,
      ...(token.logoUrl === null ? {} : { tokenLogoUrl: token.logoUrl }),
      tokenDecimals: token.decimals,
      amountThreshold,
      destinationAddresses,
    },
  };
}

/** The policy that an item asks for, with what its token reports about itself. */
export function definitionFrom(item: PolicyItem, token: Token | null): PolicyDefinition {
  const { name, type, networkId, description, accountIds, limitation } = item;
  return policyDefinitionSchema.parse({
    name,
    type,
    networkId,
    ...(description === null ? {} : { description }),
    accountIds,
    ...(limitation === null ? {} : { limitation }),
    initiatorSetting: item.initiatorSetting && settingOf(item.initiatorSetting),
    ...(item.approverSetting === null ? {} : { approverSetting: settingOf(item.approverSetting) }),
    ...conditionFrom(item, token),
  });
}

/** The ids that policies name, each once. */
function idsIn(policies: readonly PolicyDefinition[]) {
  const settings = policies.flatMap(({ initiatorSetting, approverSetting }) => [
    ...(initiatorSetting ? [initiatorSetting] : []),
    ...(approverSetting ? [approverSetting] : []),
  ]);
  const once = <Id>(ids: readonly Id[]) => [...new Set(ids)];
  return {
    networkIds: once(policies.map(({ networkId }) => networkId)),
    accountIds: once(policies.flatMap(({ accountIds }) => accountIds ?? [])),
    memberIds: once(settings.flatMap((setting) => (setting.type === 'user' ? [setting.memberId] : []))),
    groupIds: once(settings.flatMap((setting) => (setting.type === 'group' ? [setting.groupId] : []))),
  };
}

/** What policies refer to, as subjects of notices. */
function subjectsOf(policies: readonly PolicyDefinition[]): string[] {
  const { networkIds, accountIds, memberIds, groupIds } = idsIn(policies);
  return [
    ...networkIds.map((id) => `network:${id}`),
    ...accountIds.map((id) => `account:${id}`),
    ...memberIds.map((id) => `member:${id}`),
    ...groupIds.map((id) => `group:${id}`),
  ];
}

/** The existing records that policies refer to. */
async function readReferenced(
  { tx, organizationId, networks }: KindContext,
  policies: readonly PolicyDefinition[],
) {
  const { accountIds, memberIds, groupIds } = idsIn(policies);
  const byId = <T extends { readonly id: string | number }>(things: readonly T[]) =>
    new Map(things.map((thing) => [thing.id, thing]));
  return {
    networks: byId(networks),
    accounts: byId(await findAccounts(tx, organizationId, accountIds)),
    members: byId(await findMembers(tx, organizationId, memberIds)),
    groups: byId(await findGroups(tx, organizationId, groupIds)),
  };
}

type Referenced = Awaited<ReturnType<typeof readReferenced>>;

/** Why a policy is impossible in the organization now, and its field. */
interface Fault {
  readonly message: string;
  readonly field: string;
}

function settingFault(
  setting: InitiatorSetting | ApproverSetting | null | undefined,
  where: 'initiatorSetting' | 'approverSetting',
  referenced: Referenced,
): Fault | undefined {
  if (!setting) return undefined;
  if (setting.type === 'user') {
    if (referenced.members.has(setting.memberId)) return undefined;
    return {
      message: `member ${setting.memberId} not found in this organization`,
      field: `${where}.memberId`,
    };
  }
  const group = referenced.groups.get(setting.groupId);
  if (!group)
    return { message: `group ${setting.groupId} not found in this organization`, field: `${where}.groupId` };
  if ('threshold' in setting && setting.threshold > group.members.length) {
    const size = group.members.length === 1 ? '1 member' : `${group.members.length} members`;
    return {
      message: `the group ${quoted(group.name)} (${group.id}) has ${size}, fewer than the ${setting.threshold} who must approve`,
      field: `${where}.threshold`,
    };
  }
  return undefined;
}

/** A reference of a policy that does not exist, or a threshold that its group cannot reach. */
function faultOf(policy: PolicyDefinition, referenced: Referenced): Fault | undefined {
  if (!referenced.networks.has(policy.networkId)) {
    return {
      message: networkNotConfigured(referenced.networks.values(), policy.networkId),
      field: 'networkId',
    };
  }
  const missing = (policy.accountIds ?? []).findIndex((id) => !referenced.accounts.has(id));
  if (missing >= 0) {
    return {
      message: `account ${policy.accountIds?.[missing]} not found in this organization`,
      field: `accountIds[${missing}]`,
    };
  }
  return (
    settingFault(policy.initiatorSetting, 'initiatorSetting', referenced) ??
    settingFault(policy.approverSetting, 'approverSetting', referenced)
  );
}

/** The field of a fault as the caller wrote it: a member may be given as `userId`. */
function fieldIn(item: PolicyItem, { field }: Fault): string {
  const [where, name] = field.split('.');
  if (name !== 'memberId') return field;
  const setting = where === 'initiatorSetting' ? item.initiatorSetting : item.approverSetting;
  return setting?.type === 'user' ? `${where}.${setting.field}` : field;
}

function present<T>(thing: T | undefined): T {
  if (thing === undefined) throw new Error('a policy was not checked before it was described');
  return thing;
}

function textOf(policy: PolicyDefinition, referenced: Referenced): string {
  return policyText(policy, {
    network: present(referenced.networks.get(policy.networkId) as NetworkConfig | undefined),
    account: (id) => present(referenced.accounts.get(id)),
    member: (id) => present(referenced.members.get(id)).name,
    group: (id) => present(referenced.groups.get(id)).name,
  });
}

/** An unambiguous description of a policy: `"Payroll" (pol_…)`. */
export function describePolicy({ id, name }: Pick<Policy, 'id' | 'name'>): string {
  return `${quoted(name)} (${id})`;
}

/** Plans new policies and changes of existing ones. */
export async function planPolicies(
  context: KindContext,
  { policies: items }: PoliciesBody,
  facts: PolicyFacts,
): Promise<Outcome<Plan<PoliciesData, PoliciesDetails>>> {
  const ids = items.flatMap(({ id }) => id ?? []);
  const stored = await findPolicies(context.tx, context.organizationId, ids);
  const definitions = items.map((item, i) => definitionFrom(item, facts[i] ?? null));
  const referenced = await readReferenced(context, definitions);
  const described: string[] = [];
  const views: PolicyView[] = [];
  for (const [i, item] of items.entries()) {
    const definition = present(definitions[i]);
    const before = stored.find(({ id }) => id === item.id);
    if (item.id !== undefined && !before) {
      return refuse(
        'validationError',
        `policy ${item.id} not found in this organization`,
        `policies[${i}].id`,
      );
    }
    const fault = faultOf(definition, referenced);
    if (fault) return refuse('validationError', fault.message, `policies[${i}].${fieldIn(item, fault)}`);
    if (before && canonicalJson(definition) === canonicalJson(definitionOf(before))) {
      return refuse('validationError', `nothing about policy ${before.id} would change`, `policies[${i}]`);
    }
    const text = textOf(definition, referenced);
    described.push(before ? `change policy ${describePolicy(before)} to ${text}` : `create policy ${text}`);
    const identified = before ? { id: before.id, ...definition } : definition;
    views.push(policyView(identified, [...referenced.accounts.values()]));
  }
  const summary = described.join('; ');
  const claims = ids.map((id) => `policy:${id}`);
  return accept({
    data: { policies: views },
    plan: { policyIds: items.flatMap(({ id }) => (id === undefined ? [newId('pol')] : [])) },
    summary: `${summary.slice(0, 1).toUpperCase()}${summary.slice(1)}`,
    claims,
    names: [...claims, ...subjectsOf(definitions)],
  });
}

/** Why a policy would differ from what was signed. */
function differs(view: PolicyView, policy: PolicyDefinition, referenced: Referenced): string | undefined {
  const fault = faultOf(policy, referenced);
  if (fault) return fault.message;
  const moved = view.accounts.find(({ id, address }) => {
    const account = referenced.accounts.get(id);
    return account && !isSameAddress(account.address, address);
  });
  return moved && `account ${moved.id} does not have the address ${moved.address}`;
}

/** Carries out new policies and changes of existing ones. */
export async function applyPolicies(
  context: KindContext,
  proposal: { readonly id: string; readonly data: PoliciesData; readonly plan: PoliciesDetails },
): Promise<Outcome<Applied>> {
  const { tx, organizationId } = context;
  const views = proposal.data.policies;
  const newIds = [...proposal.plan.policyIds];
  const policies = views.map((view): Policy => {
    const id = view.id ?? newIds.shift();
    if (id === undefined) throw new Error(`proposal ${proposal.id} lacks the id of a new policy`);
    return { id, ...policyOfView(view) };
  });
  const ids = views.flatMap(({ id }) => id ?? []);
  const stored = await findPolicies(tx, organizationId, ids, { lock: 'update' });
  const referenced = await readReferenced(context, policies);
  const changes: { policy: Policy; before: StoredPolicy | undefined }[] = [];
  for (const [i, policy] of policies.entries()) {
    const view = present(views[i]);
    const before = stored.find(({ id }) => id === view.id);
    if (view.id !== undefined && !before) {
      return refuse('conflict', `policy ${describePolicy(policy)} no longer exists`);
    }
    const difference = differs(view, policy, referenced);
    if (difference !== undefined) {
      return refuse(
        'conflict',
        `policy ${quoted(policy.name)} can no longer be as it was signed: ${difference}`,
      );
    }
    changes.push({ policy, before });
  }
  await insertPolicies(
    tx,
    organizationId,
    changes.flatMap(({ policy, before }) => (before ? [] : [policy])),
  );
  for (const { policy, before } of changes) if (before) await replacePolicy(tx, policy);
  return accept({
    resources: policies.map(({ id }) => ({ type: 'policy' as const, id, uri: `/api/v1/policies/${id}` })),
    audit: changes.map(({ policy, before }) => ({
      action: before ? 'policy.updated' : 'policy.created',
      resourceType: 'policy',
      resourceId: policy.id,
      details: {
        ...(before ? { before: recorded(before) } : {}),
        after: recorded(policy),
        proposalId: proposal.id,
      },
    })),
    notices: changes.flatMap(({ before }) =>
      before
        ? [
            {
              subject: `policy:${before.id}`,
              code: 'policyChanged',
              message: `policy ${describePolicy(before)} has been changed`,
            },
          ]
        : [],
    ),
    // New policies have the positions of the audit entries of their creation.
    setPositions: (positions) =>
      setPositions(
        tx,
        'policies',
        changes.flatMap(({ policy, before }) => (before ? [] : [policy.id])),
        positions.filter((_, index) => changes[index] && !changes[index].before),
      ),
  });
}

/** A policy as the audit log keeps it. */
export function recorded(policy: PolicyDefinition): AuditInput['details'][string] {
  return definitionOf(policy) as unknown as JsonValue;
}
