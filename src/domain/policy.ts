import { z } from 'zod';
import { ADDRESS_PATTERN, isSameAddress } from './address';

/** The longest window of a limitation in hours: a year. */
const MAX_LIMITATION_HOURS = 8_760;

/** The address that stands for the native currency of a network. */
export const NATIVE_CURRENCY = '0x0000000000000000000000000000000000000000';

const AMOUNTS = 2n ** 256n;

/** An amount in the smallest unit: decimal digits below 2^256, without sign or leading zeros. */
export const amountSchema = z
  .string()
  .refine((text) => /^(0|[1-9][0-9]{0,77})$/.test(text) && BigInt(text) < AMOUNTS, {
    error: 'must be a whole number below 2^256 in decimal digits, without sign or leading zeros',
  });

/** An address, checksummed (EIP-55). */
export const addressSchema = z.string().regex(ADDRESS_PATTERN);

/** The EIP-155 chain id of a network. */
export const networkIdSchema = z.int().min(1);

/** AUTO_APPROVAL: what the policy covers needs no approval; MANUAL_APPROVAL: its approver must approve. */
export const policyTypeSchema = z.enum(['AUTO_APPROVAL', 'MANUAL_APPROVAL']);

/** PER_ITEM: a separate limit for each initiator (account, destination); ALL_ITEMS: one limit shared by all. */
export const limitationScopeSchema = z.enum(['PER_ITEM', 'ALL_ITEMS']);

/** What is permitted within any period of that many hours. */
export const limitationSchema = z.strictObject({
  hours: z.int().min(1).max(MAX_LIMITATION_HOURS),
  initiatorScope: limitationScopeSchema,
  sourceAccountScope: limitationScopeSchema,
  destinationScope: limitationScopeSchema,
});

export const userInitiatorSchema = z.strictObject({ type: z.literal('user'), memberId: z.string() });
export const groupInitiatorSchema = z.strictObject({ type: z.literal('group'), groupId: z.string() });

/** Who may initiate: one member, or every member of a group. */
const initiatorSettingSchema = z.discriminatedUnion('type', [userInitiatorSchema, groupInitiatorSchema]);

/** The initiator of a transaction cannot approve it. */
const excludeInitiator = z.boolean();

export const userApproverSchema = userInitiatorSchema.extend({ excludeInitiator });
export const groupApproverSchema = groupInitiatorSchema.extend({
  threshold: z.int().min(1),
  excludeInitiator,
});

/** Who must approve: one member, or `threshold` members of a group. */
const approverSettingSchema = z.discriminatedUnion('type', [userApproverSchema, groupApproverSchema]);

/** Which token transfers are permitted. */
export const tokenTransferConditionSchema = z.strictObject({
  /** The zero address is the native currency; null: any token. */
  tokenAddress: addressSchema.nullable(),
  /** Empty where the token has none, or for any token; the name as well. */
  tokenSymbol: z.string(),
  tokenName: z.string(),
  tokenLogoUrl: z.string().exactOptional(),
  /** null where the token reports none: then there is no maximum. */
  tokenDecimals: z.int().min(0).max(255).nullable(),
  /** Inclusive maximum of one transfer, and with a limitation of its window, in the smallest unit; null: none. */
  amountThreshold: amountSchema.nullable(),
  /** Empty: any. */
  destinationAddresses: z.array(addressSchema),
});

/** A function that may be called. Without a name where none is known. */
export const permittedFunctionSchema = z.strictObject({
  name: z.string().exactOptional(),
  selector: z.string().regex(/^0x[0-9a-f]{8}$/),
});

/** A contract that may be called. */
export const contractRuleSchema = z.strictObject({
  contractAddress: addressSchema,
  /** Signatures and selectors as they were given; empty: any function. */
  allowedFunctions: z.array(z.string()),
  /** The same functions, in the same order: compared with the selector of a call. */
  functions: z.array(permittedFunctionSchema),
  /** Native currency that one call may send, in its smallest unit. */
  maxValue: amountSchema,
});

/** What policies cover. */
export const policyTransactionTypeSchema = z.enum(['TOKEN_TRANSFER', 'CONTRACT_INTERACTION', 'ANY']);

