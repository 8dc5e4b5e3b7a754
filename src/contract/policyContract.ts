import { z } from 'zod';
import { checksumAddress } from '../chain/address';
import { MAX_SIGNATURE_LENGTH, parseFunction } from '../chain/functions';
import type { EveryField } from '../domain/everyField';
import {
  type ApproverSetting,
  type ContractRule,
  groupApproverSchema,
  groupInitiatorSchema,
  type InitiatorSetting,
  limitationSchema,
  limitationScopeSchema,
  NATIVE_CURRENCY,
  type PolicyBase,
  type PolicyDefinition,
  policyTransactionTypeSchema,
  policyTypeSchema,
  type TokenTransferCondition,
  userApproverSchema,
  userInitiatorSchema,
} from '../domain/policy';
import { amount, idOf, memberSummary, networkId, timestamp } from '../domain/schemas';
import {
  ANY_ACCOUNT,
  ANY_FUNCTION,
  ANY_INITIATOR,
  ANY_TOKEN_TEXT,
  amountThreshold,
  extendsBase,
  LIMITATION,
  MAX_VALUE,
  policyBase,
  shownAccounts,
  shownAny,
  shownContractInteraction,
  shownFunctions,
  shownToken,
  shownTokenTransfer,
  transferShape,
} from '../domain/shownPolicy';
import { conditionFailure } from './conditions';
import { endpoint } from './endpoint';
import {
  addressInput,
  dataResponse,
  descriptionInput,
  itemsOf,
  listOf,
  listQuery,
  MAX_ITEMS,
  nameInput,
  noDuplicates,
  nonzeroAddressInput,
  responseOnly,
  uniqueList,
} from './primitives';
import { EXAMPLE_TRANSACTION, recipientCode, transactionFields } from './transactionContract';

const policyType = policyTypeSchema.register(z.globalRegistry, {
  id: 'PolicyType',
  description: 'Whether a transaction needs approval after the initiator has signed it.',
});
const transactionType = policyTransactionTypeSchema.register(z.globalRegistry, {
  id: 'PolicyTransactionType',
  description: 'The transactions that a policy covers.',
});
limitationScopeSchema.register(z.globalRegistry, {
  id: 'LimitationScope',
  description: '`PER_ITEM`: a separate limit for each; `ALL_ITEMS`: one limit shared by all.',
});

type Context<T> = z.core.ParsePayload<T>;

/** Adds an issue about a field that is valid on its own. */
function addIssue(context: Context<unknown>, message: string, ...path: PropertyKey[]): void {
  context.issues.push({ code: 'custom', message, input: context.value, path });
}

const anyAddressInput = addressInput.transform(checksumAddress);
const destinationInput = nonzeroAddressInput.transform(checksumAddress);

/** A list in which null means no entry. */
function anyOrListed<T extends z.ZodType>(list: z.ZodArray<T>, meaning: string) {
  return list
    .nullable()
    .meta({ description: `Up to ${MAX_ITEMS}; null or empty: ${meaning}.` })
    .transform((entries): z.output<T>[] => entries ?? []);
}

limitationSchema.shape.hours.register(z.globalRegistry, { description: 'Length of the window in hours.' });
const limitationInput = limitationSchema.meta({ id: 'LimitationInput', description: LIMITATION });

const notForGroups = z.null('is not for type group').optional();
const notForUsers = z.null('is not for type user').optional();
const userFields = {
  ...userInitiatorSchema.shape,
  memberId: idOf('mem')
    .nullable()
    .optional()
    .meta({ description: 'The member; `userId` may be used instead.' }),
  userId: idOf('mem').nullable().optional().meta({ description: 'The same as `memberId`.' }),
  groupId: notForUsers,
};
const groupFields = {
  ...groupInitiatorSchema.shape,
  groupId: idOf('grp'),
  memberId: notForGroups,
  userId: notForGroups,
};

interface NamedMember {
  memberId?: string | null | undefined;
  userId?: string | null | undefined;
}

function checkUser(context: Context<NamedMember>): void {
  const { memberId, userId } = context.value;
  if (!memberId && !userId) addIssue(context, 'is required where type is user', 'memberId');
  if (memberId && userId && memberId !== userId) addIssue(context, 'differs from memberId', 'userId');
}

/** Which of the two names of one field was used. */
type MemberField = 'memberId' | 'userId';

/** A setting from a request. */
type Given<Setting> = Setting extends { readonly type: 'user' }
  ? EveryField<Setting> & { readonly field: MemberField }
  : EveryField<Setting>;

