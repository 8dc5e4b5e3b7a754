import { z } from 'zod';
import { checksumAddress } from '../chain/address';
import { address, amount, idOf, memberSummary, networkId, timestamp } from '../domain/schemas';
import { MAX_CALLDATA_BYTES } from '../domain/transactionContent';
import { asset, assetId, displayAmount } from './accountContract';
import { endpoint } from './endpoint';
import { paidFees } from './feeContract';
import {
  addressInput,
  dataResponse,
  descriptionInput,
  MISSING_MEMBER,
  networkIdQuery,
  nonzeroAddressInput,
  pageOf,
  reasonInput,
  requestQuery,
  transactionHash,
  transactionPageQuery,
} from './primitives';
import {
  EXAMPLE_SIGNATURE,
  executeBody,
  executionStatus,
  expiresAt,
  failure,
  note,
  resolution,
  signatureInput,
  signatureStatus,
  summary,
} from './proposalContract';
import { externalIdInput, metadataInput, references, tagQuery, tagsInput } from './referenceContract';

const MAX_CALLDATA_LENGTH = 2 + 2 * MAX_CALLDATA_BYTES;

const calldataInput = z
  .string()
  .regex(/^0x([0-9a-fA-F]{2})*$/, 'must be 0x and whole bytes in hex')
  .refine((text) => text.length <= MAX_CALLDATA_LENGTH, `must have at most ${MAX_CALLDATA_BYTES} bytes`)
  .meta({
    id: 'Calldata',
    description: `0x hex of up to ${MAX_CALLDATA_BYTES} bytes; \`0x\` for none.`,
    maxLength: MAX_CALLDATA_LENGTH,
    examples: ['0x'],
  });

/** The fields of a transaction in a request, without its policy and its references. */
export const transactionFields = {
  accountId: idOf('acc'),
  initiatorWalletAddress: addressInput
    .meta({ description: 'Wallet of the member who initiates it.' })
    .transform(checksumAddress),
  networkId,
  description: descriptionInput.default(''),
  to: nonzeroAddressInput.transform(checksumAddress),
  value: amount.meta({ description: 'Native currency to send, in wei or its equivalent.' }),
  data: calldataInput,
  replaces: idOf('txn')
    .optional()
    .meta({
      description:
        'A failed transaction of the account that cannot be executed again, and that this one replaces. 409 while ' +
        'another replacement of it, or of what it replaces, can still be executed, and once one was executed.',
    }),
};

/** A transfer of 1 ETH. */
export const EXAMPLE_TRANSACTION = {
  accountId: 'acc_01jz8k3v5fe5ht0n2m6w9r4xyz',
  initiatorWalletAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  networkId: 31337,
  description: 'Salary of May',
  to: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
  value: '1000000000000000000',
  data: '0x',
};

/** The body that creates a transaction. */
const createTransactionBody = z
  .strictObject({
    ...transactionFields,
    policyId: idOf('pol').meta({ description: 'The policy under which it is requested.' }),
    externalId: externalIdInput.optional(),
    metadata: metadataInput.default({}),
    tags: tagsInput.default([]),
  })
  .meta({ id: 'CreateTransactionRequest' });

/** The body that changes the references of a transaction. */
const changeReferencesBody = z
  .strictObject({ metadata: metadataInput.optional(), tags: tagsInput.optional() })
  .refine(({ metadata, tags }) => metadata !== undefined || tags !== undefined, 'must have metadata or tags')
  .meta({ id: 'ChangeReferencesRequest', minProperties: 1 });

/** A new transaction, from a request. */
export type TransactionRequest = z.output<typeof createTransactionBody>;

/** The signature of the initiator, or the vote of an approver. */
const signTransactionBody = z
  .strictObject({
    type: z.enum(['initiator', 'approve', 'reject']).meta({ id: 'TransactionSignatureType' }),
    signature: signatureInput,
    reason: reasonInput.optional(),
    execute: z.boolean().default(false).meta({
      description: 'Execute at once if the threshold is met: the rejection with `reject`, else the approval.',
    }),
  })
  .meta({ id: 'SignTransactionRequest' });

const TYPED_DATA = 'EIP-712 typed data as JSON text, with the account as the verifying contract';
const initiatorPayload = z.string().meta({ description: `${TYPED_DATA}, to sign as the initiator.` });
const reviewPayloads = {
  approvePayload: z.string().meta({ description: `${TYPED_DATA}, to sign for approval.` }),
  rejectPayload: z.string().meta({ description: `${TYPED_DATA}, to sign for rejection.` }),
};

