import { keccak256, stringToHex } from 'viem';
import {
  anyAddress,
  anyDecimals,
  anyId,
  anyInteger,
  anyText,
  Depends,
  Matcher,
  textMatcher,
} from './expectation.ts';
import { formOf } from './payload.ts';
import type { Schema } from './records.ts';
import { isNative, NATIVE_DECIMALS } from './transactionCall.ts';

type Fields = Readonly<Record<string, unknown>>;
/** A value for each field: a new one of the API that is not here does not compile. */
type Each<Field extends PropertyKey> = Readonly<Record<Field, unknown>>;

const anyList = new Matcher('a list', Array.isArray);
/** A list of values that all have this form. */
export const listOf = (item: unknown) =>
  new Depends((got) => (Array.isArray(got) ? got.map(() => item) : anyList));
const nullable = (value: unknown) => new Depends((got) => (got === null ? null : value));
/** A value that may be absent. */
export const optional = (value: unknown) => new Depends((got) => (got === undefined ? undefined : value));
const optionalText = optional(anyText);
const oneOf = (...texts: readonly string[]) =>
  textMatcher(texts.join(' or '), new RegExp(`^(${texts.join('|')})$`));
const amount = formOf({ type: 'uint256' });

/** A shape that depends on fields of the value itself. */
export const object = (shapeOf: (got: Fields) => Fields) => new Depends((got) => shapeOf(Object(got)));

const wallet = { walletAddress: anyAddress, walletKind: oneOf('key', 'contract') };
/** A member as payloads show one. */
export const member = { id: anyId('mem'), name: anyText, type: oneOf('user', 'api'), ...wallet };
const groups = {
  items: listOf({ id: anyId('grp'), revision: anyInteger, name: anyText, members: listOf(member) }),
};

const setting = (more: { readonly user: Fields; readonly group: Fields }) =>
  object(({ type, memberId }) =>
    type === 'group'
      ? { type: 'group', groupId: anyId('grp'), ...more.group }
      : { type: 'user', memberId: anyId('mem'), userId: memberId, ...more.user },
  );
const excludeInitiator = new Matcher('true or false', (got) => typeof got === 'boolean');
const initiator = setting({ user: {}, group: {} });
const ofUsers: Each<Exclude<keyof Schema['UserApprover'], keyof Schema['UserInitiator']>> = {
  excludeInitiator,
};
const ofGroups: Each<Exclude<keyof Schema['GroupApprover'], keyof Schema['GroupInitiator']>> = {
  threshold: anyInteger,
  excludeInitiator,
};
const approver = setting({ user: ofUsers, group: ofGroups });

const scope = oneOf('PER_ITEM', 'ALL_ITEMS');
const limitation: Each<keyof Schema['Limitation']> = {
  hours: anyInteger,
  initiatorScope: scope,
  sourceAccountScope: scope,
  destinationScope: scope,
};

const transferCondition = object(
  ({ tokenAddress }): Each<keyof Schema['TokenTransferCondition']> => ({
    tokenAddress: nullable(anyAddress),
    tokenSymbol: anyText,
    tokenName: anyText,
    tokenLogoUrl: optionalText,
    tokenDecimals: isNative(String(tokenAddress)) ? NATIVE_DECIMALS : anyDecimals,
    amountThreshold: nullable(amount),
    destinationAddresses: listOf(anyAddress),
  }),
);

/** The name of a function, in a pattern. */
export const FUNCTION_NAME = '[A-Za-z_$][\\w$]*';
const functionName = optional(textMatcher('the name of a function', new RegExp(`^${FUNCTION_NAME}$`)));
/** An entry of the functions that a policy permits. With other characters it could be shown as more than one. */
const allowedFunction = textMatcher(
  'the signature of a function, or 4 bytes in hex',
  new RegExp(`^(${FUNCTION_NAME}\\([a-z0-9,()[\\]]*\\)|0x[0-9a-fA-F]{8})$`),
);

/** A function that a policy permits: its selector is what decides, so it is made from the text that was asked for. */
function functionOf(entry: string): object {
  if (/^0x/i.test(entry)) return { name: functionName, selector: entry.toLowerCase() };
  return { name: entry.slice(0, entry.indexOf('(')), selector: keccak256(stringToHex(entry)).slice(0, 10) };
}

const rule = object(
  ({ allowedFunctions }): Each<keyof Schema['ContractRule']> => ({
    contractAddress: anyAddress,
    allowedFunctions: listOf(allowedFunction),
    // What decides is the selector: it has to be that of the function as it was written.
    functions: Array.isArray(allowedFunctions)
      ? allowedFunctions.map((entry) => functionOf(String(entry)))
      : [],
    maxValue: amount,
  }),
);

type Proposed = Schema['ProposedPolicy'];
type OfAll = keyof Proposed;
const CONDITIONS: {
  readonly [Type in Proposed['transactionType']]: Each<
    Exclude<keyof Extract<Proposed, { transactionType: Type }>, OfAll>
  >;
} = {
  TOKEN_TRANSFER: { tokenTransferCondition: transferCondition },
  CONTRACT_INTERACTION: { contractInteractionCondition: nullable(listOf(rule)) },
  ANY: {},
};

const policy = object(
  ({ type, transactionType, accountIds }): Each<OfAll> => ({
    id: anyId('pol'),
    revision: optional(anyInteger),
    name: anyText,
    type: oneOf('AUTO_APPROVAL', 'MANUAL_APPROVAL'),
    transactionType: oneOf(...Object.keys(CONDITIONS)),
    networkId: anyInteger,
    description: optionalText,
    accountIds: nullable(listOf(anyId('acc'))),
    accounts: (Array.isArray(accountIds) ? accountIds : []).map((id) => ({
      id,
      name: anyText,
      address: anyAddress,
    })),
    limitation: optional(limitation),
    initiatorSetting: nullable(initiator),
    approverSetting: type === 'MANUAL_APPROVAL' ? approver : undefined,
    ...CONDITIONS[transactionType as Proposed['transactionType']],
  }),
);
const policies = { policies: listOf(policy) };

const networkIds = listOf(anyInteger);

/**
 * Every field that the `data` of each kind of operation has, by its name: a field beside them could be shown in
 * place of the one that takes effect. Source: docs/operations.md.
 */
export const OPERATION_SHAPES: { readonly [kind: string]: Fields } = {
  'members.create': { items: listOf(member) },
  'members.update': { items: listOf({ id: anyId('mem'), revision: anyInteger, name: anyText, ...wallet }) },
  'members.remove': { items: listOf({ ...member, revision: optional(anyInteger) }) },
  'groups.create': { items: listOf({ id: anyId('grp'), name: anyText, memberIds: listOf(anyId('mem')) }) },
  'groups.update': groups,
  'groups.delete': groups,
  'policies.create': policies,
  'policies.update': policies,
  'policies.remove': policies,
  'accounts.create': {
    items: listOf({ id: anyId('acc'), name: anyText, address: anyAddress, networkIds }),
  },
  'accounts.update': {
    items: listOf({
      id: anyId('acc'),
      revision: anyInteger,
      name: optionalText,
      networkIds: optional(networkIds),
    }),
  },
  'admins.update': {
    ...{ revision: anyInteger, members: listOf(member), threshold: anyInteger },
    onChain: optional(true),
  },
};
