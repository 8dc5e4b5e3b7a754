import { z } from 'zod';
import { type NamedFunction, parseFunction } from '../chain/functions';
import { canonicalJson } from '../domain/canonicalJson';
import {
  type Edit,
  expectNew,
  expectRevision,
  findResource,
  type OrganizationState,
  type PolicyState,
} from '../domain/governance';
import {
  type ApproverSetting,
  contractRules,
  type InitiatorSetting,
  type Policy,
  type PolicyDefinition,
  type PolicyView,
  policyOfView,
  policyView,
  tokenIn,
  transferCondition,
} from '../domain/policy';
import { type PolicyDanger, policyDanger, policyLines } from '../domain/policyText';
import { quoted } from '../domain/quoted';
import { accept, type Result, refuse } from '../domain/refusal';
import { proposedPolicy } from '../domain/shownPolicy';
import { quotedName, quotedNewName, summaryText } from '../domain/summary';
import type { ShownToken, SummaryContext } from './rule';

/** The policies of a proposal: after the change, or before their removal. */
export interface PoliciesData {
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

/** Why a policy is impossible in the organization now, and its field. */
export interface Fault {
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
export function faultOf(policy: PolicyDefinition, state: OrganizationState): Fault | undefined {
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

/** What a policy that was checked names. Throws where it is missing: the policy was not checked. */
export function present<T>(thing: T | undefined): T {
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
): Result<readonly Edit[]> {
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
