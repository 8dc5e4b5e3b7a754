import { z } from 'zod';
import { checksumAddress, isZeroAddress } from '../chain/address';
import { MAX_SIGNATURE_LENGTH, parseFunction } from '../chain/functions';
import type { PolicyDefinition, TokenTransferCondition } from '../domain/policy';
import { conditionFailure } from './conditions';
import { endpoint } from './endpoint';
import { memberSummary } from './members';
import {
  address,
  addressInput,
  amountInput,
  descriptionInput,
  envelope,
  idInput,
  itemsOf,
  listOf,
  MAX_ITEMS,
  nameInput,
  networkId,
  noDuplicates,
  pageQuery,
  responseOnly,
  timestamp,
} from './primitives';
import { EXAMPLE_TRANSACTION, transactionFields } from './transactions';

/** The longest window of a limitation: a year. */
const MAX_HOURS = 8_760;

const policyType = z.enum(['AUTO_APPROVAL', 'MANUAL_APPROVAL']);
const transactionType = z.enum(['TOKEN_TRANSFER', 'CONTRACT_INTERACTION', 'ANY']);
const scope = z.enum(['PER_ITEM', 'ALL_ITEMS']).meta({
  description: 'PER_ITEM: each one has a limit of its own; ALL_ITEMS: all of them share one.',
});

type Context<T> = z.core.ParsePayload<T>;

/** Adds what is wrong with a field that by itself may be right. */
function complain(context: Context<unknown>, message: string, ...path: PropertyKey[]): void {
  context.issues.push({ code: 'custom', message, input: context.value, path });
}

const anyAddressInput = addressInput(checksumAddress).transform(checksumAddress);
const addressOfSomebody = addressInput(checksumAddress)
  .refine((text) => !isZeroAddress(text), 'must not be the zero address')
  .transform(checksumAddress);

/** A list whose null means the same as no entry. */
function anyOrListed<T extends z.ZodType>(list: z.ZodArray<T>, meaning: string) {
  return list
    .nullable()
    .transform((entries): z.output<T>[] => entries ?? [])
    .meta({ description: `Up to ${MAX_ITEMS}; null or empty: ${meaning}.` });
}

const limitationInput = z
  .strictObject({
    hours: z.int().min(1).max(MAX_HOURS),
    initiatorScope: scope,
    sourceAccountScope: scope,
    destinationScope: scope,
  })
  .meta({
    description:
      'What may happen within any period of `hours`: an amount of `amountThreshold`, or one execution.',
  });

const settingFields = {
  type: z.enum(['user', 'group']),
  memberId: idInput('mem').nullable().optional().meta({ description: 'The member, where type is user.' }),
  userId: idInput('mem').nullable().optional().meta({ description: 'The same as memberId.' }),
  groupId: idInput('grp').nullable().optional().meta({ description: 'The group, where type is group.' }),
};
const initiatorFields = z.strictObject(settingFields);

function checkSetting(context: Context<z.output<typeof initiatorFields>>): void {
  const { type, memberId, userId, groupId } = context.value;
  if (type === 'group') {
    if (!groupId) complain(context, 'is required where type is group', 'groupId');
    if (memberId) complain(context, 'is not for type group', 'memberId');
    if (userId) complain(context, 'is not for type group', 'userId');
    return;
  }
  if (!memberId && !userId) complain(context, 'is required where type is user', 'memberId');
  if (memberId && userId && memberId !== userId) complain(context, 'differs from memberId', 'userId');
  if (groupId) complain(context, 'is not for type user', 'groupId');
}

/** Which of the two names of one field was used. */
type MemberField = 'memberId' | 'userId';

type SettingInput =
  | { type: 'user'; memberId: string; field: MemberField }
  | { type: 'group'; groupId: string };

function readSetting({ type, memberId, userId, groupId }: z.output<typeof initiatorFields>): SettingInput {
  return type === 'group'
    ? { type, groupId: groupId ?? '' }
    : { type, memberId: memberId ?? userId ?? '', field: memberId ? 'memberId' : 'userId' };
}

const initiatorInput = initiatorFields.check(checkSetting).transform(readSetting);

const approverInput = z
  .strictObject({
    ...settingFields,
    threshold: z
      .int()
      .min(1)
      .nullable()
      .optional()
      .meta({ description: 'How many members of the group must approve.' }),
    excludeInitiator: z
      .boolean()
      .default(false)
      .meta({ description: 'The initiator of a transaction cannot approve it.' }),
  })
  .check((context) => {
    checkSetting(context);
    const { type, threshold } = context.value;
    const given = threshold !== null && threshold !== undefined;
    if (type === 'group' && !given) complain(context, 'is required where type is group', 'threshold');
    if (type === 'user' && given) complain(context, 'is not for type user', 'threshold');
  })
  .transform(({ threshold, excludeInitiator, ...setting }) => {
    const read = readSetting(setting);
    return read.type === 'group'
      ? { ...read, threshold: threshold ?? 0, excludeInitiator }
      : { ...read, excludeInitiator };
  });