function readUser({ memberId, userId }: NamedMember) {
  const field: MemberField = memberId ? 'memberId' : 'userId';
  return { type: 'user' as const, memberId: memberId ?? userId ?? '', field };
}

const initiatorInput = z
  .discriminatedUnion('type', [
    z
      .strictObject(userFields)
      .check(checkUser)
      .meta({ id: 'UserInitiatorInput', description: 'One member may initiate.' }),
    z
      .strictObject(groupFields)
      .meta({ id: 'GroupInitiatorInput', description: 'Every member of a group may initiate.' }),
  ])
  .meta({ id: 'InitiatorSettingInput', description: 'Who may initiate.' })
  .transform(
    (setting): Given<InitiatorSetting> =>
      setting.type === 'user' ? readUser(setting) : { type: 'group', groupId: setting.groupId },
  );

const excludeInitiator = userApproverSchema.shape.excludeInitiator
  .register(z.globalRegistry, { description: 'The initiator of a transaction cannot approve it.' })
  .default(false);
const threshold = groupApproverSchema.shape.threshold
  .register(z.globalRegistry, { description: 'Number of approvals needed.' })
  .default(1);

const approverInput = z
  .discriminatedUnion('type', [
    z
      .strictObject({ ...userFields, threshold: notForUsers, excludeInitiator })
      .check(checkUser)
      .meta({ id: 'UserApproverInput', description: 'One member must approve.' }),
    z
      .strictObject({
        ...groupFields,
        threshold,
        excludeInitiator,
      })
      .meta({ id: 'GroupApproverInput', description: 'Members of a group must approve.' }),
  ])
  .meta({ id: 'ApproverSettingInput', description: 'Who must approve.' })
  .transform(
    (setting): Given<ApproverSetting> =>
      setting.type === 'user'
        ? { ...readUser(setting), excludeInitiator: setting.excludeInitiator }
        : {
            type: setting.type,
            groupId: setting.groupId,
            threshold: setting.threshold,
            excludeInitiator: setting.excludeInitiator,
          },
  );

const tokenTransferInput = z
  .strictObject({
    tokenAddress: anyAddressInput.nullable().meta({ description: ANY_TOKEN_TEXT }),
    tokenDecimals: transferShape.tokenDecimals.nullable().optional().meta({
      description: 'Compared with the decimals of the token.',
    }),
    amountThreshold,
    destinationAddresses: anyOrListed(
      uniqueList(destinationInput, (destination) => destination),
      'any address',
    ),
    ...responseOnly(shownToken),
  })
  .check((context) => {
    const { tokenAddress, tokenDecimals, amountThreshold, destinationAddresses } = context.value;
    const isToken = tokenAddress !== null && tokenAddress !== NATIVE_CURRENCY;
    const itself = isToken ? destinationAddresses.indexOf(tokenAddress) : -1;
    if (itself >= 0) addIssue(context, 'must not be the token itself', 'destinationAddresses', itself);
    if (tokenAddress !== null) return;
    if (tokenDecimals) addIssue(context, 'must be 0 or absent for any token', 'tokenDecimals');
    if (amountThreshold !== null) addIssue(context, 'must be null for any token', 'amountThreshold');
  })
  .meta({ id: 'TokenTransferConditionInput' })
  .transform(({ tokenAddress, tokenDecimals, amountThreshold, destinationAddresses }) => ({
    tokenAddress,
    tokenDecimals: tokenDecimals ?? null,
    amountThreshold,
    destinationAddresses,
  }));

const functionInput = z
  .string()
  .meta({
    id: 'FunctionInput',
    description: 'A full signature in canonical form, or a 4-byte selector.',
    maxLength: MAX_SIGNATURE_LENGTH,
    pattern: '^(0x[0-9a-fA-F]{8}|[a-zA-Z_$][a-zA-Z0-9_$]*\\(.*\\))$',
    examples: ['mint(address,uint256)', '0x40c10f19'],
  })
  .transform((entry, context) => {
    const parsed = parseFunction(entry);
    if (parsed.ok) return { entry, ...parsed.function };
    context.issues.push({ code: 'custom', message: parsed.reason, input: entry });
    return z.NEVER;
  });

const contractInput = z
  .strictObject({
    contractAddress: destinationInput,
    allowedFunctions: anyOrListed(
      uniqueList(functionInput, ({ selector }) => selector),
      ANY_FUNCTION,
    ),
    maxValue: amount.default('0').meta({ description: MAX_VALUE }),
    ...responseOnly({ functions: shownFunctions }),
  })
  .meta({ id: 'ContractRuleInput', description: 'A contract that may be called.' })
  .transform(
    ({ contractAddress, allowedFunctions, maxValue }): EveryField<ContractRule> => ({
      contractAddress,
      allowedFunctions: allowedFunctions.map(({ entry }) => entry),
      functions: allowedFunctions.map(({ entry: _, ...named }) => named),
      maxValue,
    }),
  );

