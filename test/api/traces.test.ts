/** @deep */

import { readFileSync } from 'node:fs';
import { Client, Connection } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { createLogger } from '../../src/logging';
import { approvalWorkflowId } from '../../src/temporal/ids';
import { installTemporalRuntime } from '../../src/workers';
import { workflowSource } from '../../src/workflowSource';
import { makeAccount, type Shown, startApi } from '../support/api';
import { anAddress } from '../support/builders';
import type { HttpClient } from '../support/http';
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from '../support/otlpReceiver';
import { anAnyPolicyItem } from '../support/policies';
import { type RpcProxy, startRpcProxy } from '../support/rpcProxy';
import { serviceSettings, type TestOrganization, type TestService } from '../support/service';
import { fundOnLocalChain, networksFile, sharedStack } from '../support/stack';
import { describeDeep, itDeep } from '../support/suite';
import {
  aTransactionBody,
  createTransaction,
  makePolicies,
  settledTransaction,
  signatureBody,
  signed,
  transactionPath,
} from '../support/transactionApi';
import { until } from '../support/until';

const RPC_KEY = 'key-of-the-rpc-provider';
const COLLECTOR_KEY = 'key-of-the-collector';

let receiver: OtlpReceiver;
let rpc: RpcProxy;
let settings: NodeJS.ProcessEnv;
let service: TestService | undefined;
let temporal: Connection;
let org: TestOrganization;
let account: Shown;
let policy: Shown;

const api = () => service as TestService;

/** Starts the service that is stopped, with or without traces. */
async function start(traced: boolean): Promise<void> {
  const { url: OTEL_EXPORTER_OTLP_ENDPOINT } = receiver;
  const tracing = { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: `x-key=${COLLECTOR_KEY}` };
  service = await startApi({ env: { ...settings, ...(traced ? tracing : {}) }, database: settings });
}

async function restart(traced: boolean): Promise<void> {
  await service?.stop();
  await start(traced);
}

let traces = 0;

/** The trace of a caller. */
function aTrace(): { traceId: string; spanId: string; traceparent: string } {
  traces += 1;
  const traceId = `${'a'.repeat(30)}${String(traces).padStart(2, '0')}`;
  const spanId = 'b'.repeat(16);
  return { traceId, spanId, traceparent: `00-${traceId}-${spanId}-01` };
}

/** A client whose requests belong to a trace. */
function within({ traceparent }: { traceparent: string }): HttpClient {
  const { http } = api();
  const send: HttpClient['send'] = (ask) => http.send({ ...ask, headers: { ...ask.headers, traceparent } });
  return { send } as HttpClient;
}

const payment = () => aTransactionBody(org, { account, policy, to: anAddress() });

/** Signs as its initiator, which the policy lets execute it, and waits for the outcome. */
async function pay(http: HttpClient, transaction: Shown): Promise<Shown> {
  await signed(http, org, transaction, org.dave, 'initiator', { execute: true });
  return settledTransaction(api().http, org, transaction);
}

const handleOf = ({ id }: Shown) =>
  new Client({ connection: temporal }).workflow.getHandle(
    approvalWorkflowId({ subject: 'transaction', organizationId: org.id, id }),
  );

/** The spans of a trace, once there are some of these names. */
function spansOf({ traceId }: { traceId: string }, ...names: string[]): Promise<ReceivedSpan[]> {
  return until(`the collector has ${names}`, async () => {
    const found = receiver.spans.filter((span) => span.traceId === traceId);
    return names.every((name) => found.some((span) => span.name === name)) && found;
  });
}

