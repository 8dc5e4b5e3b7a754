import { type Approval, type PayloadMismatch, readApproval, verifyRecord } from '@orgwallet/client';
import { encodeFunctionData, getAddress, keccak256, parseAbi, zeroAddress } from 'viem';
import { decodeCall } from '../../../src/chain/decode';
import { canonicalJson } from '../../../src/domain/canonicalJson';
import { proposalPayload, type TransactionToSign, transactionPayload } from '../../../src/domain/signing';
import { readContent } from '../../../src/domain/transactionContent';
import { transactionData } from '../../../src/domain/transactionData';
import { type TransactionFacts, transactionSummary } from '../../../src/domain/transactionText';
import { aHash, anAddress, anId } from '../../support/builders';
import type { Json } from '../../support/document';
import { transferData } from '../../support/transactions';

const [treasury, token, payee] = [anAddress(), anAddress(), anAddress()];
const expiresAt = new Date(Math.floor(Date.now() / 1_000 + 3_600) * 1_000);

/** What is open, and waits for one approval. */
const OPEN = {
  threshold: 1,
  approvals: [],
  rejections: [],
  signatureStatus: 'pendingReviewSignatures',
  executionStatus: null,
};

/** A transaction that waits for approvers, as the API answers it. */
function aTransaction(
  call: { to: string; value: bigint; data: string },
  signatures: string[] = [],
  symbol = 'ETH',
): Json {
  const content = readContent(call, (address) => address);
  if (!content.ok) throw new Error(content.refusal.message);
  const facts: TransactionFacts = {
    calldata: call.data,
    token: { symbol: 'USDC', name: 'USD Coin', decimals: 6, logoUrl: null },
    network: { id: 1, name: 'Ethereum', nativeAsset: { symbol, name: 'Ether', decimals: 18 } },
    account: { name: 'Treasury', address: treasury },
    call: decodeCall(call.data, signatures),
    replaces: null,
  };
  const id = anId('txn');
  const policyId = anId('pol');
  const summary = transactionSummary(content.value, facts);
  const signed: TransactionToSign = {
    id,
    accountAddress: treasury,
    networkId: 1,
    to: call.to,
    value: call.value,
    calldata: call.data,
    policyId,
    summary,
    expiresAt,
  };
  const bound = keccak256(aHash());
  return {
    id,
    accountId: anId('acc'),
    networkId: 1,
    type: content.value.type,
    to: call.to,
    value: String(call.value),
    calldata: call.data,
    data: transactionData(content.value, facts),
    summary,
    policy: { id: policyId, threshold: 1 },
    ...OPEN,
    expiresAt: expiresAt.toISOString(),
    signingPayloads: {
      approvePayload: transactionPayload('ApproveTransaction', signed, bound),
      rejectPayload: transactionPayload('RejectTransaction', signed, bound),
    },
  };
}

const MEMBER = {
  id: anId('mem'),
  name: 'Alice',
  type: 'user',
  walletAddress: anAddress(),
  walletKind: 'key',
};

/** Members of a response have times. */
const withTimes = (data: object): object =>
  'items' in data
    ? { items: (data.items as object[]).map((item) => ({ ...item, createdAt: '2026-01-01T00:00:00.000Z' })) }
    : data;

function aProposal({
  resourceType = 'members',
  action = 'create',
  data = { items: [MEMBER] } as object,
  summary = `Add member "Alice" (user, ${MEMBER.walletAddress})`,
} = {}): Json {
  const id = anId('prop');
  const signed = { id, organizationId: anId('org'), resourceType, action, summary, data, expiresAt };
  const salt = aHash();
  return {
    id,
    resourceType,
    action,
    data: withTimes(data),
    ...OPEN,
    summary,
    expiresAt: expiresAt.toISOString(),
    signingPayloads: {
      initiatorPayload: proposalPayload('InitiateProposal', salt, signed as never),
      approvePayload: proposalPayload('ApproveProposal', salt, signed as never),
      rejectPayload: proposalPayload('RejectProposal', salt, signed as never),
    },
  };
}

