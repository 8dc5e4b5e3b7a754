import type { Hex } from 'viem';
import { requireRow } from '../../src/db/rows';
import type { ApprovalRow, TransactionRow } from '../../src/db/tables';
import type { Shown } from '../support/api';
import { anAddress } from '../support/builders';
import type { HttpClient } from '../support/http';
import { fundRelayers, type TestMember } from '../support/service';
import { rpc } from '../support/stack';
import { aTransactionBody, signatureBody, TRANSACTIONS, transactionPath } from '../support/transactionApi';
import { NETWORK_ID } from '../support/transactions';
import { until } from '../support/until';
import { type Asked, type PaymentFixture, type PolicyName, sendUntilAnswered } from './paymentFixture';

const LIMIT_MS = 120_000;

/** The records of a transaction at its end, apart from those that are equal in all scenarios. */
export interface Outcome {
  readonly status: 'completed' | 'failed' | 'rejected';
  /** Code of the failure. */
  readonly failure?: string;
  /** Executions that were begun. */
  readonly executions?: number;
  readonly votes: readonly string[];
  readonly messages: { readonly [kind: string]: number };
  /** Status of each reservation, oldest first. */
  readonly usage: readonly string[];
  /** What was signed for the account, oldest first, and its outcome. */
  readonly attempts: readonly { readonly kind: string; readonly outcome: string }[];
  /** Entries of the audit log. */
  readonly audit: { readonly [verb: string]: number };
  /** Nonces of the relayer that were filled. */
  readonly fillers?: number;
}

/** A transaction, request by request. */
export class Payment {
  readonly asked: Asked[] = [];
  readonly to: Hex;
  readonly amount: bigint;
  private shown: Shown;

  constructor(
    readonly fixture: PaymentFixture,
    private readonly http: () => HttpClient,
    /** Resolves when the victim has been killed. */
    readonly killed: Promise<void>,
    /** Starts the victim again after the test itself has stopped it. */
    readonly startVictim: () => Promise<void>,
    to: Hex = anAddress() as Hex,
  ) {
    this.to = to;
    this.amount = 1n + BigInt(Math.floor(Math.random() * 1_000));
  }

  get id(): string {
    return this.shown.id;
  }

  private async send(path: string, body: object): Promise<void> {
    const { readKey } = this.fixture.org;
    const asked = await sendUntilAnswered(this.http, { key: readKey, path, body });
    this.asked.push(asked);
    this.shown = asked.answer.body.data;
  }

  async create(policyName: PolicyName): Promise<void> {
    const { org, account, policies } = this.fixture;
    const of = { account, policy: policies[policyName], to: this.to };
    const call = policyName === 'calls' ? { value: '0', data: '0x01020304' } : { value: String(this.amount) };
    await this.send(TRANSACTIONS, aTransactionBody(org, of, call));
  }

  async sign(member: TestMember, type: 'initiator' | 'approve' | 'reject', execute = false): Promise<void> {
    await this.send(
      transactionPath(this.id, '/signatures'),
      await signatureBody(this.shown, member, type, { execute }),
    );
  }

  async execute(type: 'approve' | 'reject' = 'approve'): Promise<void> {
    await this.send(transactionPath(this.id, '/execute'), { type });
  }

  async row(): Promise<ApprovalRow & TransactionRow> {
    const rows = await this.fixture.api
      .db('approvals')
      .join('transactions', 'transactions.id', 'approvals.id')
      .where('approvals.id', this.id)
      .select<(ApprovalRow & TransactionRow)[]>('*');
    return requireRow(rows[0]);
  }

  attempts() {
    return this.fixture.api.db('chain_attempts').where({ transaction_id: this.id }).orderBy('id');
  }

  envelopes() {
    return this.fixture.api
      .db('chain_envelopes')
      .whereIn('attempt_id', this.attempts().clearOrder().select('id'))
      .orderBy('id');
  }

  /** Waits until it has that status. */
  async is(status: Outcome['status']): Promise<void> {
    await until(
      `${this.id} is ${status}`,
      async () => {
        const { execution_status: found, failure, waiting_for } = await this.row();
        if (found !== status) throw new Error(JSON.stringify({ found, failure, waiting_for }));
        return true;
      },
      LIMIT_MS,
    );
  }