const policyFields = {
  name: nameInput,
  type: policyType,
  transactionType,
  networkId,
  description: descriptionInput.nullable().optional(),
  accountIds: uniqueList(idOf('acc'), (id) => id)
    .min(1)
    .nullable()
    .meta({ description: `1 to ${MAX_ITEMS}; ${ANY_ACCOUNT}` }),
  limitation: limitationInput.nullable().optional(),
  initiatorSetting: initiatorInput.nullable().meta({ description: ANY_INITIATOR }),
  approverSetting: approverInput
    .nullable()
    .optional()
    .meta({ description: 'Required for MANUAL_APPROVAL; absent for AUTO_APPROVAL.' }),
  tokenTransferCondition: tokenTransferInput
    .nullable()
    .optional()
    .meta({ description: 'Required for TOKEN_TRANSFER; absent otherwise.' }),
  contractInteractionCondition: z
    .array(contractInput)
    .max(MAX_ITEMS)
    .check(noDuplicates(({ contractAddress }) => contractAddress, ['contractAddress']))
    .meta({ uniqueItems: true })
    .nullable()
    .optional()
    .meta({
      description:
        'Required for CONTRACT_INTERACTION: 1 to 100, or null for any contract. Absent or empty otherwise.',
    }),
  ...responseOnly({ accounts: shownAccounts, createdAt: timestamp, updatedAt: timestamp }),
};

/** The fields of every policy in a request. */
export const policyInput = z.object(policyFields).meta({
  id: 'PolicyInput',
  description: 'The fields of every policy in a request. A policy from a response is accepted.',
});
const policyObject = z.strictObject(policyFields);

type PolicyFields = z.output<typeof policyObject>;

function checkApprover(context: Context<PolicyFields>): void {
  const { type, approverSetting } = context.value;
  if (type === 'MANUAL_APPROVAL' && !approverSetting) {
    addIssue(context, 'is required for MANUAL_APPROVAL', 'approverSetting');
  }
  if (type === 'AUTO_APPROVAL' && approverSetting) {
    addIssue(context, 'is not for AUTO_APPROVAL', 'approverSetting');
  }
}

function checkTokenTransferCondition(context: Context<PolicyFields>): void {
  const { transactionType, tokenTransferCondition: condition } = context.value;
  if (transactionType === 'TOKEN_TRANSFER' && !condition) {
    addIssue(context, 'is required for TOKEN_TRANSFER', 'tokenTransferCondition');
  }
  if (transactionType !== 'TOKEN_TRANSFER' && condition) {
    addIssue(context, `is not for ${transactionType}`, 'tokenTransferCondition');
  }
}

function checkContractInteractionCondition(context: Context<PolicyFields>): void {
  const { transactionType, contractInteractionCondition: condition } = context.value;
  const field = 'contractInteractionCondition';
  if (transactionType !== 'CONTRACT_INTERACTION') {
    if (condition && condition.length > 0) addIssue(context, `is not for ${transactionType}`, field);
  } else if (condition === undefined) {
    addIssue(context, 'is required for CONTRACT_INTERACTION; null means any contract', field);
  } else if (condition?.length === 0) {
    addIssue(context, 'must have at least 1 item; null means any contract', field);
  }
}

/** Checks the fields of a policy against each other: an ambiguous policy is refused. */
function checkPolicy(context: Context<PolicyFields>): void {
  checkApprover(context);
  checkTokenTransferCondition(context);
  checkContractInteractionCondition(context);
}

type NullWhereAbsent<T> = {
  readonly [Field in keyof T]-?: T[Field] | (undefined extends EveryField<T>[Field] ? null : never);
};

/** A policy from a request: complete except for the symbol, name and decimals of its token. What is absent is null. */
export interface PolicyItem
  extends NullWhereAbsent<Omit<PolicyBase, 'initiatorSetting' | 'approverSetting'>> {
  readonly id?: string;
  readonly transactionType: PolicyDefinition['transactionType'];
  readonly initiatorSetting: Given<InitiatorSetting> | null;
  readonly approverSetting: Given<ApproverSetting> | null;
  readonly tokenTransferCondition:
    | (Pick<TokenTransferCondition, 'tokenAddress' | 'amountThreshold' | 'destinationAddresses'> & {
        /** As given, to be compared with the decimals of the token. */
        readonly tokenDecimals: number | null;
      })
    | null;
  readonly contractInteractionCondition: readonly ContractRule[] | null;
}