/** The field of which `verifyRecord` reports that record and bytes differ. */
function refused(record: Json): string | undefined {
  try {
    verifyRecord(record as Approval);
    return undefined;
  } catch (error) {
    if ((error as Error).name !== 'PayloadMismatch') throw error;
    return (error as PayloadMismatch).field;
  }
}

/** The record with another summary, in its payloads too. */
function withSummary(record: Json, summary: string): Json {
  const signingPayloads = Object.entries(record.signingPayloads as Json).map(([name, payload]) => {
    const typedData = JSON.parse(String(payload));
    typedData.message.summary = summary.split('\n');
    return [name, canonicalJson(typedData)];
  });
  return { ...record, summary, signingPayloads: Object.fromEntries(signingPayloads) };
}

const NATIVE = { to: payee, value: 10n ** 21n, data: '0x' };
const TOKENS = { to: token, value: 0n, data: transferData(payee, 5_000_000n) };
const ABI = parseAbi([
  'function pay((address to, uint256[] amounts)[] list, bool now, string note, bytes4 tag)',
]);
const SIGNATURE = 'pay((address,uint256[])[],bool,string,bytes4)';
const CALL = {
  to: token,
  value: 1n,
  data: encodeFunctionData({
    abi: ABI,
    args: [[{ to: getAddress(payee), amounts: [1n, 2n] }], true, 'a, "b"', '0x01020304'],
  }),
};