const transferData = z
  .object({
    destination: address,
    asset,
    rawAmount: amount,
    displayAmount,
    networkId,
  })
  .meta({ id: 'TokenTransferData' });

const functionParameter = z
  .object({
    name: z.string().meta({ description: 'Empty if only its type is known.' }),
    type: z.string().meta({ examples: ['uint256'] }),
    value: z.string().meta({
      description:
        'Decimal digits, checksummed address, true or false, 0x hex or text; JSON for arrays and tuples.',
    }),
    unread: z
      .boolean()
      .optional()
      .meta({ description: 'True if it cannot be read, with an empty `value`; absent otherwise.' }),
  })
  .meta({ id: 'FunctionParameter' });

const callData = z
  .object({
    toAddress: address,
    calldata: z.string(),
    networkId,
    value: amount.meta({ description: 'Native currency that the call sends.' }),
    functionName: z.string().optional().meta({ description: 'Absent if the function is unknown.' }),
    functionParameters: z
      .array(functionParameter)
      .optional()
      .meta({ description: 'Absent if the function is unknown.' }),
    encodingFaults: z
      .array(z.string())
      .optional()
      .meta({
        description: 'How the calldata is not the canonical encoding of the parameters; absent if it is.',
        examples: [['1 byte after its parameters', 'parameter 1: 12 bytes that should be zero']],
      }),
  })
  .meta({ id: 'ContractInteractionData', description: 'A contract call, decoded if its function is known.' });

const signingPayloads = z
  .union([
    z.object({ initiatorPayload }).meta({ id: 'InitiatorPayload', description: 'What the initiator signs.' }),
    z
      .object({
        ...reviewPayloads,
        initiatorPayload: initiatorPayload.optional().meta({
          description:
            'Present where the execution was blocked as `stale` and the wallet of the initiator is a contract, which may not ' +
            'accept their signature any more: they can sign again.',
        }),
      })
      .meta({ id: 'ReviewPayloads', description: 'What approvers sign.' }),
  ])
  .meta({ id: 'TransactionSigningPayloads', description: 'What can be signed now.' });

const signatureData = z
  .discriminatedUnion('status', [
    z
      .object({ status: signatureStatus.extract(['pendingInitiatorSignature']), initiatorPayload })
      .meta({ id: 'InitiatorSignatureData', description: 'Before the initiator has signed.' }),
    z
      .object({
        status: signatureStatus
          .exclude(['pendingInitiatorSignature', 'expired'])
          .meta({ id: 'ReviewStatus' }),
        ...reviewPayloads,
      })
      .meta({ id: 'ReviewSignatureData', description: 'After the initiator has signed.' }),
    z
      .object({ status: signatureStatus.extract(['expired']) })
      .meta({ id: 'ExpiredSignatureData', description: 'After expiry.' }),
  ])
  .meta({ id: 'SignatureData', description: 'What was or can be signed, in every status.' });

/** The fields of every transaction. */
export const transactionBase = z
  .object({
    id: idOf('txn'),
    accountId: idOf('acc'),
    networkId,
    description: z.string(),
    to: address,
    value: amount.meta({ description: 'Native currency that it sends.' }),
    calldata: z.string().meta({ examples: ['0x'] }),
    summary,
    replaces: idOf('txn').optional().meta({ description: 'The failed transaction that it replaces.' }),
    ...references,
    initiator: memberSummary,
    policy: z
      .object({
        id: idOf('pol'),
        threshold: z.int().min(0).meta({ description: 'Number of approvals needed; 0: none.' }),
      })
      .meta({ id: 'TransactionPolicy' }),
    signatureStatus,
    executionStatus,
    threshold: z.int().min(0).meta({ description: 'Number of approvals needed; 0: none.' }),
    approvals: z.array(memberSummary).meta({ description: 'Members who approved.' }),
    rejections: z.array(memberSummary).meta({ description: 'Members who rejected.' }),
    signingPayloads: signingPayloads
      .optional()
      .meta({ description: 'Present while signatures can be collected.' }),
    signatureData,
    chain: z
      .object({
        transactionHash,
        submittedAt: timestamp,
        confirmations: z
          .int()
          .min(0)
          .meta({ description: 'Number of blocks from its own on; 0: not in a block.' }),
      })
      .meta({ id: 'ChainState', description: 'The chain transaction that executes it.' })
      .optional()
      .meta({ description: 'Present from the first broadcast on.' }),
    result: z
      .object({
        resolution,
        transactionHash: transactionHash.optional(),
        blockNumber: z.int().min(0).optional(),
        executedAt: timestamp
          .optional()
          .meta({ description: 'Time of the block. Absent after a rejection.' }),
        fee: amount.optional().meta({
          description:
            'What the chain transaction that executed it cost its sender, in wei or its equivalent. Absent after a rejection, and ' +
            'where the node does not say it. What the relayers have paid in all is `fees`.',
        }),
      })
      .meta({ id: 'TransactionResult' })
      .optional()
      .meta({ description: 'Present after execution.' }),
    fees: paidFees.optional(),
    failure: failure.optional(),
    notes: z.array(note),
    createdAt: timestamp,
    updatedAt: timestamp,
    expiresAt,
  })
  .meta({ id: 'TransactionBase', description: 'The fields of every transaction.' });