  /** Waits until every envelope of that attempt is sent. */
  async isSent(kind: 'transaction' | 'cancellation'): Promise<void> {
    await until(
      `the ${kind} is sent`,
      async () => {
        const attempt = (await this.attempts()).find((one) => one.kind === kind);
        if (!attempt) return false;
        const sent = await this.envelopes().clone().where({ attempt_id: attempt.id });
        return sent.length > 0 && sent.every(({ sent_at }) => sent_at !== null);
      },
      LIMIT_MS,
    );
  }
}

const DONE: Outcome = {
  status: 'completed',
  votes: ['initiator'],
  messages: { sign: 1, execute: 1 },
  usage: ['committed'],
  attempts: [{ kind: 'transaction', outcome: 'executed' }],
  audit: { created: 1, signed: 1, executionStarted: 1, broadcast: 1, executed: 1 },
};

async function pay(payment: Payment): Promise<Outcome> {
  await payment.create('auto');
  await payment.sign(payment.fixture.org.dave, 'initiator', true);
  await payment.is('completed');
  return DONE;
}

/** Its node takes it, loses its answers, and denies for a while that it has it. */
async function payThroughForgetful(payment: Payment): Promise<Outcome> {
  await payment.create('auto');
  payment.fixture.node.forget();
  await payment.sign(payment.fixture.org.dave, 'initiator', true);
  await payment.is('completed');
  return DONE;
}

async function payApproved(payment: Payment): Promise<Outcome> {
  const { dave, alice } = payment.fixture.org;
  await payment.create('approved');
  await payment.sign(dave, 'initiator');
  await payment.sign(alice, 'approve');
  await payment.execute();
  await payment.is('completed');
  return {
    ...DONE,
    votes: ['initiator', 'approve'],
    messages: { sign: 2, execute: 1 },
    audit: { ...DONE.audit, signed: 2 },
  };
}

const REJECTED: Outcome = {
  status: 'rejected',
  executions: 0,
  votes: ['initiator', 'reject'],
  messages: { sign: 2, execute: 1 },
  usage: [],
  attempts: [],
  audit: { created: 1, signed: 2, rejected: 1 },
};

async function reject(payment: Payment): Promise<Outcome> {
  const { dave } = payment.fixture.org;
  await payment.create('auto');
  await payment.sign(dave, 'initiator');
  await payment.sign(dave, 'reject', true);
  await payment.is('rejected');
  return REJECTED;
}

async function rejectSigned(payment: Payment): Promise<Outcome> {
  const { dave } = payment.fixture.org;
  await payment.create('auto');
  await payment.sign(dave, 'initiator');
  await payment.sign(dave, 'reject');
  await payment.execute('reject');
  await payment.is('rejected');
  return REJECTED;
}

const FAILED: Outcome = {
  ...DONE,
  status: 'failed',
  failure: 'reverted',
  usage: ['released'],
  attempts: [],
  audit: { created: 1, signed: 1, executionStarted: 1, executionFailed: 1 },
};

/** Its inner call succeeds when it is simulated and reverts in its block. */
async function revertInBlock(payment: Payment): Promise<Outcome> {
  await payment.create('calls');
  await payment.sign(payment.fixture.org.dave, 'initiator', true);
  await payment.is('failed');
  return {
    ...FAILED,
    attempts: [{ kind: 'transaction', outcome: 'reverted' }],
    audit: { ...FAILED.audit, broadcast: 1 },
  };
}

/** Its inner call reverts when it is simulated: nothing is signed. */
async function revertBefore(payment: Payment): Promise<Outcome> {
  await payment.create('calls');
  await payment.sign(payment.fixture.org.dave, 'initiator', true);
  await payment.is('failed');
  return FAILED;
}

async function mineByHand<T>(fixture: PaymentFixture, work: () => Promise<T>): Promise<T> {
  await rpc(fixture.rpcUrl, 'evm_setAutomine', [false]);
  try {
    return await work();
  } finally {
    await rpc(fixture.rpcUrl, 'evm_setAutomine', [true]);
    await rpc(fixture.rpcUrl, 'anvil_mine', ['0x1']);
  }
}

/** It is pending when an operator cancels it. */
async function cancel(payment: Payment): Promise<Outcome> {
  const { fixture } = payment;
  await payment.create('auto');
  await mineByHand(fixture, async () => {
    await payment.sign(fixture.org.dave, 'initiator', true);
    await payment.isSent('transaction');
    const { organization_id, id } = await payment.row();
    await fixture.temporal.workflow
      .getHandle(`${organization_id}/transactions/${id}`)
      .signal('cancelTransaction');
    await payment.isSent('cancellation');
  });
  await payment.is('failed');
  return {
    ...FAILED,
    failure: 'timeout',
    messages: { sign: 1, execute: 1, cancel: 1 },
    attempts: [
      { kind: 'transaction', outcome: 'cancelled' },
      { kind: 'cancellation', outcome: 'executed' },
    ],
    audit: { ...FAILED.audit, broadcast: 1, cancellationRequested: 1 },
  };
}