const tokenTransferInput = z
  .strictObject({
    tokenAddress: anyAddressInput
      .nullable()
      .meta({ description: 'null: any token; the zero address: the native coin.' }),
    tokenDecimals: z.int().min(0).max(255).nullable().optional(),
    amountThreshold: amountInput.nullable().meta({
      description: 'Inclusive maximum per transfer in the smallest unit; null: none.',
    }),
    destinationAddresses: anyOrListed(
      z
        .array(addressOfSomebody)
        .max(MAX_ITEMS)
        .check(noDuplicates((destination) => destination)),
      'any address',
    ),
    ...responseOnly('tokenSymbol', 'tokenName', 'tokenLogoUrl'),
  })
  .check((context) => {
    const { tokenAddress, tokenDecimals, amountThreshold } = context.value;
    if (tokenAddress !== null) return;
    if (tokenDecimals) complain(context, 'must be 0 or absent where any token is meant', 'tokenDecimals');
    if (amountThreshold !== null)
      complain(context, 'must be null where any token is meant', 'amountThreshold');
  })
  .transform(({ tokenAddress, tokenDecimals, amountThreshold, destinationAddresses }) => ({
    tokenAddress,
    tokenDecimals: tokenDecimals ?? null,
    amountThreshold,
    destinationAddresses,
  }));

const functionInput = z
  .string()
  .transform((entry, context) => {
    const parsed = parseFunction(entry);
    if (parsed.ok) return { entry, ...parsed.function };
    context.issues.push({ code: 'custom', message: parsed.reason, input: entry });
    return z.NEVER;
  })
  .meta({
    description: 'A full signature in canonical form, or a 4-byte selector.',
    maxLength: MAX_SIGNATURE_LENGTH,
    examples: ['mint(address,uint256)', '0x40c10f19'],
  });

const contractInput = z
  .strictObject({
    contractAddress: addressOfSomebody,
    allowedFunctions: anyOrListed(
      z
        .array(functionInput)
        .max(MAX_ITEMS)
        .check(noDuplicates(({ selector }) => selector)),
      'any function, except those that hand out tokens',
    ),
    maxValue: amountInput
      .default('0')
      .meta({ description: 'Native coin that one call may carry, in its smallest unit.' }),
    ...responseOnly('functions'),
  })
  .transform(({ contractAddress, allowedFunctions, maxValue }) => ({
    contractAddress,
    allowedFunctions: allowedFunctions.map(({ entry }) => entry),
    functions: allowedFunctions.map(({ name, selector }) => ({ name, selector })),
    maxValue,
  }));

const policyFields = {
  name: nameInput,
  type: policyType,
  transactionType,
  networkId,
  description: descriptionInput.nullable().optional(),
  accountIds: z
    .array(idInput('acc'))
    .min(1)
    .max(MAX_ITEMS)
    .check(noDuplicates((id) => id))
    .nullable()
    .meta({ description: `1 to ${MAX_ITEMS}; null: any account of the organization.` }),
  limitation: limitationInput.nullable().optional(),
  initiatorSetting: initiatorInput.nullable().meta({ description: 'null: any member.' }),
  approverSetting: approverInput
    .nullable()
    .optional()
    .meta({ description: 'Required by MANUAL_APPROVAL; AUTO_APPROVAL has none.' }),
  tokenTransferCondition: tokenTransferInput
    .nullable()
    .optional()
    .meta({ description: 'Required by TOKEN_TRANSFER; the others have none.' }),
  contractInteractionCondition: z
    .array(contractInput)
    .min(1)
    .max(MAX_ITEMS)
    .check(noDuplicates(({ contractAddress }) => contractAddress, ['contractAddress']))
    .nullable()
    .optional()
    .meta({
      description: `Required by CONTRACT_INTERACTION, where null means any contract; the others have none.`,
    }),
  ...responseOnly('accounts', 'createdAt', 'updatedAt'),
};
const policyObject = z.strictObject(policyFields);