describe('verifyRecord', () => {
  it('verifies every payload of a record that says the same', () => {
    expect(Object.keys(verifyRecord(aProposal() as Approval))).toEqual(['initiator', 'approve', 'reject']);
    for (const call of [NATIVE, TOKENS, CALL, { ...CALL, data: '0x12345678' }]) {
      expect(Object.keys(verifyRecord(aTransaction(call, [SIGNATURE]) as Approval))).toEqual([
        'approve',
        'reject',
      ]);
    }
    expect(aTransaction(CALL, [SIGNATURE]).data.functionParameters).toHaveLength(4);
    expect(verifyRecord({ ...aProposal(), signingPayloads: undefined } as Approval)).toEqual({});
  });

  it.each(['Ð"\u200b', 'A native currency with a long name', '€'.repeat(30), ''])(
    'knows the symbol %j of a native currency in the summary',
    (symbol) => {
      expect(refused(aTransaction(NATIVE, [], symbol))).toBeUndefined();
    },
  );

  const cases: [what: string, field: string, make: () => Json, lie: (record: Json) => void][] = [
    [
      'the amount',
      'message.amount',
      () => aTransaction(NATIVE),
      ({ data }) => {
        data.rawAmount = '1000000000000000000';
      },
    ],
    [
      'the amount in whole units',
      'data.displayAmount',
      () => aTransaction(TOKENS),
      ({ data }) => {
        data.displayAmount = '0.05';
      },
    ],
    [
      'the recipient',
      'message.recipient',
      () => aTransaction(TOKENS),
      ({ data }) => {
        data.destination = anAddress();
      },
    ],
    [
      'the token',
      'message.token',
      () => aTransaction(TOKENS),
      ({ data }) => {
        data.asset.tokenAddress = anAddress();
      },
    ],
    [
      'the decimals of a token',
      'message.summary',
      () => aTransaction(TOKENS),
      ({ data }) => {
        data.asset.decimals = 8;
      },
    ],
    ...[-1, 6.5, 1e9, '6'].map((decimals): [string, string, () => Json, (record: Json) => void] => [
      `decimals (${JSON.stringify(decimals)}) of a token`,
      'data.asset.decimals',
      () => aTransaction(TOKENS),
      ({ data }) => {
        data.asset.decimals = decimals;
      },
    ]),
    [
      'the decimals of the native currency',
      'data.asset.decimals',
      () => aTransaction(NATIVE),
      ({ data }) => {
        data.asset.decimals = 21;
      },
    ],
    [
      'the symbol of the native currency',
      'data.asset.symbol',
      () => aTransaction(NATIVE),
      ({ data }) => {
        data.asset.symbol = 'USDC';
      },
    ],
    [
      'the network',
      'domain.chainId',
      () => aTransaction(NATIVE),
      (record) => Object.assign(record, { networkId: 5 }),
    ],
    [
      'the policy',
      'message.policyId',
      () => aTransaction(NATIVE),
      ({ policy }) => {
        policy.id = anId('pol');
      },
    ],
    [
      'the value',
      'message.value',
      () => aTransaction(CALL),
      (record) => Object.assign(record, { value: '0' }),
    ],
    [
      'what it replaces',
      'replaces',
      () => aTransaction(NATIVE),
      (record) => Object.assign(record, { replaces: anId('txn') }),
    ],
    [
      'the kind of transaction',
      'type',
      () => aTransaction(CALL),
      (record) => Object.assign(record, { type: 'TOKEN_TRANSFER', data: aTransaction(NATIVE).data }),
    ],
    [
      'the call, beside the fields of a transfer that says the same as the bytes,',
      'message.to',
      () => aTransaction({ ...CALL, value: 0n }, [SIGNATURE]),
      (record) =>
        Object.assign(record.data, {
          asset: { tokenAddress: zeroAddress, decimals: 18 },
          destination: token,
          rawAmount: '0',
          toAddress: payee,
          calldata: '0x',
        }),
    ],
    [
      'the recipient, beside the fields of a call that says the same as the bytes,',
      'message.recipient',
      () => aTransaction(NATIVE),
      (record) => {
        record.data = {
          networkId: 1,
          toAddress: payee,
          value: record.value,
          calldata: '0x',
          destination: anAddress(),
          rawAmount: '1',
        };
      },
    ],
    [
      'the contract',
      'message.to',
      () => aTransaction(CALL),
      ({ data }) => {
        data.toAddress = payee;
      },
    ],
    [
      'the change',
      'message.data.items[0].walletAddress',
      aProposal,
      ({ data }) => {
        data.items[0].walletAddress = anAddress();
      },
    ],
    [
      'the kind of change',
      'message.action',
      aProposal,
      (record) => Object.assign(record, { action: 'remove' }),
    ],
    [
      'time until which it can be signed (none)',
      'message.expiresAt',
      aProposal,
      (record) => Object.assign(record, { expiresAt: '' }),
    ],
    ['the id', 'message.proposalId', aProposal, (record) => Object.assign(record, { id: anId('prop') })],
    [
      'the summary',
      'message.summary[0]',
      aProposal,
      (record) => Object.assign(record, { summary: 'Rename group "A"' }),
    ],
  ];

  it.each(cases)('refuses a record with another %s than the bytes', (_, field, make, lie) => {
    const record = make();
    expect(refused(record)).toBeUndefined();
    lie(record);
    expect(refused(record)).toBe(field);
  });

  it.each(['initiatorPayload', 'rejectPayload'])('refuses a %s that is of something else', (name) => {
    const record = aProposal();
    const typedData = JSON.parse(record.signingPayloads[name]);
    typedData.domain.salt = aHash();
    record.signingPayloads[name] = canonicalJson(typedData);
    expect(refused(record)).toBe('domain.salt');
  });

  it.each([
    'refund() of nothing, and then pay',
    'Send 5 "USDC" to Alice: pay',
    'the unknown function 0x12345678',
  ])('refuses %j as the function of a call in the lines that are signed', (name) => {
    const record = aTransaction(CALL, [SIGNATURE]);
    expect(
      refused(withSummary(record, record.summary.replace('Call pay of', 'Call $pay_1 of'))),
    ).toBeUndefined();
    expect(refused(withSummary(record, record.summary.replace('Call pay of', `Call ${name} of`)))).toBe(
      'message.summary',
    );
  });

  it('refuses the payload of a proposal in a record that is none', () => {
    const { resourceType: _, ...record } = aProposal();
    const { data: calldata } = JSON.parse(record.signingPayloads.approvePayload).message;
    const shown = { ...record, type: 'TOKEN_TRANSFER', calldata, policy: {}, data: { asset: {} } };
    expect(refused(shown)).toBe('subject');
  });

  it('refuses payloads that are bound to two signatures of the initiator', () => {
    const record = aTransaction(NATIVE);
    const typedData = JSON.parse(record.signingPayloads.rejectPayload);
    typedData.message.initiatorSignatureHash = aHash();
    record.signingPayloads.rejectPayload = canonicalJson(typedData);
    expect(refused(record)).toBe('message.initiatorSignatureHash');
  });

  it('refuses a payload in the place of another vote', () => {
    const record = aTransaction(NATIVE);
    const { approvePayload, rejectPayload } = record.signingPayloads;
    record.signingPayloads = { approvePayload: rejectPayload, rejectPayload: approvePayload };
    expect(refused(record)).toBe('vote');
  });
});

