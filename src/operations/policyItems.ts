import { z } from 'zod';
import { type NamedFunction, parseFunction } from '../chain/functions';
import { type PolicyItem, proposedPolicy } from '../contract/policies';
import { findAccounts } from '../db/accounts';
import { newId } from '../db/ids';
import { isSameAddress } from '../domain/address';
import { canonicalJson } from '../domain/canonicalJson';
import {
  type Edit,
  expectNew,
  expectRevision,
  findResource,
  type OrganizationState,
  type PolicyState,
} from '../domain/governance';
import { networkNotConfigured } from '../domain/network';
import {
  type ApproverSetting,
  contractRules,
  type InitiatorSetting,
  NATIVE_CURRENCY,
  type Policy,
  type PolicyAccount,
  type PolicyDefinition,
  type PolicyView,
  policyDefinitionSchema,
  policyOfView,
  policyPeople,
  policyView,
  tokenIn,
  transferCondition,
} from '../domain/policy';
import { type PolicyDanger, policyDanger, policyLines } from '../domain/policyText';
import { quoted } from '../domain/quoted';
import { accept, type Outcome, refuse } from '../domain/refusal';
import { quotedName, quotedNewName, summaryText } from '../domain/summary';
import type { Outside, Plan, PlanContext, ShownToken, SummaryContext, Token } from './kind';

/** The body of a request that creates or changes policies. */
interface PoliciesBody {
  readonly policies: readonly PolicyItem[];
}

/** The policies of a proposal: after the change, or before their removal. */
interface PoliciesData {
  readonly policies: readonly ProposedPolicy[];
}

/** A policy in a proposal; `revision` is absent for a new one. */
export type ProposedPolicy = PolicyView & { readonly id: string; readonly revision?: number };

/** True when a policy in a proposal is one: its schema does not relate `type` to `approverSetting`. */
function isPolicy(shown: ProposedPolicy): boolean {
  try {
    definitionIn(shown);
    return true;
  } catch {
    return false;
  }
}

export const policiesData: z.ZodType<PoliciesData> = z
  .object({ policies: z.array(proposedPolicy.refine(isPolicy)) })
  .meta({ id: 'PoliciesData' });

/** What the tokens of a request report about themselves, in the order of its policies; null where none is named. */
type PolicyFacts = readonly (Token | null)[];

