import { z } from 'zod';
import { checksumAddress, isZeroAddress } from '../chain/address';
import { MAX_CALLDATA_BYTES } from '../domain/transactionContent';
import { asset } from './accounts';
import { endpoint } from './endpoint';
import { memberSummary } from './members';
import {
  address,
  addressInput,
  amountInput,
  descriptionInput,
  envelope,
  idInput,
  networkId,
  pageOf,
  pageQuery,
  reasonInput,
  timestamp,
  transactionHash,
} from './primitives';
import { executeBody, executionStatus, failure, note, signatureInput, signatureStatus } from './proposals';

const calldataInput = z
  .string()
  .refine(
    (text) => /^0x[0-9a-fA-F]*$/.test(text) && text.length % 2 === 0,
    'must be 0x and whole bytes in hex',
  )
  .refine(
    (text) => text.length <= 2 + 2 * MAX_CALLDATA_BYTES,
    `must have at most ${MAX_CALLDATA_BYTES} bytes`,
  )
  .meta({
    description: `0x hex of up to ${MAX_CALLDATA_BYTES} bytes; \`0x\`: none.`,
    examples: ['0x'],
  });

/** What a caller says about a transaction, apart from the policy that is to let it go. */
export const transactionFields = {
  accountId: idInput('acc'),
  initiatorWalletAddress: addressInput(checksumAddress)
    .transform(checksumAddress)
    .meta({ description: 'Wallet of the member who initiates it.' }),
  networkId,
  description: descriptionInput.default(''),
  to: addressInput(checksumAddress)
    .refine((text) => !isZeroAddress(text), 'must not be the zero address')
    .transform(checksumAddress),
  value: amountInput.meta({ description: 'Native coin to send along, in its smallest unit.' }),
  data: calldataInput,
};

/** A transfer of one native coin. */
export const EXAMPLE_TRANSACTION = {
  accountId: 'acc_01jz8k3v5fe5ht0n2m6w9r4xyz',
  initiatorWalletAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  networkId: 31337,
  description: 'Salary of May',
  to: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
  value: '1000000000000000000',
  data: '0x',
};

/** What creates a transaction. */
export const createTransactionBody = z.strictObject({
  ...transactionFields,
  policyId: idInput('pol').meta({ description: 'The one policy that is to let it go.' }),
});

/** A transaction that is asked for, as it was read. */
export type NewTransaction = z.output<typeof createTransactionBody>;

/** A signature of the initiator, or of somebody who approves or rejects. */
export const signTransactionBody = z.strictObject({
  type: z.enum(['initiator', 'approve', 'reject']),
  signature: signatureInput,
  reason: reasonInput.optional(),
  execute: z.boolean().default(false).meta({
    description:
      'Execute at once if the threshold is met: a rejection with reject, an approval with the other two.',
  }),
});

const TYPED_DATA = 'EIP-712 typed data as JSON text, with the account as the verifying contract';
const initiatorPayload = z.string().meta({ description: `${TYPED_DATA}: sign it to initiate.` });
const reviewPayloads = {
  approvePayload: z.string().meta({ description: `${TYPED_DATA}: sign it to approve.` }),
  rejectPayload: z.string().meta({ description: `${TYPED_DATA}: sign it to reject.` }),
};

const transferData = z
  .object({
    destination: address,
    asset,
    rawAmount: z.string().meta({ description: 'In the smallest unit.' }),
    displayAmount: z.string(),
    networkId,
  })
  .meta({ id: 'TokenTransferData' });

const callData = z
  .object({
    toAddress: address,
    calldata: z.string(),
    networkId,
    value: z.string().meta({ description: 'Native coin that the call carries, in its smallest unit.' }),
    functionName: z.string().optional().meta({ description: 'Absent where the function is not known.' }),
    functionParameters: z
      .array(
        z.object({
          name: z.string().meta({ description: 'Empty where only its type is known.' }),
          type: z.string(),
          value: z.string().meta({
            description:
              'Decimal digits, a checksummed address, true or false, 0x hex, a text; JSON of these for arrays and tuples.',
          }),
        }),
      )
      .optional()
      .meta({ description: 'Absent where the function is not known.' }),
  })
  .meta({ id: 'ContractInteractionData' });

