import type { Hex } from 'viem';
import { requireRow } from '../../src/db/rows';
import type { ApprovalRow, TransactionRow } from '../../src/db/tables';
import type { Shown } from '../support/api';
import { anAddress } from '../support/builders';
import type { HttpClient } from '../support/http';
import { fundRelayers, type TestMember } from '../support/service';
import { rpc } from '../support/stack';
import { aTransactionBody, signatureBody, TRANSACTIONS, transactionPath } from '../support/transactionApi';
import { until } from '../support/until';
import { type Asked, insistOn, type Payer, type PolicyName } from './payer';

const LIMIT_MS = 120_000;

/** What must be there of a transaction at its end, besides what is the same for all of them. */
export interface Outcome {
  readonly status: 'completed' | 'failed';
  /** Code of the failure. */
  readonly failure?: string;
  /** Executions that were begun. */
  readonly executions?: number;
  readonly votes: readonly string[];
  readonly messages: { readonly [kind: string]: number };
  /** Status of each reservation, oldest first. */
  readonly usage: readonly string[];
  /** What was signed for the account, oldest first, and what became of it. */
  readonly attempts: readonly { readonly kind: string; readonly outcome: string }[];
  /** Entries of the audit log. */
  readonly audit: { readonly [verb: string]: number };
  /** Nonces of the relayer that were filled. */
  readonly fillers?: number;
}

/** A transaction on its way, request by request. */
export class Payment {
  readonly asked: Asked[] = [];
  readonly to: Hex;
  readonly amount: bigint;
  private shown: Shown;

  constructor(
    readonly payer: Payer,
    private readonly http: () => HttpClient,
    /** Resolves when the process that is to be killed is gone. */
    readonly killed: Promise<void>,
    /** Starts it again where it was stopped by hand. */
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
    const { readKey } = this.payer.org;
    const asked = await insistOn(this.http, { key: readKey, path, body });
    this.asked.push(asked);
    this.shown = asked.answer.body.data;
  }

  async create(policyName: PolicyName): Promise<void> {
    const { org, account, policies } = this.payer;
    const of = { account, policy: policies[policyName], to: this.to };
    const call = policyName === 'calls' ? { value: '0', data: '0x01020304' } : { value: String(this.amount) };
    await this.send(TRANSACTIONS, aTransactionBody(org, of, call));
  }

  async sign(member: TestMember, type: 'initiator' | 'approve', execute = false): Promise<void> {
    await this.send(
      transactionPath(this.id, '/signatures'),
      await signatureBody(this.shown, member, type, { execute }),
    );
  }

  async execute(): Promise<void> {
    await this.send(transactionPath(this.id, '/execute'), { type: 'approve' });
  }

  async row(): Promise<ApprovalRow & TransactionRow> {
    const rows = await this.payer.api
      .db('approvals')
      .join('transactions', 'transactions.id', 'approvals.id')
      .where('approvals.id', this.id)
      .select<(ApprovalRow & TransactionRow)[]>('*');
    return requireRow(rows[0]);
  }

  attempts() {
    return this.payer.api.db('chain_attempts').where({ transaction_id: this.id }).orderBy('id');
  }