/** What every policy has, whatever it covers. */
export const policyBaseSchema = z.strictObject({
  name: z.string(),
  type: policyTypeSchema,
  networkId: networkIdSchema,
  description: z.string().exactOptional(),
  /** null: any account of the organization. */
  accountIds: z.array(z.string()).min(1).nullable(),
  limitation: limitationSchema.exactOptional(),
  /** null: any member. */
  initiatorSetting: initiatorSettingSchema.nullable(),
  /** Present exactly when the type is MANUAL_APPROVAL. */
  approverSetting: approverSettingSchema.exactOptional(),
});

/**
 * A policy without its id: everything that its evaluation depends on. The one schema of stored and signed policies; requests and
 * responses are built on its parts. What does not parse is not a policy and permits nothing.
 */
export const policyDefinitionSchema = z
  .discriminatedUnion('transactionType', [
    policyBaseSchema.extend({
      transactionType: z.literal('TOKEN_TRANSFER'),
      tokenTransferCondition: tokenTransferConditionSchema,
    }),
    policyBaseSchema.extend({
      transactionType: z.literal('CONTRACT_INTERACTION'),
      /** null: any contract. */
      contractInteractionCondition: z.array(contractRuleSchema).min(1).nullable(),
    }),
    policyBaseSchema.extend({ transactionType: z.literal('ANY') }),
  ])
  .refine(({ type, approverSetting }) => (type === 'MANUAL_APPROVAL') === (approverSetting !== undefined), {
    error: 'is required for MANUAL_APPROVAL, and only for it',
    path: ['approverSetting'],
  })
  .refine(
    (policy) =>
      policy.transactionType !== 'TOKEN_TRANSFER' ||
      policy.tokenTransferCondition.tokenDecimals !== null ||
      policy.tokenTransferCondition.amountThreshold === null,
    {
      error: 'must be null for a token without decimals',
      path: ['tokenTransferCondition', 'amountThreshold'],
    },
  );

type Immutable<T> = T extends readonly (infer Item)[]
  ? readonly Immutable<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Immutable<T[Key]> }
    : T;

export type LimitationScope = z.output<typeof limitationScopeSchema>;
export type Limitation = Immutable<z.output<typeof limitationSchema>>;
export type InitiatorSetting = Immutable<z.output<typeof initiatorSettingSchema>>;
export type ApproverSetting = Immutable<z.output<typeof approverSettingSchema>>;
export type TokenTransferCondition = Immutable<z.output<typeof tokenTransferConditionSchema>>;
export type ContractRule = Immutable<z.output<typeof contractRuleSchema>>;
export type PolicyDefinition = Immutable<z.output<typeof policyDefinitionSchema>>;

/** What every policy has. */
export type PolicyBase = Immutable<z.output<typeof policyBaseSchema>>;
type FieldOf<T> = T extends unknown ? keyof T : never;
/** Every field of a policy, whatever it covers. What names all of them names a new one, or does not compile. */
export type PolicyField = FieldOf<PolicyDefinition>;
type CoverOf<Definition> = Definition extends unknown ? Omit<Definition, keyof PolicyBase> : never;
/** What a policy covers: its fields besides those that every policy has. */
export type PolicyCover = CoverOf<PolicyDefinition>;

/** A rule that permits transactions of accounts. */
export type Policy = PolicyDefinition & { readonly id: string };

/** The members and groups that policies name, each once. */
export function policyPeople(
  policies: readonly Pick<PolicyDefinition, 'initiatorSetting' | 'approverSetting'>[],
): { readonly memberIds: readonly string[]; readonly groupIds: readonly string[] } {
  const settings = policies.flatMap(({ initiatorSetting, approverSetting }) =>
    [initiatorSetting, approverSetting].flatMap((setting) => setting ?? []),
  );
  const ids = <T>(of: (setting: (typeof settings)[number]) => T | undefined) => [
    ...new Set(settings.flatMap((setting) => of(setting) ?? [])),
  ];
  return {
    memberIds: ids((setting) => (setting.type === 'user' ? setting.memberId : undefined)),
    groupIds: ids((setting) => (setting.type === 'group' ? setting.groupId : undefined)),
  };
}

