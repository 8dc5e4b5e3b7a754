import { checkAnswer, findOperation } from '../../support/conformance';
import type { Answer } from '../../support/http';
import { tableFaults } from '../../support/tableConformance';

const headers = {
  'x-request-id': 'x',
  'content-type': 'application/json; charset=utf-8',
  'ratelimit-limit': '1',
  'ratelimit-remaining': '1',
  'ratelimit-reset': '1',
};

function answered(body: object, more: Partial<Answer> = {}): Answer {
  const text = JSON.stringify(body);
  return { status: 200, headers, text, body: JSON.parse(text), ...more };
}
const refused = (status: number, code: string) =>
  answered({ error: { code, message: 'm' }, code, message: 'm' }, { status });

describe('the check of answers against the OpenAPI document', () => {
  const network = { id: 1, name: 'One', nativeAsset: { symbol: 'ETH', name: 'Ether', decimals: 18 } };
  const good = answered({ data: [network] });
  const ask = { method: 'GET', path: '/api/v1/networks' };

  it('passes what fits', () => {
    expect(() => checkAnswer(ask, good)).not.toThrow();
  });

  it.each<[string, Answer]>([
    ['a body without its data', answered({})],
    ['a field of another type', answered({ data: [{ ...network, id: '1' }] })],
    ['a status that is not documented', { ...good, status: 201 }],
    ['a missing header', { ...good, headers: { ...headers, 'ratelimit-limit': undefined } }],
    ['another content type', { ...good, headers: { ...headers, 'content-type': 'text/plain' } }],
    ['an error without the body of one', { ...good, status: 401 }],
    ['an error code that the operation does not have', refused(404, 'notFound')],
  ])('fails on %s', (_, answer) => {
    expect(() => checkAnswer(ask, answer)).toThrow();
  });

  it('finds operations by method and path', () => {
    expect(findOperation('GET', '/api/v1/accounts/proposals/x?y=z')?.operationId).toBe('getAccountProposal');
    expect(findOperation('POST', '/api/v1/accounts/proposals/create')?.operationId).toBe(
      'proposeAccountsCreate',
    );
    expect(findOperation('HEAD', '/api/v1/members')?.operationId).toBe('listMembers');
    expect(findOperation('GET', '/api/v1/accounts/proposals/update')).toBeUndefined();
    expect(findOperation('GET', '/elsewhere')).toBeUndefined();
  });
});

