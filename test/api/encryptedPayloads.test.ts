import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { approvalWorkflowId } from '../../src/temporal/ids';
import { searchAttributes } from '../../src/temporal/searchAttributes';
import { propose, sharedApi, startApi } from '../support/api';
import { anAddress } from '../support/builders';
import { makePayingOrganization } from '../support/payingOrganization';
import { sign, type TestService } from '../support/service';
import { sharedStack, temporaryDir } from '../support/stack';
import { aTransactionBody, initiate, settledTransaction, signed } from '../support/transactionApi';

const WEI = '987';
const AMOUNT = `0.${WEI.padStart(18, '0')}`;
const REASON = 'It is not what we have agreed upon';

let temporal: Connection;
beforeAll(async () => {
  temporal = await Connection.connect({ address: sharedStack().temporalAddress });
});
afterAll(() => temporal?.close());

/** Every text and all bytes in a value, as text in lower case. */
function textIn(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1').toLowerCase();
  if (typeof value === 'string') return value.toLowerCase();
  if (typeof value !== 'object' || value === null) return '';
  return Object.values(value).map(textIn).join('\n');
}

/** All that Temporal has of a workflow, as whoever runs it reads it. */
async function storedOf(workflowId: string): Promise<string> {
  const handle = new Client({ connection: temporal }).workflow.getHandle(workflowId);
  const [history, { raw }, metadata] = await Promise.all([
    handle.fetchHistory(),
    handle.describe(),
    temporal.workflowService.queryWorkflow({
      namespace: 'default',
      execution: { workflowId },
      query: { queryType: '__temporal_workflow_metadata' },
    }),
  ]);
  return textIn([history, raw, metadata]);
}

/** An account is proposed and rejected with a reason, and a payment made. Returns what Temporal should not learn, and what it has. */
async function told(api: TestService) {
  const { org, account, policies } = await makePayingOrganization(api);
  const name = `Vault ${randomBytes(6).toString('hex')}`;
  const proposal = await propose(api.http, org, { name });
  const refused = await sign(api.http, org.adminKey, proposal, org.alice, 'reject', { reason: REASON });
  expect(refused.status).toBe(200);
  const to = anAddress();
  const body = aTransactionBody(org, { account, policy: policies.approved, to }, { value: WEI });
  const payment = await initiate(api.http, org, body);
  await signed(api.http, org, payment, org.alice, 'approve', { execute: true });
  expect(await settledTransaction(api.http, org, payment)).toMatchObject({ executionStatus: 'completed' });
  const ids = { organizationId: org.id } as const;
  const [ofProposal, ofPayment] = await Promise.all([
    storedOf(approvalWorkflowId({ ...ids, subject: 'proposal', resourceType: 'accounts', id: proposal.id })),
    storedOf(approvalWorkflowId({ ...ids, subject: 'transaction', id: payment.id })),
  ]);
  const secrets = { name, member: org.alice.name, reason: REASON, to, amount: AMOUNT };
  const stored = `${ofProposal}\n${ofPayment}`;
  const has = (text: string) => stored.includes(text.toLowerCase());
  return {
    shown: Object.entries(secrets).flatMap(([what, text]) => (has(text) ? [what] : [])),
    hasIds: has(org.id) && has(payment.id),
    hasAmount: has(searchAttributes.amount.name),
  };
}

it('Temporal has names, reasons, addresses and amounts, where nobody has set keys', async () => {
  const shown = ['name', 'member', 'reason', 'to', 'amount'];
  expect(await told(await sharedApi())).toEqual({ shown, hasIds: true, hasAmount: true });
});

it('Temporal has none of them where keys are set, and payments are made all the same', async () => {
  const file = join(temporaryDir(), 'payload-keys.json');
  const keys = { first: randomBytes(32).toString('base64') };
  writeFileSync(file, JSON.stringify({ current: 'first', keys }), { mode: 0o600 });
  const api = await startApi({ env: { TEMPORAL_PAYLOAD_KEYS_FILE: file } });
  try {
    expect(await told(api)).toEqual({ shown: [], hasIds: true, hasAmount: false });
  } finally {
    await api.stop();
  }
});