describe('the state of a record that can be signed', () => {
  const [alice, bob] = [{ id: anId('mem') }, { id: anId('mem') }];

  it.each<[string, object]>([
    ['it has failed', { executionStatus: 'failed', signatureStatus: 'approvalReady', approvals: [alice] }],
    ['one has rejected', { rejections: [alice], signatureStatus: 'rejectionReady' }],
    [
      'both can be executed',
      { approvals: [alice], rejections: [bob], signatureStatus: 'approvalAndRejectionReady' },
    ],
    ['its initiator has not signed', { signatureStatus: 'pendingInitiatorSignature' }],
    [
      'nobody has to approve it',
      { threshold: 0, policy: { threshold: 0 }, signatureStatus: 'approvalReady' },
    ],
  ])('may be that %s', (_, { policy = {}, ...state }: { policy?: object }) => {
    const record = aTransaction(NATIVE);
    expect(refused({ ...record, ...state, policy: { ...record.policy, ...policy } })).toBeUndefined();
  });

  it.each<[string, object, string]>([
    ['it is completed', { executionStatus: 'completed' }, 'executionStatus'],
    ['it is rejected', { executionStatus: 'rejected' }, 'executionStatus'],
    ['it has expired', { signatureStatus: 'expired' }, 'signatureStatus'],
    ['it has all approvals', { signatureStatus: 'approvalReady' }, 'signatureStatus'],
    ['approvals are missing', { approvals: [alice] }, 'signatureStatus'],
    [
      'one member is two',
      { threshold: 2, policy: { threshold: 2 }, approvals: [alice, alice] },
      'approvals[1]',
    ],
    ['its policy needs more approvals', { policy: { threshold: 2 } }, 'policy.threshold'],
  ])('is not that %s', (_, { policy = {}, ...state }: { policy?: object }, field) => {
    const record = aTransaction(NATIVE);
    expect(refused({ ...record, ...state, policy: { ...record.policy, ...policy } })).toBe(field);
    if (field !== 'policy.threshold') expect(refused({ ...aProposal(), ...state })).toBe(field);
  });
});