/** The relayer's nonce before that of its envelope is unused. */
async function payBehindGap(payment: Payment): Promise<Outcome> {
  const { fixture } = payment;
  const { db } = fixture.api;
  const relayer = await fixture.relayer();
  await payment.create('auto');
  const deployment = await db('chain_attempts').where({ account_id: fixture.account.id }).first('id');
  const nonce = await fixture.chain.getTransactionCount({ address: relayer });
  // A signer has taken the next nonce, and has ended before it signed anything.
  const [taken] = await db('relayer_reservations')
    .insert({
      attempt_id: requireRow(deployment).id,
      ...{ network_id: BigInt(NETWORK_ID), relayer_address: relayer, relayer_nonce: BigInt(nonce) },
      ...{ gas: '21000', max_fee_per_gas: '1', max_priority_fee_per_gas: '1' },
    })
    .returning('id');
  await payment.sign(fixture.org.dave, 'initiator', true);
  await payment.isSent('transaction');
  await db('relayer_reservations')
    .where({ id: requireRow(taken).id })
    .delete();
  await payment.is('completed');
  return { ...DONE, fillers: 1 };
}

/** The relayer has no funds, and is funded while the execution waits for that. */
async function payAfterRefill(payment: Payment): Promise<Outcome> {
  const { fixture } = payment;
  await payment.create('auto');
  await rpc(fixture.rpcUrl, 'anvil_setBalance', [await fixture.relayer(), '0x0']);
  await payment.sign(fixture.org.dave, 'initiator', true);
  await payment.is('failed');
  await fundRelayers(fixture.api.db, fixture.api.config);
  await payment.is('completed');
  return {
    ...DONE,
    executions: 2,
    messages: { sign: 1, execute: 2 },
    usage: ['released', 'committed'],
    audit: { ...DONE.audit, executionStarted: 2, executionFailed: 1 },
  };
}

/** Its network is unavailable for a while, before anything is signed. */
async function payAfterOutage(payment: Payment): Promise<Outcome> {
  const { fixture } = payment;
  await payment.create('auto');
  fixture.own.freeze();
  try {
    await Promise.all([
      payment.sign(fixture.org.dave, 'initiator', true),
      payment.killed.finally(() => fixture.own.thaw()),
    ]);
  } finally {
    fixture.own.thaw();
  }
  await payment.is('completed');
  return DONE;
}

/** The chain loses its block while the process is stopped. */
async function payAfterReorganization(payment: Payment): Promise<Outcome> {
  const { fixture } = payment;
  await payment.create('auto');
  const snapshot = await rpc(fixture.rpcUrl, 'evm_snapshot');
  await payment.sign(fixture.org.dave, 'initiator', true);
  await payment.is('completed');
  await fixture.victim.kill();
  if (!(await rpc(fixture.rpcUrl, 'evm_revert', [snapshot]))) throw new Error('the chain has lost nothing');
  // Other blocks take the place of those that are gone.
  await rpc(fixture.rpcUrl, 'evm_increaseTime', [7]);
  await rpc(fixture.rpcUrl, 'anvil_mine', ['0x3']);
  await payment.startVictim();
  await until(
    `${payment.id} is reopened and runs`,
    async () => {
      await fixture.reconcile();
      const { organization_id, id } = await payment.row();
      const entries = await fixture.api
        .db('audit_log')
        .where({ organization_id, resource_id: id })
        .pluck('action');
      return entries.includes('transaction.restored');
    },
    LIMIT_MS,
  );
  await payment.is('completed');
  return {
    ...DONE,
    messages: { ...DONE.messages, restore: 1 },
    audit: { ...DONE.audit, executed: 2, reopened: 1, restored: 1 },
  };
}

/** The courses of a transaction. Each continues whichever process is killed. */
export const SCENARIOS = {
  pay,
  payThroughForgetful,
  payApproved,
  revertInBlock,
  revertBefore,
  reject,
  rejectSigned,
  cancel,
  payBehindGap,
  payAfterRefill,
  payAfterOutage,
  payAfterReorganization,
} as const;

export type Scenario = keyof typeof SCENARIOS;
