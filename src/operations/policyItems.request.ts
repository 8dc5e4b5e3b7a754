import type { PolicyItem } from '../contract/policyContract';
import { findAccounts } from '../db/accounts';
import { newId } from '../db/ids';
import { isSameAddress } from '../domain/address';
import { canonicalJson } from '../domain/canonicalJson';
import { type EveryField, withoutAbsent } from '../domain/everyField';
import { findResource } from '../domain/governance';
import { networkNotConfigured } from '../domain/network';
import {
  NATIVE_CURRENCY,
  type PolicyAccount,
  type PolicyBase,
  type PolicyCover,
  type PolicyDefinition,
  policyDefinitionSchema,
  policyPeople,
  policyView,
  type TokenTransferCondition,
  transferCondition,
} from '../domain/policy';
import { accept, type Result, refuse } from '../domain/refusal';
import type { ExternalReads, Plan, PlanContext, Token } from './kind';
import { type Fault, faultOf, type PoliciesData, type ProposedPolicy, present } from './policies';

/** The body of a request that creates or changes policies. */
interface PoliciesBody {
  readonly policies: readonly PolicyItem[];
}

/** What the tokens of a request report about themselves, in the order of its policies; null where none is named. */
type PolicyFacts = readonly (Token | null)[];

/** The token fields of a policy that covers any token. */
export const ANY_TOKEN: Token = { symbol: '', name: null, decimals: 0, logoUrl: null };

type TokenReader = Pick<ExternalReads, 'networks' | 'readToken'>;

async function observeToken(
  { networks, readToken }: TokenReader,
  item: PolicyItem,
): Promise<Result<Token | null>> {
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
): Promise<Result<PolicyFacts>> {
  const reading = new Map<string, ReturnType<ExternalReads['readToken']>>();
  const readOnce: ExternalReads['readToken'] = (networkId, tokenAddress) => {
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

type WithoutField<Setting> = Setting extends unknown ? Omit<Setting, 'field'> : never;

/** A setting without the name of its request field. */
function settingOf<Setting extends object>(setting: Setting): WithoutField<Setting> {
  const { field: _, ...others } = setting as Setting & { field?: string };
  return others as WithoutField<Setting>;
}

/** What an item covers, with what its token reports about itself. */
function coverFrom(item: PolicyItem, token: Token | null): PolicyCover {
  const { transactionType, tokenTransferCondition: transfer, contractInteractionCondition } = item;
  if (transactionType === 'CONTRACT_INTERACTION') return { transactionType, contractInteractionCondition };
  if (transactionType === 'ANY') return { transactionType };
  const { tokenAddress, amountThreshold, destinationAddresses } = present(transfer ?? undefined);
  const { symbol, name, logoUrl, decimals } = present(token ?? undefined);
  const condition: EveryField<TokenTransferCondition> = {
    tokenAddress,
    tokenSymbol: symbol,
    tokenName: name ?? '',
    tokenLogoUrl: logoUrl ?? undefined,
    tokenDecimals: decimals,
    amountThreshold,
    destinationAddresses,
  };
  return { transactionType, tokenTransferCondition: withoutAbsent(condition) };
}

/** The policy that an item asks for, with what its token reports about itself. */
export function definitionFrom(item: PolicyItem, token: Token | null): PolicyDefinition {
  const { name, type, networkId, description, accountIds, limitation } = item;
  const { initiatorSetting, approverSetting } = item;
  const base: EveryField<PolicyBase> = {
    name,
    type,
    networkId,
    description: description ?? undefined,
    accountIds,
    limitation: limitation ?? undefined,
    initiatorSetting: initiatorSetting && settingOf(initiatorSetting),
    approverSetting: approverSetting ? settingOf(approverSetting) : undefined,
  };
  return policyDefinitionSchema.parse({ ...withoutAbsent(base), ...coverFrom(item, token) });
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

/** Plans one policy. Refuses with validationError; its field is the item's own. */
function planPolicy(
  context: PlanContext,
  item: PolicyItem,
  definition: PolicyDefinition,
  accounts: readonly PolicyAccount[],
): Result<ProposedPolicy> {
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
): Promise<Result<Plan<PoliciesData>>> {
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
    mentions: [...claims, ...subjectsOf(definitions)],
  });
}