  envelopes() {
    return this.payer.api
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

  /** Waits until everything that is signed was handed to the node. */
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
  await payment.sign(payment.payer.org.dave, 'initiator', true);
  await payment.is('completed');
  return DONE;
}

async function payApproved(payment: Payment): Promise<Outcome> {
  const { dave, alice } = payment.payer.org;
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

const FAILED: Outcome = {
  ...DONE,
  status: 'failed',
  failure: 'reverted',
  usage: ['released'],
  attempts: [],
  audit: { created: 1, signed: 1, executionStarted: 1, executionFailed: 1 },
};

/** Its inner call succeeds where it is tried and reverts in its block. */
async function revertInBlock(payment: Payment): Promise<Outcome> {
  await payment.create('calls');
  await payment.sign(payment.payer.org.dave, 'initiator', true);
  await payment.is('failed');
  return {
    ...FAILED,
    attempts: [{ kind: 'transaction', outcome: 'reverted' }],
    audit: { ...FAILED.audit, broadcast: 1 },
  };
}

/** Its inner call reverts where it is tried: nothing is signed. */
async function revertBefore(payment: Payment): Promise<Outcome> {
  await payment.create('calls');
  await payment.sign(payment.payer.org.dave, 'initiator', true);
  await payment.is('failed');
  return FAILED;
}

async function mineByHand<T>(payer: Payer, work: () => Promise<T>): Promise<T> {
  await rpc(payer.rpcUrl, 'evm_setAutomine', [false]);
  try {
    return await work();
  } finally {
    await rpc(payer.rpcUrl, 'evm_setAutomine', [true]);
    await rpc(payer.rpcUrl, 'anvil_mine', ['0x1']);
  }
}

/** It is pending when an operator gives it up. */
async function giveUp(payment: Payment): Promise<Outcome> {
  const { payer } = payment;
  await payment.create('auto');
  await mineByHand(payer, async () => {
    await payment.sign(payer.org.dave, 'initiator', true);
    await payment.isSent('transaction');
    const { organization_id, id } = await payment.row();
    await payer.temporal.workflow
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

/** The relayer's nonce before that of its envelope belongs to nobody. */
async function payBehindGap(payment: Payment): Promise<Outcome> {
  const { payer } = payment;
  const relayer = await payer.relayer();
  const setNonce = (nonce: number) =>
    rpc(payer.rpcUrl, 'anvil_setNonce', [relayer, `0x${nonce.toString(16)}`]);
  await payment.create('auto');
  await mineByHand(payer, async () => {
    const nonce = await payer.chain.getTransactionCount({ address: relayer });
    await setNonce(nonce + 1);
    await payment.sign(payer.org.dave, 'initiator', true);
    await payment.isSent('transaction');
    await setNonce(nonce);
    for (const { transaction_hash } of await payment.envelopes()) {
      await rpc(payer.rpcUrl, 'anvil_dropTransaction', [transaction_hash]);
    }
  });
  await payment.is('completed');
  return { ...DONE, fillers: 1 };
}

/** The relayer is empty, and is filled up while the execution waits for that. */
async function payAfterRefill(payment: Payment): Promise<Outcome> {
  const { payer } = payment;
  await payment.create('auto');
  await rpc(payer.rpcUrl, 'anvil_setBalance', [await payer.relayer(), '0x0']);
  await payment.sign(payer.org.dave, 'initiator', true);
  await payment.is('failed');
  await fundRelayers(payer.api.db, payer.api.config);
  await payment.is('completed');
  return {
    ...DONE,
    executions: 2,
    messages: { sign: 1, execute: 2 },
    usage: ['released', 'committed'],
    audit: { ...DONE.audit, executionStarted: 2, executionFailed: 1 },
  };
}

/** Its network does not answer for a while, before anything is signed. */
async function payWhenBack(payment: Payment): Promise<Outcome> {
  const { payer } = payment;
  await payment.create('auto');
  payer.own.freeze();
  try {
    await Promise.all([
      payment.sign(payer.org.dave, 'initiator', true),
      payment.killed.finally(() => payer.own.thaw()),
    ]);
  } finally {
    payer.own.thaw();
  }
  await payment.is('completed');
  return DONE;
}

/** The chain loses the block that it was in, while nobody looks. */
async function payTwiceOver(payment: Payment): Promise<Outcome> {
  const { payer } = payment;
  await payment.create('auto');
  const snapshot = await rpc(payer.rpcUrl, 'evm_snapshot');
  await payment.sign(payer.org.dave, 'initiator', true);
  await payment.is('completed');
  await payer.victim.kill();
  if (!(await rpc(payer.rpcUrl, 'evm_revert', [snapshot]))) throw new Error('the chain has lost nothing');
  await payment.startVictim();
  await until(
    `${payment.id} is reopened and runs`,
    async () => {
      await payer.reconcile();
      const { organization_id, id } = await payment.row();
      const entries = await payer.api
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

/** Ways that a transaction can go. Each goes on whoever is killed. */
export const WAYS = {
  pay,
  payApproved,
  revertInBlock,
  revertBefore,
  giveUp,
  payBehindGap,
  payAfterRefill,
  payWhenBack,
  payTwiceOver,
} as const;

export type Way = keyof typeof WAYS;