/** What is wrong between the fields of a policy: nothing may make it wider than its author can have meant. */
function checkPolicy(context: Context<z.output<typeof policyObject>>): void {
  const { type, transactionType, approverSetting, tokenTransferCondition, contractInteractionCondition } =
    context.value;
  if (type === 'MANUAL_APPROVAL' && !approverSetting) {
    complain(context, 'is required by MANUAL_APPROVAL', 'approverSetting');
  }
  if (type === 'AUTO_APPROVAL' && approverSetting) {
    complain(context, 'is not for AUTO_APPROVAL', 'approverSetting');
  }
  if (transactionType === 'TOKEN_TRANSFER' && !tokenTransferCondition) {
    complain(context, 'is required by TOKEN_TRANSFER', 'tokenTransferCondition');
  }
  if (transactionType !== 'TOKEN_TRANSFER' && tokenTransferCondition) {
    complain(context, `is not for ${transactionType}`, 'tokenTransferCondition');
  }
  if (transactionType === 'CONTRACT_INTERACTION' && contractInteractionCondition === undefined) {
    complain(
      context,
      'is required by CONTRACT_INTERACTION; null means any contract',
      'contractInteractionCondition',
    );
  }
  if (transactionType !== 'CONTRACT_INTERACTION' && contractInteractionCondition) {
    complain(context, `is not for ${transactionType}`, 'contractInteractionCondition');
  }
}

/** A policy as it is asked for: whole, but for what its token says about itself. */
export type PolicyItem = Omit<
  PolicyDefinition,
  'initiatorSetting' | 'approverSetting' | 'tokenTransferCondition'
> & {
  readonly id?: string;
  readonly initiatorSetting: SettingInput | null;
  readonly approverSetting: z.output<typeof approverInput> | null;
  readonly tokenTransferCondition:
    | (Pick<TokenTransferCondition, 'tokenAddress' | 'amountThreshold' | 'destinationAddresses'> & {
        /** As given, to be compared with what the token says. */
        readonly tokenDecimals: number | null;
      })
    | null;
};

function readPolicy(fields: z.output<typeof policyObject> & { id?: string | undefined }): PolicyItem {
  return {
    ...(fields.id === undefined ? {} : { id: fields.id }),
    name: fields.name,
    type: fields.type,
    transactionType: fields.transactionType,
    networkId: fields.networkId,
    // Nothing written is no description.
    description: fields.description || null,
    accountIds: fields.accountIds,
    limitation: fields.limitation ?? null,
    initiatorSetting: fields.initiatorSetting,
    approverSetting: fields.approverSetting ?? null,
    tokenTransferCondition: fields.tokenTransferCondition ?? null,
    contractInteractionCondition: fields.contractInteractionCondition ?? null,
  };
}

const newPolicy = policyObject.check(checkPolicy).transform(readPolicy);
const changedPolicy = z
  .strictObject({ id: idInput('pol'), ...policyFields })
  .check(checkPolicy)
  .transform(readPolicy);
const newOrChangedPolicy = z
  .strictObject({
    id: idInput('pol').optional().meta({ description: 'The policy that it replaces; absent: a new one.' }),
    ...policyFields,
  })
  .check(checkPolicy)
  .transform(readPolicy);

function policiesBody<Item extends z.ZodType<PolicyItem>>(item: Item) {
  return z.strictObject({
    policies: itemsOf(item).check(
      noDuplicates(({ id }) => id, ['id']),
      noDuplicates((policy) => (policy.id === undefined ? JSON.stringify(policy) : undefined)),
    ),
  });
}

/** New policies, changed ones, or both. */
export const policiesBodies = {
  mixed: policiesBody(newOrChangedPolicy),
  add: policiesBody(newPolicy),
  update: policiesBody(changedPolicy),
  remove: z.strictObject({ policyIds: itemsOf(idInput('pol')).check(noDuplicates((id) => id)) }),
};

const limitation = z
  .object({
    hours: z.int(),
    initiatorScope: scope,
    sourceAccountScope: scope,
    destinationScope: scope,
  })
  .meta({ id: 'Limitation' });

const setting = {
  type: z.enum(['user', 'group']),
  memberId: z.string().nullable(),
  userId: z.string().nullable().meta({ description: 'The same as memberId.' }),
  groupId: z.string().nullable(),
};
const initiatorSetting = z.object(setting).meta({ id: 'InitiatorSetting' });
const approverSetting = z
  .object({ ...setting, threshold: z.int().nullable(), excludeInitiator: z.boolean() })
  .meta({ id: 'ApproverSetting' });

const tokenTransferCondition = z
  .object({
    tokenAddress: address
      .nullable()
      .meta({ description: 'null: any token; the zero address: the native coin.' }),
    tokenSymbol: z.string(),
    tokenName: z.string(),
    tokenLogoUrl: z.string().nullable(),
    tokenDecimals: z.int(),
    amountThreshold: z
      .string()
      .nullable()
      .meta({ description: 'Inclusive maximum in the smallest unit; null: none.' }),
    destinationAddresses: z.array(address).meta({ description: 'Empty: any address.' }),
  })
  .meta({ id: 'TokenTransferCondition' });

const contractInteractionCondition = z
  .array(
    z
      .object({
        contractAddress: address,
        allowedFunctions: z.array(z.string()).meta({
          description: 'As they were given; empty: any function, except those that hand out tokens.',
        }),
        functions: z.array(
          z.object({ name: z.string().nullable(), selector: z.string().regex(/^0x[0-9a-f]{8}$/) }),
        ),
        maxValue: z.string(),
      })
      .meta({ id: 'ContractRule' }),
  )
  .nullable()
  .meta({ description: 'null: any contract.' });