const transaction = z
  .discriminatedUnion('type', [
    transactionBase
      .extend({ type: z.literal('TOKEN_TRANSFER'), data: transferData })
      .meta({ id: 'TokenTransferTransaction', extends: 'TransactionBase' }),
    transactionBase
      .extend({ type: z.literal('CONTRACT_INTERACTION'), data: callData })
      .meta({ id: 'ContractInteractionTransaction', extends: 'TransactionBase' }),
  ])
  .meta({ id: 'Transaction', description: 'Discriminated by `type`.' });

/** A transaction in a response. */
export type ShownTransaction = z.output<typeof transaction>;

const transactionResponse = dataResponse(transaction);

const transactionParams = { txId: 'txn' } as const;

export const listTransactionsEndpoint = endpoint({
  id: 'listTransactions',
  tag: 'Transactions',
  method: 'get',
  path: '/transactions',
  access: 'read',
  summary: 'List transactions',
  description:
    'Returns a page, newest first. A page with much calldata may have fewer results than `limit`; `hasMore` says ' +
    'whether there is a next page.',
  params: {},
  query: z.strictObject({
    ...transactionPageQuery,
    ...requestQuery,
    accountId: idOf('acc').optional().meta({ description: 'Only transactions of this account.' }),
    policyId: idOf('pol').optional().meta({ description: 'Only transactions under this policy.' }),
    initiatorId: idOf('mem').optional().meta({ description: 'Only transactions of this initiator.' }),
    networkId: networkIdQuery.optional().meta({ description: 'Only transactions on this network.' }),
    externalId: externalIdInput
      .optional()
      .meta({ description: 'Only the transaction with this id of yours.' }),
    tag: tagQuery.optional().meta({ description: 'Only transactions with this tag, whatever its case.' }),
    missingMemberId: idOf('mem').optional().meta({ description: MISSING_MEMBER }),
    type: z
      .enum(['TOKEN_TRANSFER', 'CONTRACT_INTERACTION'])
      .meta({ id: 'TransactionType' })
      .optional()
      .meta({ description: 'Only transactions of this type.' }),
    recipient: addressInput
      .optional()
      .meta({ description: 'Only transfers to this address, and calls of the contract there.' }),
    assetId: assetId.optional().meta({ description: 'Only transfers of this asset: its `id`.' }),
    status: z
      .enum(['queued', 'executed', 'done', 'failed', 'expired'])
      .meta({
        id: 'TransactionFilter',
        description:
          '`queued`: can still change. `executed`: completed, rejected, or failed for good. `done`: completed or rejected. ' +
          '`failed`: failed or blocked, for good or not. `expired`: never executed, and too late for it.',
      })
      .optional()
      .meta({ description: 'Absent: all.' }),
  }),
  response: pageOf(transaction),
  status: 200,
  errors: [],
});

export const getTransactionEndpoint = endpoint({
  id: 'getTransaction',
  tag: 'Transactions',
  method: 'get',
  path: '/transactions/{txId}',
  access: 'read',
  summary: 'Get a transaction',
  params: transactionParams,
  query: z.strictObject({}),
  response: transactionResponse,
  status: 200,
  errors: ['notFound'],
});

const blockNumber = z.int().min(0).meta({ description: 'The block at which it was simulated.' });

/** Whether tokens go to a contract. */
export const recipientCode = z.enum(['contract', 'unknown']).meta({
  id: 'RecipientCode',
  description:
    'Of a token transfer: `contract` if there is code at the recipient (a delegation of EIP-7702 apart) and it is not an account ' +
    'of the organization, so that whether it can send tokens on is not known; `unknown` if the node does not answer. ' +
    'It decides nothing.',
});