function readPolicy(fields: z.output<typeof policyObject> & { id?: string | undefined }): PolicyItem {
  return {
    ...(fields.id === undefined ? {} : { id: fields.id }),
    name: fields.name,
    type: fields.type,
    transactionType: fields.transactionType,
    networkId: fields.networkId,
    // An empty description counts as absent.
    description: fields.description || null,
    accountIds: fields.accountIds,
    limitation: fields.limitation ?? null,
    initiatorSetting: fields.initiatorSetting,
    approverSetting: fields.approverSetting ?? null,
    tokenTransferCondition: fields.tokenTransferCondition ?? null,
    contractInteractionCondition: fields.contractInteractionCondition?.length
      ? fields.contractInteractionCondition
      : null,
  };
}

const newPolicy = policyObject
  .check(checkPolicy)
  .meta({ id: 'AddedPolicy', description: 'A new policy.', extends: 'PolicyInput' })
  .transform(readPolicy);
const changedPolicy = z
  .strictObject({ id: idOf('pol'), ...policyFields })
  .check(checkPolicy)
  .meta({ id: 'ChangedPolicy', description: 'Replaces a policy.', extends: 'PolicyInput' })
  .transform(readPolicy);
const newOrChangedPolicy = z
  .strictObject({
    id: idOf('pol').optional().meta({ description: 'The policy to replace; absent: a new policy.' }),
    ...policyFields,
  })
  .check(checkPolicy)
  .meta({ id: 'AddedOrChangedPolicy', description: 'A new policy, or replaces one.', extends: 'PolicyInput' })
  .transform(readPolicy);

/** The most destinations, contracts and functions in one request. */
const MAX_POLICY_ENTRIES = 500;

function lengthOf(list: unknown): number {
  return Array.isArray(list) ? list.length : 0;
}

/** The destinations, contracts and functions of a policy that was not checked yet. */
function entriesIn(policy: unknown): number {
  const { tokenTransferCondition: transfer, contractInteractionCondition: rules } = (policy ?? {}) as {
    tokenTransferCondition?: { destinationAddresses?: unknown } | null;
    contractInteractionCondition?: unknown;
  };
  const ofRules = Array.isArray(rules) ? rules : [];
  return ofRules.reduce<number>(
    (sum, rule) => sum + lengthOf(rule?.allowedFunctions),
    lengthOf(transfer?.destinationAddresses) + ofRules.length,
  );
}

/** Counts them before they are read: each is hashed, which takes 20 µs. */
function checkEntries(policies: unknown, context: z.core.$RefinementCtx): unknown {
  const entries = Array.isArray(policies)
    ? policies.reduce<number>((sum, policy) => sum + entriesIn(policy), 0)
    : 0;
  if (entries <= MAX_POLICY_ENTRIES) return policies;
  context.addIssue(
    `must have at most ${MAX_POLICY_ENTRIES} destinations, contracts and functions together (has ${entries})`,
  );
  return z.NEVER;
}

function policiesBody<Item extends z.ZodType<PolicyItem>>(item: Item) {
  return z.strictObject({
    policies: z.preprocess(
      checkEntries,
      itemsOf(item)
        .check(
          noDuplicates(({ id }) => id, ['id']),
          noDuplicates((policy) => (policy.id === undefined ? JSON.stringify(policy) : undefined)),
        )
        .meta({
          description: `At most ${MAX_POLICY_ENTRIES} destinations, contracts and functions together.`,
        }),
    ),
  });
}

/** Transfers of up to 100 of a token with 18 decimals, each and together within a day. */
export const EXAMPLE_POLICY = {
  name: 'Payroll',
  type: 'MANUAL_APPROVAL',
  transactionType: 'TOKEN_TRANSFER',
  networkId: 31337,
  accountIds: ['acc_01jz8k3v5fe5ht0n2m6w9r4xyz'],
  limitation: {
    hours: 24,
    initiatorScope: 'ALL_ITEMS',
    sourceAccountScope: 'PER_ITEM',
    destinationScope: 'ALL_ITEMS',
  },
  initiatorSetting: { type: 'user', memberId: 'mem_01jz8k3v5fe5ht0n2m6w9r4xyz' },
  approverSetting: { type: 'group', groupId: 'grp_01jz8k3v5fe5ht0n2m6w9r4xyz', threshold: 2 },
  tokenTransferCondition: {
    tokenAddress: '0x468f18d57bC8bAE33874e6429638edf9F6F77c41',
    tokenDecimals: 18,
    amountThreshold: '100000000000000000000',
    destinationAddresses: [],
  },
};