function logLines(): { trace_id?: string; msg: string; activity?: string }[] {
  const file = `${settings.ORGWALLET_DATA_DIR}/service-${settings.OPS_PORT}.log`;
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

beforeAll(async () => {
  receiver = await startOtlpReceiver();
  temporal = await Connection.connect({ address: sharedStack().temporalAddress });
  const [chain] = sharedStack().chains;
  if (!chain) throw new Error('there is no chain');
  rpc = await startRpcProxy(chain.rpcUrl, (_body, pass) => pass());
  const rpcUrls = [`${rpc.url}/v2/${RPC_KEY}`];
  settings = await serviceSettings({
    env: { NETWORKS_FILE: networksFile([{ id: 31_337, name: 'Local', rpcUrls }]), LOG_LEVEL: 'info' },
  });
  await start(true);
  org = await api().createOrganization();
  account = await makeAccount(api().http, org);
  await fundOnLocalChain(chain.rpcUrl, account.address);
  [policy] = await makePolicies(api().http, org, anAnyPolicyItem({ name: 'At once' }));
}, 120_000);
afterAll(async () => {
  await service?.stop();
  await temporal?.close();
  await rpc?.stop();
  await receiver?.stop();
});

describe('with a collector', () => {
  it('a payment is one trace, that of its caller, from the request to the calls of the network', async () => {
    const trace = aTrace();
    const transaction = await createTransaction(within(trace), org, payment());
    const body = await signatureBody(transaction, org.dave, 'initiator', { execute: true });
    const path = transactionPath(transaction.id, '/signatures');
    expect(await within(trace).send({ key: org.readKey, path, body })).toMatchObject({ status: 200 });
    const settled = await settledTransaction(api().http, org, transaction);
    expect(settled).toMatchObject({ executionStatus: 'completed' });
    const signing = 'POST /api/v1/transactions/{txId}/signatures';
    const spans = await spansOf(trace, 'finishTransaction', signing);
    const named = new Map(spans.map((span) => [span.name, span]));
    expect([...named.keys()]).toEqual(
      expect.arrayContaining([
        ...['POST /api/v1/transactions', signing],
        ...['start transactionWorkflow', 'handle created', 'update sign', 'handle sign'],
        ...['createApproval', 'recordVote', 'signTransaction', 'finishTransaction'],
        ...['eth_call', 'eth_sendRawTransaction'],
      ]),
    );
    // Each was caused by another one of them, or by the caller.
    const ids = new Set([trace.spanId, ...spans.map(({ spanId }) => spanId)]);
    expect(spans.filter(({ parentSpanId }) => !ids.has(parentSpanId))).toEqual([]);
    const parentOf = (name: string) =>
      spans.find(({ spanId }) => spanId === named.get(name)?.parentSpanId)?.name;
    expect(parentOf('update sign')).toBe(signing);
    expect(parentOf('handle sign')).toBe('update sign');
    expect(parentOf('recordVote')).toBe('handle sign');
    expect(parentOf('signTransaction')).toBe('handle sign');
    expect(parentOf('createApproval')).toBe('start transactionWorkflow');
    expect(named.get('eth_sendRawTransaction')?.attributes).toMatchObject({
      'rpc.method': 'eth_sendRawTransaction',
      'server.address': rpc.host,
      'orgwallet.network_id': 31_337,
    });
    // The log and Temporal have it too.
    const logged = logLines().filter(({ trace_id }) => trace_id === trace.traceId);
    expect(logged.map(({ msg }) => msg)).toContain('request');
    expect(logged.map(({ activity }) => activity)).toEqual(
      expect.arrayContaining(['recordVote', 'signTransaction', 'finishTransaction']),
    );
    expect((await handleOf(transaction).describe()).memo).toEqual({ traceId: trace.traceId });
    // Spans have no key, no signature and no path of an endpoint.
    const sent = receiver.text();
    expect(sent).toContain(COLLECTOR_KEY);
    expect(sent).toContain(transaction.id);
    const signature = body.signature.slice(2, 40);
    for (const secret of [RPC_KEY, '/v2/', org.readKey, signature, settings.KEYSTORE_PASSPHRASE])
      expect(sent).not.toContain(secret);
    expect(JSON.stringify(receiver.spans)).not.toContain(COLLECTOR_KEY);
  });

  it('an error names its trace, which is a new one if the caller has none', async () => {
    const ask = { key: org.readKey, path: transactionPath('txn_01jz8k3v5fe5ht0n2m6w9r4xyz') };
    const trace = aTrace();
    const { status, headers } = await within(trace).send(ask);
    expect(status).toBe(404);
    expect(headers.traceresponse).toMatch(new RegExp(`^00-${trace.traceId}-[0-9a-f]{16}-01$`));
    const own = await api().http.send({ ...ask, headers: { traceparent: `00-${'0'.repeat(32)}-1-01` } });
    const [, traceId = ''] = String(own.headers.traceresponse).split('-');
    const [span] = await spansOf({ traceId }, 'GET /api/v1/transactions/{txId}');
    expect(span?.attributes).toMatchObject({
      'http.response.status_code': 404,
      'orgwallet.request_id': own.headers['x-request-id'],
    });
  });

  itDeep('one that does not answer delays no payment and no stop', async () => {
    receiver.hang(true);
    const transaction = await createTransaction(within(aTrace()), org, payment());
    await until('the collector is asked', async () => receiver.hanging() > 0);
    expect(await pay(within(aTrace()), transaction)).toMatchObject({ executionStatus: 'completed' });
    await restart(true);
    receiver.hang(false);
  });
});

describeDeep('a payment goes on that was begun', () => {
  it('without a collector, with one', async () => {
    await restart(false);
    const answer = await within(aTrace()).send({ key: org.readKey, path: '/api/v1/accounts' });
    expect(answer.headers).not.toHaveProperty('traceresponse');
    const logged = logLines().length;
    const transaction = await createTransaction(within(aTrace()), org, payment());
    const { events } = await handleOf(transaction).fetchHistory();
    expect(JSON.stringify(events)).not.toContain('_tracer-data');
    expect(JSON.stringify(logLines().slice(logged))).not.toContain('trace_id');
    await restart(true);
    const trace = aTrace();
    expect(await pay(within(trace), transaction)).toMatchObject({ executionStatus: 'completed' });
    await spansOf(trace, 'signTransaction');
    await expect(replay(transaction)).resolves.toBeUndefined();
  });

  it('with a collector, without one', async () => {
    const transaction = await createTransaction(within(aTrace()), org, payment());
    await restart(false);
    expect(await pay(api().http, transaction)).toMatchObject({ executionStatus: 'completed' });
    await expect(replay(transaction)).resolves.toBeUndefined();
  });
});

/** In a thread of its own: what records promises for stack traces would slow down every later test of this process. */
const replaying = () => ({ ...workflowSource(), debugMode: false });

async function replay(transaction: Shown): Promise<void> {
  await installTemporalRuntime(createLogger('error'));
  const history = await handleOf(transaction).fetchHistory();
  await Worker.runReplayHistory(replaying(), history, 'traced');
}