describe('the check of answers against the tables of the interface page', () => {
  const times = { createdAt: '2025-06-01T12:00:00.000Z', updatedAt: '2025-06-01T12:00:00.000Z' };
  const member = {
    id: 'mem_01jz8k3v5fe5ht0n2m6w9r4xyz',
    name: 'Dave',
    type: 'user',
    walletAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    walletKind: 'key',
  };
  const proposalId = 'prop_01jz8k3v5fe5ht0n2m6w9r4xyz';
  const proposal = {
    id: proposalId,
    resourceType: 'members',
    action: 'remove',
    signatureStatus: 'pendingReviewSignatures',
    executionStatus: null,
    threshold: 2,
    approvals: [member],
    rejections: [],
    createdAt: times.createdAt,
    expiresAt: '2025-06-08T12:00:00.000Z',
    data: { items: [member] },
    signingPayloads: { approvePayload: '{}', rejectPayload: '{}' },
    notes: [],
  };
  const resource = { type: 'member', id: member.id };
  const done = {
    ...proposal,
    signingPayloads: undefined,
    executionStatus: 'completed',
    result: { resolution: 'approved', resources: [resource] },
  };
  const faults = (data: object, path = `/members/proposals/${proposalId}`) =>
    tableFaults({ method: 'GET', path: `/api/v1${path}` }, answered({ data }));

  it('passes what fits', () => {
    expect(faults(proposal)).toEqual([]);
    expect(faults(done)).toEqual([]);
    expect(faults({ ...member, registeredAt: null, ...times }, `/members/${member.id}`)).toEqual([]);
  });

  it.each<[string, object]>([
    ['a state that is none', { signatureStatus: 'ready' }],
    ['a state that proposals do not have', { signatureStatus: 'pendingInitiatorSignature' }],
    ['no execution status', { executionStatus: undefined }],
    ['a fraction of a second in its expiry', { expiresAt: '2025-06-08T12:00:00.001Z' }],
    ['times in its data', { data: { items: [{ ...member, ...times }] } }],
    ['times of members on a response that creates nothing', { approvals: [{ ...member, ...times }] }],
    ['data of another kind', { data: { ids: [member.id] } }],
    ['a kind that does not exist', { action: 'delete' }],
    ['another resource', { resourceType: 'groups' }],
    ['payloads after its expiry', { signatureStatus: 'expired' }],
    ["the initiator's payload", { signingPayloads: { ...proposal.signingPayloads, initiatorPayload: '{}' } }],
    ['a result before its execution', { result: done.result }],
    ['no failure although it failed', { executionStatus: 'failed' }],
    ['no result after its execution', { ...done, result: undefined }],
    ['a resolution that is not its outcome', { ...done, executionStatus: 'rejected' }],
    [
      'a uri of what was removed',
      { ...done, result: { ...done.result, resources: [{ ...resource, uri: '/' }] } },
    ],
    [
      'a resource of another kind',
      { ...done, result: { ...done.result, resources: [{ ...resource, type: 'group' }] } },
    ],
  ])('fails on a proposal with %s', (_, change) => {
    expect(faults({ ...proposal, ...change })).not.toEqual([]);
  });

  it.each<[string, string, object]>([
    ['pagination that nobody asked for', '/members', { pagination: { cursor: '', hasMore: false } }],
    ['no pagination', '/audit-logs', {}],
    ['a cursor after the end', '/audit-logs', { pagination: { cursor: 'x', hasMore: false } }],
    ['no cursor before the end', '/audit-logs', { pagination: { cursor: '', hasMore: true } }],
  ])('fails on a list with %s', (_, path, more) => {
    const body = { data: [], ...more };
    expect(tableFaults({ method: 'GET', path: `/api/v1${path}` }, answered(body))).not.toEqual([]);
  });

  it('fails on an error that its endpoint does not have', () => {
    const ask = { method: 'GET', path: '/api/v1/members' };
    expect(tableFaults(ask, refused(401, 'unauthorized'))).toEqual([]);
    expect(tableFaults(ask, refused(404, 'notFound'))).not.toEqual([]);
    expect(tableFaults(ask, refused(400, 'unauthorized'))).not.toEqual([]);
  });

  it('fails on an endpoint that is not in the table', () => {
    const ask = { method: 'GET', path: '/api/v1/members/one/two' };
    expect(tableFaults(ask, answered({ data: {} }))).toEqual(['there is no such endpoint in the table']);
  });

  describe('of a transaction', () => {
    const transactionId = 'txn_01jz8k3v5fe5ht0n2m6w9r4xyz';
    const { walletAddress: address } = member;
    const review = { approvePayload: '{}', rejectPayload: '{}' };
    const transaction = {
      id: transactionId,
      accountId: 'acc_01jz8k3v5fe5ht0n2m6w9r4xyz',
      networkId: 1,
      description: '',
      type: 'CONTRACT_INTERACTION',
      to: address,
      value: '0',
      calldata: '0x12345678',
      metadata: {},
      tags: [],
      initiator: member,
      policy: { id: 'pol_01jz8k3v5fe5ht0n2m6w9r4xyz', threshold: 2 },
      signatureStatus: 'pendingReviewSignatures',
      executionStatus: null,
      threshold: 2,
      approvals: [],
      rejections: [member],
      signingPayloads: review,
      signatureData: { status: 'pendingReviewSignatures', ...review },
      data: { toAddress: address, calldata: '0x12345678', networkId: 1, value: '0' },
      notes: [],
      ...times,
      expiresAt: '2025-06-08T12:00:00.000Z',
    };
    const hash = `0x${'1'.repeat(64)}`;
    const done = {
      ...transaction,
      signingPayloads: undefined,
      executionStatus: 'completed',
      chain: { transactionHash: hash, submittedAt: times.createdAt, confirmations: 1 },
      result: { resolution: 'approved', transactionHash: hash, blockNumber: 5 },
    };
    const faultsIn = (data: object) => faults(data, `/transactions/${transactionId}`);

    it('passes what fits', () => {
      expect(faultsIn(transaction)).toEqual([]);
      expect(faultsIn(done)).toEqual([]);
      const expired = { signatureStatus: 'expired', signatureData: { status: 'expired' } };
      expect(faultsIn({ ...transaction, ...expired, signingPayloads: undefined })).toEqual([]);
    });

    it.each<[string, object]>([
      ['another status in its signature data', { signatureData: { status: 'approvalReady', ...review } }],
      ['signature data without payloads', { signatureData: { status: 'pendingReviewSignatures' } }],
      ["the initiator's payload after the initiator", { signingPayloads: { initiatorPayload: '{}' } }],
      ['payloads while it is executed', { executionStatus: 'processing' }],
      ['two thresholds', { threshold: 1 }],
      ['a result before its execution', { result: done.result }],
      ['no failure although it is blocked', { executionStatus: 'blocked' }],
      ['no result after its execution', { ...done, result: undefined }],
      ['a resolution that is not its outcome', { ...done, executionStatus: 'rejected' }],
      ['an outcome that is nowhere on chain', { ...done, chain: undefined }],
      ['data of another type', { type: 'TOKEN_TRANSFER' }],
      ['other bytes in its data', { data: { ...transaction.data, calldata: '0x' } }],
      ['a function without parameters', { data: { ...transaction.data, functionName: 'f' } }],
    ])('fails on %s', (_, change) => {
      expect(faultsIn({ ...transaction, ...change })).not.toEqual([]);
    });
  });
});