const simulation = z
  .discriminatedUnion('status', [
    z
      .object({
        status: z.literal('succeeds'),
        gas: amount.meta({ description: 'Gas that the call needs, with a margin.' }),
        blockNumber,
        recipientCode: recipientCode.optional(),
      })
      .meta({ id: 'SucceedingSimulation' }),
    z
      .object({
        status: z.literal('fails'),
        reason: z.string().meta({ description: 'In the words of a failed execution.' }),
        blockNumber,
        recipientCode: recipientCode.optional(),
      })
      .meta({ id: 'FailingSimulation' }),
    z
      .object({ status: z.literal('unavailable') })
      .meta({ id: 'UnavailableSimulation', description: 'While the network is unavailable.' }),
  ])
  .meta({
    id: 'TransactionSimulation',
    description: 'What the call would do now. Discriminated by `status`.',
  });

/** A simulation in a response. */
export type TransactionSimulation = z.output<typeof simulation>;

export const simulateTransactionEndpoint = endpoint({
  id: 'simulateTransaction',
  tag: 'Transactions',
  method: 'get',
  path: '/transactions/{txId}/simulation',
  access: 'read',
  summary: 'Simulate a transaction',
  description:
    'Simulates the call of a transaction that can be signed, with the account as its sender, at the newest block of its ' +
    'network. A token that returns false moves nothing: its transfer fails. The policy is not evaluated. A result is up to ' +
    'a second old.',
  params: transactionParams,
  query: z.strictObject({}),
  response: dataResponse(simulation),
  status: 200,
  errors: ['notFound', 'conflict', 'proposalExpired'],
});

export const createTransactionEndpoint = endpoint({
  id: 'createTransaction',
  tag: 'Transactions',
  method: 'post',
  path: '/transactions',
  access: 'read',
  summary: 'Create a transaction',
  description:
    'Transfers native currency (a value, no data) or an ERC-20 token (calldata of transfer(address,uint256)), or ' +
    'calls a contract. Its policy must permit it, otherwise 403 with `details.failures`; the budget of a limitation ' +
    'is checked at execution. The initiator signs first. 409 where another transaction has its `externalId`: ' +
    '`details.transactionId` is that one.',
  params: {},
  query: z.strictObject({}),
  body: createTransactionBody,
  response: transactionResponse,
  status: 201,
  errors: ['forbidden'],
  exampleBody: { ...EXAMPLE_TRANSACTION, policyId: 'pol_01jz8k3v5fe5ht0n2m6w9r4xyz' },
});

export const changeReferencesEndpoint = endpoint({
  id: 'changeReferences',
  tag: 'Transactions',
  method: 'post',
  path: '/transactions/{txId}/references',
  access: 'read',
  summary: 'Change metadata and tags',
  description:
    'Replaces `metadata` or `tags` of a transaction, or both, whatever its state: they are not signed. The audit log has ' +
    'them before and after. `externalId` never changes.',
  params: transactionParams,
  query: z.strictObject({}),
  body: changeReferencesBody,
  response: transactionResponse,
  status: 200,
  errors: ['forbidden', 'notFound'],
  exampleBody: { metadata: { costCenter: '4711' }, tags: ['payroll'] },
});

export const signTransactionEndpoint = endpoint({
  id: 'signTransaction',
  tag: 'Transactions',
  method: 'post',
  path: '/transactions/{txId}/signatures',
  access: 'read',
  summary: 'Sign a transaction',
  description:
    'Records the signature of the initiator, or afterwards the vote of an approver. The API key of the request need ' +
    'not belong to that member. With `execute` the outcome is executed at once if its threshold is met.',
  params: transactionParams,
  query: z.strictObject({}),
  body: signTransactionBody,
  response: transactionResponse,
  status: 200,
  errors: ['invalidSignature', 'forbidden', 'notFound', 'proposalExpired'],
  exampleBody: { type: 'initiator', signature: EXAMPLE_SIGNATURE, execute: true },
});

export const executeTransactionEndpoint = endpoint({
  id: 'executeTransaction',
  tag: 'Transactions',
  method: 'post',
  path: '/transactions/{txId}/execute',
  access: 'read',
  summary: 'Execute a transaction',
  description:
    'Executes approval or rejection once its threshold is met, and retries a failed or blocked execution. Waits up ' +
    'to 10 seconds for the outcome.',
  params: transactionParams,
  query: z.strictObject({}),
  body: executeBody,
  response: transactionResponse,
  status: 200,
  errors: ['notFound', 'thresholdNotMet', 'proposalExpired'],
  exampleBody: { type: 'approve' },
});
