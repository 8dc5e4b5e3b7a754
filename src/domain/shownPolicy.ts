import { z } from 'zod';
import {
  contractRuleSchema,
  groupApproverSchema,
  groupInitiatorSchema,
  limitationSchema,
  permittedFunctionSchema,
  policyBaseSchema,
  tokenTransferConditionSchema,
  userApproverSchema,
  userInitiatorSchema,
} from './policy';
import { accountName, address, idOf, revision } from './schemas';

export const LIMITATION =
  'What is permitted within any period of `hours`: `amountThreshold` in total, or one execution if the policy sets ' +
  'no amount.';

export const transferShape = tokenTransferConditionSchema.shape;

export const shownToken = {
  tokenSymbol: transferShape.tokenSymbol.meta({ description: 'Empty for any token.' }),
  tokenName: transferShape.tokenName.meta({ examples: ['USD Coin'] }),
  tokenLogoUrl: transferShape.tokenLogoUrl,
};

export const ANY_TOKEN_TEXT = 'null: any token; the zero address: the native currency.';

const AMOUNT_THRESHOLD =
  'Inclusive maximum per transfer, and with a limitation per window, in the smallest unit; null: no maximum.';

export const amountThreshold = transferShape.amountThreshold.meta({ description: AMOUNT_THRESHOLD });

const { name: functionName, selector } = permittedFunctionSchema.shape;

export const shownFunctions = z.array(
  permittedFunctionSchema
    .strip()
    .extend({
      name: functionName.meta({ description: 'Absent if unknown.' }),
      selector: selector.meta({ examples: ['0x40c10f19'] }),
    })
    .meta({ id: 'PermittedFunction' }),
);

export const ANY_FUNCTION =
  'any function but the restricted ones, which grant or move assets or rights or carry calls';

export const MAX_VALUE = 'Native currency that one call may send.';

export const shownAccounts = z
  .array(z.object({ id: idOf('acc'), name: accountName, address }).meta({ id: 'PolicyAccount' }))
  .meta({ description: 'The accounts of `accountIds`.' });

export const ANY_ACCOUNT = 'null: any account of the organization.';

export const ANY_INITIATOR = 'null: any member.';

const limitation = limitationSchema.strip().meta({ id: 'Limitation', description: LIMITATION });

const shownUser = {
  memberId: idOf('mem'),
  userId: idOf('mem').meta({ description: 'The same as `memberId`.' }),
};

const shownGroup = { groupId: idOf('grp') };

const initiatorSetting = z
  .discriminatedUnion('type', [
    userInitiatorSchema
      .strip()
      .extend(shownUser)
      .meta({ id: 'UserInitiator', description: 'One member may initiate.' }),
    groupInitiatorSchema
      .strip()
      .extend(shownGroup)
      .meta({ id: 'GroupInitiator', description: 'Every member of a group may initiate.' }),
  ])
  .meta({ id: 'InitiatorSetting', description: 'Who may initiate. Discriminated by `type`.' });

const approverSetting = z
  .discriminatedUnion('type', [
    userApproverSchema
      .strip()
      .extend(shownUser)
      .meta({ id: 'UserApprover', description: 'One member must approve.' }),
    groupApproverSchema
      .strip()
      .extend(shownGroup)
      .meta({ id: 'GroupApprover', description: 'Members of a group must approve.' }),
  ])
  .meta({ id: 'ApproverSetting', description: 'Who must approve. Discriminated by `type`.' });

const tokenTransferCondition = tokenTransferConditionSchema
  .strip()
  .extend({
    tokenAddress: transferShape.tokenAddress.meta({ description: ANY_TOKEN_TEXT }),
    ...shownToken,
    tokenDecimals: transferShape.tokenDecimals.meta({ examples: [6] }),
    amountThreshold,
    destinationAddresses: transferShape.destinationAddresses.meta({ description: 'Empty: any address.' }),
  })
  .meta({ id: 'TokenTransferCondition' });

const ruleShape = contractRuleSchema.shape;

const contractInteractionCondition = z
  .array(
    contractRuleSchema
      .strip()
      .extend({
        allowedFunctions: ruleShape.allowedFunctions.meta({
          description: `As given; empty: ${ANY_FUNCTION}.`,
        }),
        functions: shownFunctions,
        maxValue: ruleShape.maxValue.meta({ description: MAX_VALUE }),
      })
      .meta({ id: 'ContractRule', description: 'A contract that may be called.' }),
  )
  .nullable()
  .meta({ description: 'null: any contract.' });

/** The fields of every policy. */
export const policyBase = policyBaseSchema
  .strip()
  .extend({
    name: policyBaseSchema.shape.name.meta({ examples: ['Payroll'] }),
    accountIds: z.array(idOf('acc')).nullable().meta({ description: ANY_ACCOUNT }),
    accounts: shownAccounts,
    limitation: limitation.exactOptional(),
    initiatorSetting: initiatorSetting.nullable().meta({ description: ANY_INITIATOR }),
    approverSetting: approverSetting
      .exactOptional()
      .meta({ description: 'Present exactly for MANUAL_APPROVAL.' }),
  })
  .meta({ id: 'PolicyBase', description: 'The fields of every policy.' });

export const shownTokenTransfer = { transactionType: z.literal('TOKEN_TRANSFER'), tokenTransferCondition };

export const shownContractInteraction = {
  transactionType: z.literal('CONTRACT_INTERACTION'),
  contractInteractionCondition,
};

export const shownAny = { transactionType: z.literal('ANY') };

export const extendsBase = { extends: 'PolicyBase' };

const proposed = { id: idOf('pol'), revision: revision.exactOptional() };

/** A policy in the data of a proposal: without timestamps; with a revision if it exists already. */
export const proposedPolicy = z
  .discriminatedUnion('transactionType', [
    policyBase.extend({ ...proposed, ...shownTokenTransfer }).meta({
      id: 'ProposedTokenTransferPolicy',
      description: 'Covers token transfers.',
      ...extendsBase,
    }),
    policyBase.extend({ ...proposed, ...shownContractInteraction }).meta({
      id: 'ProposedContractInteractionPolicy',
      description: 'Covers contract calls.',
      ...extendsBase,
    }),
    policyBase.extend({ ...proposed, ...shownAny }).meta({
      id: 'ProposedAnyTransactionPolicy',
      description: 'Covers all transactions.',
      ...extendsBase,
    }),
  ])
  .meta({ id: 'ProposedPolicy', description: 'A policy in a proposal. Discriminated by `transactionType`.' });