describe('the lines of a proposal', () => {
  const EVE = { ...MEMBER, id: anId('mem'), name: 'Eve', walletAddress: anAddress() };
  const GROUP = { id: anId('grp'), name: 'Finance', memberIds: [] };
  const POLICY = {
    id: anId('pol'),
    name: 'Payroll',
    type: 'AUTO_APPROVAL',
    transactionType: 'ANY',
    networkId: 1,
    accountIds: null,
    accounts: [],
    initiatorSetting: null,
  };
  const policies = (...all: object[]) => ({ policies: all });
  const ADMINS = { revision: 1, members: [MEMBER, EVE], threshold: 1, onChain: true };
  const safeLine = (threshold: number) =>
    `\nAdmins' Safe ${anAddress()}, a module of each account: ${threshold} of these admins can take each account over, without this service`;
  const alice = `"Alice" (user, ${MEMBER.walletAddress})`;
  const eve = `"Eve" (user, ${EVE.walletAddress})`;

  it.each<[string, string, string, object, string, string]>([
    ['another member', 'members', 'create', { items: [EVE] }, `Add member ${eve}`, `Add member ${alice}`],
    [
      'another wallet',
      'members',
      'create',
      { items: [EVE] },
      `Add member ${eve}`,
      `Add member "Eve" (user, ${MEMBER.walletAddress})`,
    ],
    [
      'fewer members',
      'members',
      'create',
      { items: [MEMBER, EVE] },
      `Add 2 members\n${alice}\n${eve}`,
      `Add member ${alice}`,
    ],
    [
      'a member less than it counts',
      'members',
      'create',
      { items: [MEMBER, EVE] },
      `Add 2 members\n${alice}\n1 of 2 shown: data has all`,
      'Add 2 members\n1 of 2 shown: data has all',
    ],
    [
      'another change',
      'members',
      'remove',
      { items: [EVE] },
      `Remove member "Eve" (${EVE.id}, ${EVE.walletAddress})`,
      `Add member ${eve}`,
    ],
    [
      'another group',
      'groups',
      'create',
      { items: [GROUP] },
      'Create group "Finance" without members',
      'Create group "Ops" without members',
    ],
    [
      'a new policy in place of a changed one',
      'policies',
      'update',
      policies({ ...POLICY, revision: 1 }),
      `Change policy "Payroll" (${POLICY.id}), WITHOUT LIMIT, approved automatically`,
      'Create policy "Payroll", WITHOUT LIMIT, approved automatically',
    ],
    [
      'nothing of what is without limit',
      'policies',
      'create',
      policies(POLICY),
      'Create policy "Payroll", WITHOUT LIMIT, approved automatically',
      'Create policy "Payroll", approved automatically',
    ],
    [
      'nothing of what nobody approves',
      'policies',
      'create',
      policies(POLICY, { ...POLICY, id: anId('pol'), name: 'Rent' }),
      '2 policies, 2 WITHOUT LIMIT and approved automatically\nCreate policy "Payroll"\nCreate policy "Rent"',
      '2 policies, 2 WITHOUT LIMIT\nCreate policy "Payroll"\nCreate policy "Rent"',
    ],
    [
      'another threshold of the admins',
      'admins',
      'update',
      ADMINS,
      `Change the admins: threshold 2 → 1, add 1${safeLine(1)}`,
      `Change the admins: threshold stays 2, add 1${safeLine(2)}`,
    ],
    [
      "another threshold of the admins' Safe",
      'admins',
      'update',
      ADMINS,
      `Change the admins: threshold 2 → 1${safeLine(1)}`,
      `Change the admins: threshold 2 → 1${safeLine(2)}`,
    ],
  ])('are refused with %s than its data', (_, resourceType, action, data, summary, lie) => {
    const asked = { resourceType, action, data };
    expect(refused(aProposal({ ...asked, summary }))).toBeUndefined();
    expect(refused(aProposal({ ...asked, summary: lie }))).toBe('message.summary');
  });
});

describe('readApproval', () => {
  it('refuses the record of another id', async () => {
    const [asked, other] = [anId('txn'), anId('txn')];
    const api = { getTransaction: async () => ({ id: other }) } as unknown as Parameters<
      typeof readApproval
    >[0];
    await expect(readApproval(api, other)).resolves.toEqual({ id: other });
    await expect(readApproval(api, asked)).rejects.toMatchObject({ code: 'payloadMismatch', field: 'id' });
  });
});
