import { type Hex, toEventSelector } from 'viem';
import { verifyAudit } from '../../src/db/audit';
import { requireRow } from '../../src/db/rows';
import type { TransactionState } from '../../src/domain/transactionState';
import { approvalWorkflowId } from '../../src/temporal/ids';
import type { HttpClient } from '../support/http';
import { NETWORK_ID } from '../support/transactions';
import { until } from '../support/until';
import { countBy } from './invariants';
import type { PaymentFixture } from './paymentFixture';
import type { Outcome, Payment } from './payments';

const SUCCESS = toEventSelector('ExecutionSuccess(bytes32,uint256)');
const FAILURE = toEventSelector('ExecutionFailure(bytes32,uint256)');

/** What an account has executed, by its own events: hashes with how each ended, in their order. */
async function executionsOf(fixture: PaymentFixture): Promise<[hash: Hex, kind: string][]> {
  const logs = await fixture.chain.request({
    method: 'eth_getLogs',
    params: [
      {
        address: fixture.account.address as Hex,
        topics: [[SUCCESS, FAILURE]],
        fromBlock: '0x0',
        toBlock: 'latest',
      },
    ],
  });
  return logs.map(({ topics }) => [topics[1] as Hex, topics[0] === SUCCESS ? 'success' : 'failure']);
}

/**
 * Everything that must hold about a transaction that has ended, whatever was killed meanwhile: one effect
 * on the chain or none, its budget, record, votes, evidence and attempts, one audit entry per change, one answer per
 * idempotency key, and a workflow with the state of Postgres.
 */
export async function expectOneEffect(payment: Payment, expected: Outcome, http: HttpClient): Promise<void> {
  const { fixture, id } = payment;
  const { db } = fixture.api;
  const { org } = fixture;
  const completed = expected.status === 'completed';
  const executions = expected.executions ?? 1;

  const row = await payment.row();
  expect(row).toMatchObject({
    execution_status: expected.status,
    execution_attempt: executions,
    failure: expected.failure === undefined ? null : { code: expected.failure, attempt: executions },
    waiting_for: null,
    awaits_relayer_wei: null,
    cancelling: false,
  });
  // What was signed is decided for good.
  const rejected = expected.status === 'rejected';
  const closed = completed || rejected || expected.attempts.length > 0;
  expect(row.closed_at !== null).toBe(closed);
  const votes = await db('votes').where({ approval_id: id }).orderBy('id');
  expect(votes.map(({ type }) => type)).toEqual(expected.votes);
  const messages = await db('received_messages').where({ approval_id: id });
  expect(countBy(messages, 'kind')).toEqual(expected.messages);
  const evidence = await db('evidence').where({ approval_id: id });
  expect(evidence).toHaveLength(rejected ? 1 : executions);
  const authorization = await db('authorizations').where({ transaction_id: id }).first();
  expect(authorization?.outcome === 'rejected').toBe(rejected);

  const usage = await db('policy_usage').where({ transaction_id: id }).orderBy('id');
  const amount = row.type === 'TOKEN_TRANSFER' ? payment.amount : 0n;
  expect(usage.map((one) => [one.status, BigInt(one.amount)])).toEqual(
    expected.usage.map((status) => [status, amount]),
  );

  const attempts = await payment.attempts();
  expect(attempts).toMatchObject(expected.attempts);
  const executed = await executionsOf(fixture);
  for (const attempt of attempts) {
    const kinds = executed.filter(([hash]) => hash === attempt.safe_tx_hash).map(([, kind]) => kind);
    const wanted = { executed: ['success'], reverted: ['failure'], cancelled: [] };
    expect([attempt.kind, attempt.outcome, kinds]).toEqual([
      attempt.kind,
      attempt.outcome,
      wanted[attempt.outcome as keyof typeof wanted],
    ]);
  }
  // Nothing else was ever executed, and no nonce is left out.
  const all = await db('chain_attempts').where({ account_id: fixture.account.id }).whereNotNull('safe_nonce');
  const decided = all.filter(({ outcome }) => outcome !== 'cancelled');
  expect(executed.map(([hash]) => hash).sort()).toEqual(decided.map((one) => one.safe_tx_hash).sort());
  const nonces = decided.map(({ safe_nonce }) => Number(safe_nonce)).sort((one, two) => one - two);
  expect(nonces).toEqual(nonces.map((_, index) => index));
  if (row.type === 'TOKEN_TRANSFER') {
    expect(await fixture.chain.getBalance({ address: payment.to })).toBe(completed ? payment.amount : 0n);
  }
  const envelopes = await payment.envelopes();
  const mined = envelopes.filter(({ outcome }) => outcome === 'mined');
  expect(mined).toHaveLength(attempts.filter(({ outcome }) => outcome !== 'cancelled').length);
  expect(envelopes.filter(({ outcome }) => outcome === null)).toEqual([]);
  if (expected.fillers !== undefined) {
    const fillers = await db('chain_attempts').where({ kind: 'filler', network_id: BigInt(NETWORK_ID) });
    const before = all.filter(({ transaction_id }) => transaction_id === id).map(({ id: own }) => own);
    expect(fillers.filter((one) => one.id > (before[0] ?? 0n))).toHaveLength(expected.fillers);
  }
  if (completed) {
    const attempt = requireRow(attempts[0]);
    const block = await fixture.chain.getBlock({ blockNumber: requireRow(attempt.block_number) });
    const receipt = await fixture.chain.getTransactionReceipt({
      hash: requireRow(attempt.outcome_hash) as Hex,
    });
    expect(row.result).toEqual({
      resolution: 'approved',
      transactionHash: attempt.outcome_hash,
      blockNumber: Number(attempt.block_number),
      executedAt: new Date(Number(block.timestamp) * 1_000).toISOString(),
      fee: String(receipt.gasUsed * receipt.effectiveGasPrice),
    });
    expect(block.hash).toBe(attempt.block_hash);
    expect(block.transactions).toContain(attempt.outcome_hash);
    expect(usage.at(-1)?.block_at).toEqual(new Date(Number(block.timestamp) * 1_000));
  }

  const entries = await db('audit_log').where({ resource_id: id });
  const verbs = entries.map(({ action }) => ({ verb: String(action).replace('transaction.', '') }));
  expect(countBy(verbs, 'verb')).toEqual(expected.audit);
  expect(await verifyAudit(db, org.id)).toMatchObject({ ok: true });

  for (const { ask, answer } of payment.asked) {
    const again = await http.send(ask);
    expect([ask.path, again.status, again.text]).toEqual([ask.path, answer.status, answer.text]);
    expect(again.headers['idempotency-replayed']).toBe('true');
  }

  const handle = fixture.temporal.workflow.getHandle(
    approvalWorkflowId({ subject: 'transaction', organizationId: org.id, id: id }),
  );
  await until(
    `the workflow of ${id} has the state of its record`,
    async () => {
      const { name } = (await handle.describe()).status;
      const state = (closed ? await handle.result() : await handle.query('state')) as TransactionState | null;
      return (
        name === (closed ? 'COMPLETED' : 'RUNNING') &&
        state?.version === row.version &&
        state?.executionStatus === expected.status
      );
    },
    60_000,
  );
}