/** The token fields of a policy that covers any token. */
export const ANY_TOKEN: Token = { symbol: '', name: null, decimals: 0, logoUrl: null };

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
        token.decimals === null
          ? 'must be absent: the token reports no decimals'
          : `the token has ${token.decimals} decimals, not ${given}`,
        `policies[${i}].tokenTransferCondition.tokenDecimals`,
      );
    }
    if (token?.decimals === null && policies[i]?.tokenTransferCondition?.amountThreshold !== null) {
      return refuse(
        'validationError',
        'must be null: the token reports no decimals',
        `policies[${i}].tokenTransferCondition.amountThreshold`,
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
      tokenName: token.name ?? '',
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
  const once = <Id>(ids: readonly Id[]) => [...new Set(ids)];
  return {
    networkIds: once(policies.map(({ networkId }) => networkId)),
    accountIds: once(policies.flatMap(({ accountIds }) => accountIds ?? [])),
    ...policyPeople(policies),
  };
}

/** What policies refer to, as subjects of notes. */
function subjectsOf(policies: readonly PolicyDefinition[]): string[] {
  const { networkIds, accountIds, memberIds, groupIds } = idsIn(policies);
  return [
    ...networkIds.map((id) => `network:${id}`),
    ...accountIds.map((id) => `account:${id}`),
    ...memberIds.map((id) => `member:${id}`),
    ...groupIds.map((id) => `group:${id}`),
  ];
}

/** Why a policy is impossible in the organization now, and its field. */
interface Fault {
  readonly message: string;
  readonly field: string;
}

function settingFault(
  setting: InitiatorSetting | ApproverSetting | null | undefined,
  where: 'initiatorSetting' | 'approverSetting',
  state: OrganizationState,
): Fault | undefined {
  if (!setting) return undefined;
  if (setting.type === 'user') {
    if (findResource(state, 'member', setting.memberId)) return undefined;
    return {
      message: `member ${setting.memberId} not found in this organization`,
      field: `${where}.memberId`,
    };
  }
  const group = findResource(state, 'group', setting.groupId);
  if (!group)
    return { message: `group ${setting.groupId} not found in this organization`, field: `${where}.groupId` };
  if ('threshold' in setting && setting.threshold > group.memberIds.length) {
    const size = group.memberIds.length === 1 ? '1 member' : `${group.memberIds.length} members`;
    return {
      message: `the group ${quoted(group.name)} (${group.id}) has ${size}, fewer than the ${setting.threshold} who must approve`,
      field: `${where}.threshold`,
    };
  }
  return undefined;
}

/** A reference of a policy that does not exist, or a threshold that its group cannot reach. */
function faultOf(policy: PolicyDefinition, state: OrganizationState): Fault | undefined {
  const missing = (policy.accountIds ?? []).findIndex((id) => !findResource(state, 'account', id));
  if (missing >= 0) {
    return {
      message: `account ${policy.accountIds?.[missing]} not found in this organization`,
      field: `accountIds[${missing}]`,
    };
  }
  return (
    settingFault(policy.initiatorSetting, 'initiatorSetting', state) ??
    settingFault(policy.approverSetting, 'approverSetting', state)
  );
}

/** The same in a request: its network must be configured, and its accounts deployed. */
function requestFault(
  policy: PolicyDefinition,
  { state, networks }: PlanContext,
  accounts: readonly PolicyAccount[],
): Fault | undefined {
  if (!networks.some(({ id }) => id === policy.networkId)) {
    return { message: networkNotConfigured(networks, policy.networkId), field: 'networkId' };
  }
  const missing = (policy.accountIds ?? []).findIndex((id) => accounts.every((account) => account.id !== id));
  if (missing >= 0) {
    return {
      message: `account ${policy.accountIds?.[missing]} not found in this organization`,
      field: `accountIds[${missing}]`,
    };
  }
  return destinationFault(policy, accounts) ?? faultOf(policy, state);
}

/** A destination that is the only account of the policy. */
function destinationFault(policy: PolicyDefinition, accounts: readonly PolicyAccount[]): Fault | undefined {
  const [only, ...others] = policy.accountIds ?? [];
  const account = others.length === 0 ? accounts.find(({ id }) => id === only) : undefined;
  const destinations = transferCondition(policy)?.destinationAddresses ?? [];
  const itself = account ? destinations.findIndex((one) => isSameAddress(one, account.address)) : -1;
  if (itself < 0) return undefined;
  return {
    message: 'must not be the only account of the policy',
    field: `tokenTransferCondition.destinationAddresses[${itself}]`,
  };
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

function linesOf(policy: PolicyDefinition, { state, networks }: SummaryContext): string[] {
  return policyLines(policy, {
    network: present(networks.find(({ id }) => id === policy.networkId)),
    account: (id) => present(findResource(state, 'account', id)),
    member: (id) => present(findResource(state, 'member', id)).name,
    group: (id) => present(findResource(state, 'group', id)).name,
  });
}

/** An unambiguous description of a policy: `"Payroll" (pol_…)`. */
export function describePolicy({ id, name }: Pick<Policy, 'id' | 'name'>): string {
  return `${quotedName(name)} (${id})`;
}

/** Plans one policy. Refuses with validationError; its field is the item's own. */
function planPolicy(
  context: PlanContext,
  item: PolicyItem,
  definition: PolicyDefinition,
  accounts: readonly PolicyAccount[],
): Outcome<ProposedPolicy> {
  const before = item.id === undefined ? undefined : findResource(context.state, 'policy', item.id);
  if (item.id !== undefined && !before) {
    return refuse('validationError', `policy ${item.id} not found in this organization`, '.id');
  }
  const fault = requestFault(definition, context, accounts);
  if (fault) return refuse('validationError', fault.message, `.${fieldIn(item, fault)}`);
  const view = policyView(definition, accounts);
  if (!before) return accept({ id: newId('pol'), ...view });
  const { id, revision } = before;
  if (canonicalJson(definition) === canonicalJson(before.definition)) {
    return refuse('validationError', `nothing about policy ${id} would change`, '');
  }
  return accept({ id, revision, ...view });
}

/** Plans new policies and changes of existing ones. */
export async function planPolicies(
  context: PlanContext,
  { policies: items }: PoliciesBody,
  facts: PolicyFacts,
): Promise<Outcome<Plan<PoliciesData>>> {
  const { db, state } = context;
  const definitions = items.map((item, i) => definitionFrom(item, facts[i] ?? null));
  const accounts = await findAccounts(db, state.id, idsIn(definitions).accountIds);
  const planned: ProposedPolicy[] = [];
  for (const [i, item] of items.entries()) {
    const policy = planPolicy(context, item, present(definitions[i]), accounts);
    if (!policy.ok) {
      const { code, message, field } = policy.refusal;
      return refuse(code, message, `policies[${i}]${field}`);
    }
    planned.push(policy.value);
  }
  const claims = items.flatMap(({ id }) => (id === undefined ? [] : `policy:${id}`));
  return accept({
    data: { policies: planned },
    claims,
    names: [...claims, ...subjectsOf(definitions)],
  });
}

/** A decided policy by its id and name. */
export function named({ id, definition: { name } }: PolicyState): Pick<Policy, 'id' | 'name'> {
  return { id, name };
}

/** The policy that a proposal shows. */
function definitionIn({ id: _, revision: __, ...view }: ProposedPolicy): PolicyDefinition {
  return policyOfView(view as PolicyView);
}

/** How a proposal shows a policy otherwise than it is, with its accounts as they are; undefined when it does not. */
export function shownOtherwise(
  { id, revision, ...shown }: ProposedPolicy,
  definition: PolicyDefinition,
  state: OrganizationState,
): string | undefined {
  const accounts = (definition.accountIds ?? []).flatMap((id) => findResource(state, 'account', id) ?? []);
  const other = shown.accounts.find((signed) => {
    const account = accounts.find(({ id }) => id === signed.id);
    return account?.name !== signed.name || account.address !== signed.address;
  });
  if (other) return `account ${other.id} is not ${quoted(other.name)} (${other.address})`;
  const isWhole = accounts.length === (definition.accountIds ?? []).length;
  if (isWhole && canonicalJson(policyView(definition, accounts)) === canonicalJson(shown)) return undefined;
  return 'it is shown otherwise than it is';
}

/** Whether a function is the one that an entry of `allowedFunctions` names. */
function isNamedBy(entry: string, shown: NamedFunction | undefined): boolean {
  const parsed = parseFunction(entry);
  if (!parsed.ok || shown === undefined) return false;
  if (canonicalJson(parsed.function) === canonicalJson(shown)) return true;
  // A selector that became known after the policy was signed has no name in it.
  const { name: _, ...unnamed } = parsed.function;
  return entry.startsWith('0x') && canonicalJson(unnamed) === canonicalJson(shown);
}

/** The contract of a policy whose `functions` are not those that its `allowedFunctions` name. */
function misnamedFunctions(definition: PolicyDefinition): string | undefined {
  return contractRules(definition)?.find(
    ({ allowedFunctions, functions }) =>
      functions.length !== allowedFunctions.length ||
      !allowedFunctions.every((entry, i) => isNamedBy(entry, functions[i])),
  )?.contractAddress;
}

/** Why a policy would differ from what was signed. */
function differs(
  proposed: ProposedPolicy,
  definition: PolicyDefinition,
  state: OrganizationState,
): string | undefined {
  const fault = faultOf(definition, state);
  if (fault) return fault.message;
  const misnamed = misnamedFunctions(definition);
  if (misnamed !== undefined) return `the functions of ${misnamed} are not those that it allows`;
  return shownOtherwise(proposed, definition, state);
}

/** New policies, and the new content of existing ones. */
export function changePolicies(
  state: OrganizationState,
  { policies }: PoliciesData,
): Outcome<readonly Edit[]> {
  const created = policies.filter(({ revision }) => revision === undefined).map(({ id }) => id);
  const taken = expectNew(state, 'policy', created);
  if (taken) return taken;
  const edits: Edit[] = [];
  for (const proposed of policies) {
    const { id, name, revision } = proposed;
    const definition = definitionIn(proposed);
    if (revision !== undefined) {
      const before = expectRevision(
        state,
        'policy',
        { id, revision },
        `policy ${describePolicy({ id, name })}`,
      );
      if (!before.ok) return before;
    }
    const difference = differs(proposed, definition, state);
    if (difference !== undefined) {
      return refuse('conflict', `policy ${quoted(name)} can no longer be as it was signed: ${difference}`);
    }
    edits.push({ type: 'policy', id, after: { id, definition } });
  }
  return accept(edits);
}

const dangerText = ({ unlimited, automatic }: PolicyDanger): string =>
  `${unlimited ? ', WITHOUT LIMIT' : ''}${automatic ? ', approved automatically' : ''}`;

/** A policy of a proposal in lines, the first of them with what is dangerous about it. */
function describeProposed(context: SummaryContext, proposed: ProposedPolicy) {
  const definition = definitionIn(proposed);
  const danger = policyDanger(definition);
  const before = findResource(context.state, 'policy', proposed.id);
  const renamed =
    before && before.definition.name !== proposed.name ? `, named ${quotedName(proposed.name)}` : '';
  const what = before
    ? `Change policy ${describePolicy(named(before))}`
    : `Create policy ${quotedNewName(proposed)}`;
  const first = `${what}${dangerText(danger)}${renamed}`;
  return { danger, lines: [first, ...linesOf(definition, context)] };
}

/**
 * New policies, and what existing ones become. The first line of several counts what is dangerous about them, and the
 * dangerous ones come first.
 */
export function summaryOfPolicies(context: SummaryContext, { policies }: PoliciesData): string {
  const described = policies.map((proposed) => describeProposed(context, proposed));
  const [only, ...others] = described;
  if (only && others.length === 0) return summaryText(only.lines, [], 'data');
  const rank = ({ unlimited, automatic }: PolicyDanger) => (unlimited ? 2 : 0) + (automatic ? 1 : 0);
  const ordered = described.toSorted((one, two) => rank(two.danger) - rank(one.danger));
  const count = (is: (danger: PolicyDanger) => boolean, words: string) => {
    const found = described.filter(({ danger }) => is(danger)).length;
    return found === 0 ? [] : [`${found} ${words}`];
  };
  const first = [
    `${policies.length} policies`,
    ...count(
      ({ unlimited, automatic }) => unlimited && automatic,
      'WITHOUT LIMIT and approved automatically',
    ),
    ...count(({ unlimited, automatic }) => unlimited && !automatic, 'WITHOUT LIMIT'),
    ...count(({ unlimited, automatic }) => !unlimited && automatic, 'approved automatically'),
  ].join(', ');
  return summaryText(
    [first],
    ordered.map(({ lines }) => lines),
    'data',
  );
}

/** The networks of proposed policies. */
export function policyNetworks({ policies }: PoliciesData): readonly number[] {
  return policies.map(({ networkId }) => networkId);
}

/** The tokens of proposed policies. */
export function policyTokens({ policies }: PoliciesData): readonly ShownToken[] {
  return policies.flatMap((proposed) => {
    const { networkId } = proposed;
    const condition = transferCondition(definitionIn(proposed));
    if (!condition?.tokenAddress) return [];
    const { symbol, name, decimals } = tokenIn(condition);
    return { networkId, tokenAddress: condition.tokenAddress, symbol, name, decimals };
  });
}