/** New policies, changed ones, or both. */
export const policiesBodies = {
  mixed: policiesBody(newOrChangedPolicy),
  add: policiesBody(newPolicy),
  update: policiesBody(changedPolicy),
  remove: z.strictObject({ policyIds: itemsOf(idOf('pol')).check(noDuplicates((id) => id)) }),
};

const stored = { id: idOf('pol'), createdAt: timestamp, updatedAt: timestamp };

/** A policy in a response: one of three variants. */
const policy = z
  .discriminatedUnion('transactionType', [
    policyBase
      .extend({ ...stored, ...shownTokenTransfer })
      .meta({ id: 'TokenTransferPolicy', description: 'Covers token transfers.', ...extendsBase }),
    policyBase
      .extend({ ...stored, ...shownContractInteraction })
      .meta({ id: 'ContractInteractionPolicy', description: 'Covers contract calls.', ...extendsBase }),
    policyBase
      .extend({ ...stored, ...shownAny })
      .meta({ id: 'AnyTransactionPolicy', description: 'Covers all transactions.', ...extendsBase }),
  ])
  .meta({
    id: 'Policy',
    description: 'A rule that permits transactions. Discriminated by `transactionType`.',
  });

/** A policy in a response. */
export type ShownPolicy = z.output<typeof policy>;

export const listPoliciesEndpoint = endpoint({
  id: 'listPolicies',
  tag: 'Policies',
  method: 'get',
  path: '/policies',
  access: 'read',
  summary: 'List policies',
  description: 'Returns all policies, newest first. With `limit` or `cursor` it returns a page.',
  params: {},
  query: z.strictObject(listQuery),
  response: listOf(policy),
  status: 200,
  errors: [],
});

export const getPolicyEndpoint = endpoint({
  id: 'getPolicy',
  tag: 'Policies',
  method: 'get',
  path: '/policies/{policyId}',
  access: 'read',
  summary: 'Get a policy',
  params: { policyId: 'pol' },
  query: z.strictObject({}),
  response: dataResponse(policy),
  status: 200,
  errors: ['notFound'],
});

const until = timestamp.meta({
  description:
    'When the oldest execution that counts leaves the window; a whole window from now if none counts.',
});
const remaining = z
  .union([
    z
      .object({ amount: amount.meta({ description: 'In the smallest unit of the token.' }), until })
      .meta({ id: 'RemainingAmount', description: 'For a policy with an amount.' }),
    z
      .object({ count: z.int().min(0).meta({ description: 'Number of executions.' }), until })
      .meta({ id: 'RemainingCount', description: 'For a policy without an amount.' }),
  ])
  .meta({ id: 'Remaining', description: 'The budget that a limitation leaves.' });

const evaluation = z
  .object({
    policy: z.object({ id: idOf('pol'), name: z.string() }).meta({ id: 'EvaluatedPolicy' }),
    allowed: z.boolean().meta({ description: 'True if the policy permits the transaction.' }),
    failures: z.array(conditionFailure).meta({ description: 'Every condition that is not met.' }),
    approvers: z.array(memberSummary).meta({ description: 'Members who may approve it now.' }),
    threshold: z.int().min(0).meta({ description: 'Number of approvals needed; 0: none.' }),
    remaining: remaining.nullable().meta({
      description: 'The budget now for this initiator, account and destination; null: no limitation.',
    }),
    recipientCode: recipientCode.optional(),
  })
  .meta({ id: 'Evaluation', description: 'The result of evaluating one policy.' });

/** The result of evaluating one policy. */
export type ShownEvaluation = z.output<typeof evaluation>;

const evaluationBody = z.strictObject(transactionFields);

/** A transaction to evaluate, from a request. */
export type TransactionToEvaluate = z.output<typeof evaluationBody>;

export const evaluatePoliciesEndpoint = endpoint({
  id: 'evaluatePolicies',
  tag: 'Policies',
  method: 'post',
  path: '/policies/evaluate',
  access: 'read',
  summary: 'Evaluate policies for a transaction',
  description:
    'Evaluates every policy of the organization, newest first: whether it permits the transaction, the conditions ' +
    'that are not met, who may approve it, and the remaining budget. A dry run: nothing is stored, not even the ' +
    'idempotency key.',
  params: {},
  query: z.strictObject({}),
  body: evaluationBody,
  response: dataResponse(z.array(evaluation)).meta({ id: 'EvaluationsResponse' }),
  status: 200,
  dryRun: true,
  errors: ['conflict'],
  exampleBody: EXAMPLE_TRANSACTION,
});