const shownFields = {
  id: z.string(),
  accountId: z.string(),
  networkId,
  description: z.string(),
  to: address,
  value: z.string(),
  calldata: z.string(),
  summary: z.string().meta({ description: 'What is asked, in one line of plain words. It is signed.' }),
  initiator: memberSummary,
  policy: z.object({
    id: z.string(),
    threshold: z.int().meta({ description: 'How many must approve; 0: it needs no approval.' }),
  }),
  signatureStatus,
  executionStatus,
  threshold: z.int(),
  approvals: z.array(memberSummary),
  rejections: z.array(memberSummary),
  signingPayloads: z
    .union([z.object({ initiatorPayload }), z.object(reviewPayloads)])
    .optional()
    .meta({ description: 'What can be signed now; present while signatures can be collected.' }),
  signatureData: z
    .union([
      z.object({ status: z.literal('pendingInitiatorSignature'), initiatorPayload }),
      z.object({
        status: signatureStatus.exclude(['pendingInitiatorSignature', 'expired']),
        ...reviewPayloads,
      }),
      z.object({ status: z.literal('expired') }),
    ])
    .meta({ description: 'What was or can be signed; it stays.' }),
  chain: z
    .object({
      transactionHash,
      submittedAt: timestamp,
      confirmations: z.int().meta({ description: 'Blocks on top of it and its own; 0: in none.' }),
    })
    .optional()
    .meta({ description: 'Present from the first broadcast on.' }),
  result: z
    .object({
      resolution: z.enum(['approved', 'rejected']),
      transactionHash: transactionHash.optional(),
      blockNumber: z.int().optional(),
    })
    .optional()
    .meta({ description: 'Present after execution.' }),
  failure: failure.optional(),
  notes: z.array(note),
  createdAt: timestamp,
  updatedAt: timestamp,
  expiresAt: timestamp,
};

const transaction = z
  .discriminatedUnion('type', [
    z
      .object({ ...shownFields, type: z.literal('TOKEN_TRANSFER'), data: transferData })
      .meta({ id: 'TokenTransferTransaction' }),
    z
      .object({ ...shownFields, type: z.literal('CONTRACT_INTERACTION'), data: callData })
      .meta({ id: 'ContractInteractionTransaction' }),
  ])
  .meta({ id: 'Transaction' });

/** A transaction as it is answered. */
export type ShownTransaction = z.output<typeof transaction>;

const transactionParams = { txId: 'txn' } as const;

export const listTransactionsEndpoint = endpoint({
  id: 'listTransactions',
  tag: 'Transactions',
  method: 'get',
  path: '/transactions',
  access: 'read',
  summary: 'Get the transactions',
  description:
    'Newest first, 100 per page unless `limit` says otherwise. A page of transactions with much calldata may hold ' +
    'fewer; `hasMore` tells whether there are more.',
  params: {},
  query: z.strictObject({
    ...pageQuery,
    accountId: idInput('acc').optional(),
    status: z.enum(['queued', 'executed']).optional().meta({
      description: 'queued: can still change; executed: completed or rejected. Absent: all.',
    }),
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
  response: envelope(transaction),
  status: 200,
  errors: ['notFound'],
});

export const createTransactionEndpoint = endpoint({
  id: 'createTransaction',
  tag: 'Transactions',
  method: 'post',
  path: '/transactions',
  access: 'read',
  summary: 'Create a transaction',
  description:
    'A transfer of the native coin (a value, no data), of an ERC-20 token (calldata of transfer(address,uint256)), or ' +
    'any other call. It must fit its policy, apart from what is left of a limitation, which is looked at when it is ' +
    'executed; otherwise 403 with `details.failures`. The initiator signs first.',
  params: {},
  query: z.strictObject({}),
  body: createTransactionBody,
  response: envelope(transaction),
  status: 201,
  errors: ['forbidden'],
  exampleBody: { ...EXAMPLE_TRANSACTION, policyId: 'pol_01jz8k3v5fe5ht0n2m6w9r4xyz' },
});

export const signTransactionEndpoint = endpoint({
  id: 'signTransaction',
  tag: 'Transactions',
  method: 'post',
  path: '/transactions/{txId}/signatures',
  access: 'read',
  summary: 'Sign a transaction',
  description:
    'Records the signature of the initiator, or afterwards of somebody who may approve it. The key that carries it ' +
    'need not belong to the signer. With `execute` the outcome is carried out at once if its threshold is met.',
  params: transactionParams,
  query: z.strictObject({}),
  body: signTransactionBody,
  response: envelope(transaction),
  status: 200,
  errors: ['invalidSignature', 'forbidden', 'notFound', 'proposalExpired'],
  exampleBody: { type: 'initiator', signature: '0x…', execute: true },
});

export const executeTransactionEndpoint = endpoint({
  id: 'executeTransaction',
  tag: 'Transactions',
  method: 'post',
  path: '/transactions/{txId}/execute',
  access: 'read',
  summary: 'Execute a transaction',
  description:
    'Carries out approval or rejection once its threshold is met, and tries again what failed or was blocked. Waits ' +
    'up to 10 seconds for the outcome.',
  params: transactionParams,
  query: z.strictObject({}),
  body: executeBody,
  response: envelope(transaction),
  status: 200,
  errors: ['notFound', 'thresholdNotMet', 'proposalExpired'],
  exampleBody: { type: 'approve' },
});