/** Which token transfers a policy permits; null where it names none: of its type, all or no transfers. */
export function transferCondition(policy: PolicyDefinition): TokenTransferCondition | null {
  return policy.transactionType === 'TOKEN_TRANSFER' ? policy.tokenTransferCondition : null;
}

/** A token as a policy names it. */
export interface PolicyToken {
  readonly symbol: string;
  readonly name: string | null;
  readonly decimals: number | null;
  readonly logoUrl: string | null;
}

/** The token of a condition. */
export function tokenIn(condition: TokenTransferCondition): PolicyToken {
  return {
    symbol: condition.tokenSymbol,
    name: condition.tokenName === '' ? null : condition.tokenName,
    decimals: condition.tokenDecimals,
    logoUrl: condition.tokenLogoUrl ?? null,
  };
}

/** A token as a policy names it; null where it names another one, or none. */
export function tokenOfPolicy(
  policy: PolicyDefinition,
  networkId: number,
  tokenAddress: string,
): PolicyToken | null {
  const named = policy.networkId === networkId ? transferCondition(policy) : null;
  if (!named?.tokenAddress || !isSameAddress(named.tokenAddress, tokenAddress)) return null;
  return tokenIn(named);
}

/** Which contracts a policy names; null where it names none: of its type, all or no calls. */
export function contractRules(policy: PolicyDefinition): readonly ContractRule[] | null {
  return policy.transactionType === 'CONTRACT_INTERACTION' ? policy.contractInteractionCondition : null;
}

/** An account as a policy shows it. */
export interface PolicyAccount {
  readonly id: string;
  readonly name: string;
  readonly address: string;
}

/** A setting as it is shown: `userId` is always the same as `memberId`. */
type SettingView<Setting> = Setting extends { readonly type: 'user' }
  ? Setting & { readonly userId: string }
  : Setting;

type ViewOf<Definition> = Definition extends unknown
  ? Omit<Definition, 'initiatorSetting' | 'approverSetting'> & {
      readonly id?: string;
      readonly accounts: readonly PolicyAccount[];
      readonly initiatorSetting: SettingView<InitiatorSetting> | null;
      readonly approverSetting?: SettingView<ApproverSetting>;
    }
  : never;

/** A policy as it is shown and signed, without times; `id` is absent while it has none. */
export type PolicyView = ViewOf<PolicyDefinition>;

function settingView<Setting extends InitiatorSetting | ApproverSetting>(
  setting: Setting,
): SettingView<Setting> {
  const view = setting.type === 'user' ? { ...setting, userId: setting.memberId } : setting;
  return view as SettingView<Setting>;
}

/** Shows a policy, with every field that it is given. `accounts` are those that it names. */
export function policyView(
  policy: PolicyDefinition & { readonly id?: string },
  accounts: readonly PolicyAccount[],
): PolicyView {
  const { initiatorSetting, approverSetting, ...others } = policy;
  return {
    ...others,
    accounts: (policy.accountIds ?? []).map((accountId) => {
      const account = accounts.find(({ id }) => id === accountId);
      if (!account) throw new Error(`account ${accountId} of a policy not found`);
      return { id: account.id, name: account.name, address: account.address };
    }),
    initiatorSetting: initiatorSetting && settingView(initiatorSetting),
    ...(approverSetting ? { approverSetting: settingView(approverSetting) } : {}),
  };
}

function settingOf(setting: object): object {
  const { userId: _, ...others } = setting as { userId?: string };
  return others;
}

/** The policy that a view shows. Throws ZodError when the view is not of a policy. */
export function policyOfView(view: PolicyView): PolicyDefinition {
  const { id: _, accounts: __, initiatorSetting, approverSetting, ...others } = view;
  return policyDefinitionSchema.parse({
    ...others,
    initiatorSetting: initiatorSetting && settingOf(initiatorSetting),
    ...(approverSetting ? { approverSetting: settingOf(approverSetting) } : {}),
  });
}
