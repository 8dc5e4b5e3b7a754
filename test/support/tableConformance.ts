import type { Answer, Ask } from './http';
import {
  BASE,
  CONDITION_OF,
  ENDPOINTS,
  type EndpointRow,
  ERROR,
  ERROR_CODES,
  PAGE_SIZE,
  PAGINATION,
  POLICY,
  PROPOSAL_DATA,
  type ResourceType,
  SINGULAR,
  TRANSACTION,
  TRANSACTION_DATA,
} from './interfaceTables';
import { faultsOf } from './shapes';

// biome-ignore lint/suspicious/noExplicitAny: a body of any shape, looked at with care
type Body = any;

const rows = ENDPOINTS.map((row) => ({
  row,
  pattern: new RegExp(`^${BASE}${row.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
})) // A literal segment is not a parameter's value.
  .sort((one, two) => one.row.path.split('{').length - two.row.path.split('{').length);

/** The row of the table of endpoints that a request is for. */
function findRow(method: string, url: string): EndpointRow | undefined {
  const path = url.split('?')[0] ?? '';
  const verb = method === 'HEAD' ? 'get' : method.toLowerCase();
  const literal = rows.find(({ pattern }) => pattern.test(path));
  return rows.find(({ row }) => row.path === literal?.row.path && row.method === verb)?.row;
}

/** Whether something holds, and what is wrong when it does not. */
type Rule = readonly [boolean, string];

function broken(rules: readonly Rule[]): string[] {
  return rules.filter(([holds]) => !holds).map(([, fault]) => fault);
}

function hasKeyWithin(value: unknown, names: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, inner]) => names.includes(key) || hasKeyWithin(inner, names));
}

function resultFaults({ resourceType, action, executionStatus, result }: Body): string[] {
  const executed = executionStatus === 'completed' || executionStatus === 'rejected';
  if (!executed) return result === undefined ? [] : ['there is a result, but no execution'];
  if (!result) return ['it was executed, but there is no result'];
  const { type, prefix } = SINGULAR[resourceType as ResourceType];
  const ends = action === 'remove' || action === 'delete';
  const approved = executionStatus === 'completed';
  return [
    ...(result.resolution === (approved ? 'approved' : 'rejected') ? [] : ['the resolution is another']),
    ...(result.resources.length > 0 === approved ? [] : ['resources are there although it was rejected']),
    ...result.resources.flatMap((resource: Body) => [
      ...faultsOf({ id: prefix }, resource.id, 'resource.id'),
      ...(resource.type === type ? [] : [`a resource of type ${resource.type}`]),
      ...(resource.uri === (ends ? undefined : `${BASE}/${resourceType}/${resource.id}`)
        ? []
        : [`the uri of a resource is ${resource.uri}`]),
    ]),
  ];
}

function proposalFaults(row: EndpointRow, proposal: Body): string[] {
  const { resourceType, action, signatureStatus, executionStatus, signingPayloads, data } = proposal;
  const kind = `${resourceType}/${action}`;
  const shape = PROPOSAL_DATA[kind];
  if (!shape) return [`there is no kind ${kind}`];
  const created = row.status === 201;
  const open = [null, 'failed', 'blocked'].includes(executionStatus) && signatureStatus !== 'expired';
  const rules: Rule[] = [
    [row.proposals?.resources.includes(resourceType) === true, `a proposal about ${resourceType}`],
    [row.proposals?.actions.includes(action) === true, `a proposal of action ${action}`],
    [!hasKeyWithin(data, ['createdAt', 'updatedAt']), 'times in data'],
    [proposal.threshold >= 1, 'a threshold below 1'],
    [signatureStatus !== 'pendingInitiatorSignature', 'an initiator who has to sign a proposal'],
    [open || signingPayloads === undefined, 'payloads that nobody can sign'],
    [!created || signingPayloads !== undefined, 'no payloads on a new proposal'],
    [
      signingPayloads === undefined || 'initiatorPayload' in signingPayloads === created,
      'initiatorPayload belongs on what creates, and only there',
    ],
    [
      !['failed', 'blocked'].includes(executionStatus) || proposal.failure !== undefined,
      'no failure on what failed',
    ],
    [
      created || !hasKeyWithin([proposal.approvals, proposal.rejections], ['createdAt', 'updatedAt']),
      'times of members on what creates nothing',
    ],
  ];
  return [
    ...broken(rules),
    ...faultsOf(shape, data, 'data'),
    ...resultFaults(proposal),
    ...(resourceType === 'policies' ? data.policies.flatMap(policyFaults) : []),
  ];
}

function settingFaults(setting: Body): string[] {
  if (!setting) return [];
  const { type, memberId, userId, groupId } = setting;
  const fits =
    type === 'user'
      ? memberId !== undefined && groupId === undefined
      : memberId === undefined && groupId !== undefined;
  return [
    ...(fits && memberId === userId ? [] : [`a setting that names ${memberId}, ${userId} and ${groupId}`]),
    ...(type === 'user' && 'threshold' in setting ? ['a threshold of one member'] : []),
  ];
}

function policyFaults(policy: Body): string[] {
  const own = CONDITION_OF[policy.transactionType];
  const conditions = Object.values(CONDITION_OF).filter((name) => name !== undefined && name in policy);
  return [
    ...(conditions.join() === (own ?? '') ? [] : [`${policy.transactionType} has ${conditions}`]),
    ...((policy.approverSetting === undefined) === (policy.type === 'AUTO_APPROVAL')
      ? []
      : ['approver and type']),
    ...settingFaults(policy.initiatorSetting),
    ...settingFaults(policy.approverSetting),
  ];
}

/** The payloads that a transaction shows in a status. */
function payloadsIn(signatureStatus: string): string {
  if (signatureStatus === 'expired') return '';
  return signatureStatus === 'pendingInitiatorSignature'
    ? 'initiatorPayload'
    : 'approvePayload,rejectPayload';
}

/** What the initiator signs again, beside the others: their contract wallet may not accept what it was blocked for. */
function againIn({ executionStatus, failure, initiator, signatureStatus }: Body): string {
  const again =
    executionStatus === 'blocked' && failure?.code === 'stale' && initiator.walletKind === 'contract';
  return again && signatureStatus !== 'pendingInitiatorSignature' ? ',initiatorPayload' : '';
}

function signingRules(transaction: Body): Rule[] {
  const { signatureStatus, executionStatus, signingPayloads, signatureData } = transaction;
  const { status, ...kept } = signatureData;
  const payloads = payloadsIn(signatureStatus);
  const waits = [null, 'failed', 'blocked'].includes(executionStatus) && signatureStatus !== 'expired';
  return [
    [status === signatureStatus, `signatureData of ${status}`],
    [Object.keys(kept).sort().join() === payloads, `signatureData has ${Object.keys(kept)}`],
    [waits || signingPayloads === undefined, 'payloads that nobody can sign'],
    [
      signingPayloads === undefined ||
        Object.keys(signingPayloads).sort().join() ===
          [...`${payloads}${againIn(transaction)}`.split(',')].sort().join(),
      `${signatureStatus} has ${Object.keys(signingPayloads ?? {})}`,
    ],
  ];
}

function executionRules({ executionStatus, failure, result, chain }: Body): Rule[] {
  const executed = executionStatus === 'completed' || executionStatus === 'rejected';
  return [
    [executed === (result !== undefined), 'a result belongs to what was executed, and only there'],
    [
      !executed || result?.resolution === (executionStatus === 'completed' ? 'approved' : 'rejected'),
      'the resolution is another',
    ],
    [
      executionStatus !== 'completed' ||
        (result?.transactionHash !== undefined && result.blockNumber !== undefined && chain),
      'it is completed and nowhere on chain',
    ],
    [!['failed', 'blocked'].includes(executionStatus) || failure !== undefined, 'no failure on what failed'],
  ];
}

function contentRules({ type, data, networkId, calldata, value }: Body): Rule[] {
  const isTransfer = type === 'TOKEN_TRANSFER';
  return [
    [
      isTransfer || 'functionName' in data === 'functionParameters' in data,
      'a function without parameters, or the other way round',
    ],
    [data.networkId === networkId, 'another network in data'],
    [isTransfer || (data.calldata === calldata && data.value === value), 'other bytes in data'],
  ];
}

function transactionFaults(row: EndpointRow, transaction: Body): string[] {
  const { type, data, signatureStatus, executionStatus, policy, threshold } = transaction;
  const shape = TRANSACTION_DATA[type];
  if (!shape) return [`there is no type ${type}`];
  return [
    ...broken([
      ...signingRules(transaction),
      ...executionRules(transaction),
      ...contentRules(transaction),
      [policy.threshold === threshold, 'two thresholds'],
      [
        row.status !== 201 || (signatureStatus === 'pendingInitiatorSignature' && executionStatus === null),
        'it is new, and more than that',
      ],
    ]),
    ...faultsOf(shape, data, 'data'),
  ];
}

function simulationFaults({ status, gas, reason, blockNumber }: Body): string[] {
  return broken([
    [(status === 'succeeds') === (gas !== undefined), `${status} with gas ${gas}`],
    [(status === 'fails') === (reason !== undefined), `${status} with the reason ${reason}`],
    [(status === 'unavailable') === (blockNumber === undefined), `${status} at block ${blockNumber}`],
  ]);
}

const USUAL_SIZES: { readonly [path: string]: number } = {
  '/transactions': PAGE_SIZE.ofTransactions,
  '/events': PAGE_SIZE.ofEvents,
};

/** Results on a page where a request does not say how many. */
function sizeOf({ path }: EndpointRow, query: URLSearchParams): number {
  const asked = query.has('limit') || !query.has('cursor');
  return asked ? Number(query.get('limit') ?? USUAL_SIZES[path] ?? PAGE_SIZE.default) : PAGE_SIZE.maximum;
}

function pageFaults(row: EndpointRow, query: URLSearchParams, body: Body): string[] {
  const isFeed = row.form === 'feed';
  const isAlways = row.form === 'page' || isFeed;
  if (!isAlways && !query.has('limit') && !query.has('cursor')) {
    return body.pagination === undefined ? [] : ['it is paged although nobody asked'];
  }
  const faults = faultsOf(PAGINATION, body.pagination, 'pagination');
  if (faults.length > 0) return faults;
  const limit = isAlways || query.has('limit') ? sizeOf(row, query) : PAGE_SIZE.maximum;
  const { cursor, hasMore } = body.pagination;
  return broken([
    // A feed can always go on.
    [(isFeed || hasMore) === (cursor !== ''), 'hasMore and cursor contradict each other'],
    [body.data.length <= limit, `${body.data.length} entries on a page of ${limit}`],
  ]);
}

/** The row for an answer to a request that has created something before: with that as it is now. */
function rowOf(row: EndpointRow, { status, headers }: Answer): EndpointRow {
  const existing = row.status === 201 && status === 200 && headers['idempotency-replayed'] === 'true';
  return existing ? { ...row, status: 200 } : row;
}

/** What has created something says where that is. */
function placeFaults(row: EndpointRow, { body, headers, status }: Answer): string[] {
  const { data } = body;
  const place = row.proposals
    ? `${BASE}/${data.resourceType}/proposals/${data.id}`
    : `${BASE}/transactions/${data.id}`;
  const isThere = status === 201 || headers.location !== undefined;
  return isThere && headers.location !== place ? [`the location is ${headers.location}`] : [];
}

function successFaults(row: EndpointRow, { path }: Ask, answer: Answer): string[] {
  const { body, status } = answer;
  if (status !== row.status) return [`the status is not ${row.status}`];
  const data = faultsOf(row.form === 'one' ? row.data : { listOf: row.data }, body.data, 'data');
  if (data.length > 0) return data;
  const items: Body[] = row.form === 'one' ? [body.data] : body.data;
  const query = new URLSearchParams(path.split('?')[1] ?? '');
  return [
    ...(row.proposals ? items.flatMap((item) => proposalFaults(row, item)) : []),
    ...(row.data === POLICY ? items.flatMap(policyFaults) : []),
    ...(row.data === TRANSACTION ? items.flatMap((item) => transactionFaults(row, item)) : []),
    ...(row.path.endsWith('/simulation') ? items.flatMap(simulationFaults) : []),
    ...(row.path === '/audit-logs'
      ? items.filter(({ action }) => !/^[a-z][A-Za-z]*\.[a-z][A-Za-z]*$/.test(action)).map(({ id }) => id)
      : []),
    ...(row.form === 'one' ? [] : pageFaults(row, query, body)),
    ...placeFaults(row, answer),
  ];
}

function errorFaults(row: EndpointRow | undefined, { body, status }: Answer): string[] {
  const faults = faultsOf(ERROR, body);
  if (faults.length > 0) return faults;
  const code: keyof typeof ERROR_CODES = body.error.code;
  const rules: Rule[] = [
    [body.code === code && body.message === body.error.message, 'top level and error differ'],
    [ERROR_CODES[code] === status, `${code} has the status ${ERROR_CODES[code]}`],
    [row === undefined || row.codes.includes(code), `the endpoint has no ${code}`],
  ];
  return broken(rules);
}

/** Everything in which an answer is other than the tables of the interface page say. */
export function tableFaults(ask: Ask & { method: string }, answer: Answer): string[] {
  if (answer.text === '' || !ask.path.startsWith(`${BASE}/`)) return [];
  const row = findRow(ask.method, ask.path);
  if (answer.status >= 400) return errorFaults(row, answer);
  return row ? successFaults(rowOf(row, answer), ask, answer) : ['there is no such endpoint in the table'];
}