const shownFields = {
  name: z.string(),
  type: policyType,
  networkId,
  description: z.string().nullable(),
  accountIds: z.array(z.string()).nullable().meta({ description: 'null: any account of the organization.' }),
  accounts: z
    .array(z.object({ id: z.string(), name: z.string(), address }))
    .meta({ description: 'The accounts that accountIds names.' }),
  limitation: limitation.nullable(),
  initiatorSetting: initiatorSetting.nullable().meta({ description: 'null: any member.' }),
  approverSetting: approverSetting.nullable().meta({ description: 'null: nobody has to approve.' }),
};

const shownTokenTransfer = {
  ...shownFields,
  transactionType: z.literal('TOKEN_TRANSFER'),
  tokenTransferCondition,
};
const shownContractInteraction = {
  ...shownFields,
  transactionType: z.literal('CONTRACT_INTERACTION'),
  contractInteractionCondition,
};
const shownAny = { ...shownFields, transactionType: z.literal('ANY') };

const stored = { id: z.string(), createdAt: timestamp, updatedAt: timestamp };

/** A policy in a response: one of three variants. */
const policy = z
  .discriminatedUnion('transactionType', [
    z.object({ ...stored, ...shownTokenTransfer }).meta({ id: 'TokenTransferPolicy' }),
    z.object({ ...stored, ...shownContractInteraction }).meta({ id: 'ContractInteractionPolicy' }),
    z.object({ ...stored, ...shownAny }).meta({ id: 'AnyTransactionPolicy' }),
  ])
  .meta({ id: 'Policy' });

/** A policy as it is answered. */
export type ShownPolicy = z.output<typeof policy>;

const proposed = { id: z.string().exactOptional().meta({ description: 'Absent while the policy is new.' }) };

/** A policy in the data of a proposal: without times, and without an id while it is new. */
export const proposedPolicy = z
  .discriminatedUnion('transactionType', [
    z.object({ ...proposed, ...shownTokenTransfer }),
    z.object({ ...proposed, ...shownContractInteraction }),
    z.object({ ...proposed, ...shownAny }),
  ])
  .meta({ id: 'ProposedPolicy' });

export const listPoliciesEndpoint = endpoint({
  id: 'listPolicies',
  tag: 'Policies',
  method: 'get',
  path: '/policies',
  access: 'read',
  summary: 'Get all policies',
  description: 'Returns every policy, newest first. With `limit` or `cursor` it returns a page.',
  params: {},
  query: z.strictObject(pageQuery),
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
  response: envelope(policy),
  status: 200,
  errors: ['notFound'],
});

const until = timestamp.meta({
  description:
    'When the oldest block that counts leaves the window; a whole window from now where none does.',
});
const remaining = z
  .union([
    z.object({ amount: z.string().meta({ description: 'In the smallest unit of the token.' }), until }),
    z.object({ count: z.int().meta({ description: 'Executions, where the policy caps no amount.' }), until }),
  ])
  .meta({ id: 'Remaining' });

const evaluation = z
  .object({
    policy: z.object({ id: z.string(), name: z.string() }),
    allowed: z.boolean(),
    failures: z.array(conditionFailure).meta({ description: 'Every condition that is not met.' }),
    approvers: z.array(memberSummary).meta({ description: 'Who may approve it, as groups are now.' }),
    threshold: z.int().meta({ description: 'How many of them must; 0: it needs no approval.' }),
    remaining: remaining.nullable().meta({
      description:
        'What is left now for this initiator, account and destination; null: the policy has no limitation.',
    }),
  })
  .meta({ id: 'Evaluation' });

/** A policy's answer about a transaction. */
export type ShownEvaluation = z.output<typeof evaluation>;

const evaluationBody = z.strictObject(transactionFields);

/** A transaction that is asked about, as it was read. */
export type TransactionToEvaluate = z.output<typeof evaluationBody>;

export const evaluatePoliciesEndpoint = endpoint({
  id: 'evaluatePolicies',
  tag: 'Policies',
  method: 'post',
  path: '/policies/evaluate',
  access: 'read',
  summary: 'Ask which policies would let a transaction go',
  description:
    'Says for each policy of the organization, newest first, whether it allows the transaction or all that speaks ' +
    'against it, who would have to approve it, and what is left of its limitation now. A dry run: nothing is stored, ' +
    'the idempotency key neither.',
  params: {},
  query: z.strictObject({}),
  body: evaluationBody,
  response: envelope(z.array(evaluation)),
  status: 200,
  dryRun: true,
  errors: [],
  exampleBody: EXAMPLE_TRANSACTION,
});
