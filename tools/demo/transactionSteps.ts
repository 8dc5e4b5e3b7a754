import type { DemoFile } from '../dev/prepare';
import type { Account } from './chapters/accounts';
import { walletOf } from './client';
import { expect, type Stage } from './stage';
import {
  signTransaction,
  type Transaction,
  type TransactionRequest,
  type TransactionVoteType,
  transactionDecided,
} from './transaction';

/** A member whose key demo.json has. */
export type DemoMember = DemoFile['members'][number];

const DECISION_LIMIT_MS = 40_000;

/** A person of demo.json, by name. */
export function demoMember({ members, admins }: DemoFile, name: string): DemoMember {
  const found = [...admins.members, ...members].find((member) => member.name === name);
  expect(found !== undefined, `demo.json has no ${name}`);
  return found;
}

/** Requests a transaction, checks the response and prints its summary. */
export async function ask(stage: Stage, request: TransactionRequest): Promise<Transaction> {
  const { client, print, linkOf } = stage;
  const transaction = await client.post<Transaction>('/transactions', request);
  const { id, to, value, calldata, summary, signatureStatus } = transaction;
  expect(
    to === request.to && value === request.value && calldata === request.data,
    `transaction ${id} differs from its request`,
  );
  expect(signatureStatus === 'pendingInitiatorSignature', `${id} should wait for its initiator`);
  print.line('asked', summary);
  const link = linkOf({ id });
  if (link) print.link(link);
  return transaction;
}

const SAID = {
  initiator: () => 'signed to initiate',
  approve: ({ approvals, threshold }: Transaction) =>
    `signed to approve (${approvals.length} of ${threshold})`,
  reject: ({ rejections, threshold }: Transaction) =>
    `signed to reject (${rejections.length} of ${Math.max(1, threshold)})`,
};

/** A member signs a transaction; with `execute` its outcome is executed if the threshold is met. */
export async function signAs(
  { client, print }: Stage,
  account: Account,
  transaction: Transaction,
  type: TransactionVoteType,
  { name, privateKey }: DemoMember,
  more: { execute?: boolean; reason?: string } = {},
): Promise<Transaction> {
  const signature = await signTransaction(walletOf(privateKey), transaction, account.address, type);
  const path = `/transactions/${transaction.id}/signatures`;
  const signed = await client.post<Transaction>(path, { type, signature, ...more });
  print.line(name, `${SAID[type](signed)}: ${signed.signatureStatus}`);
  return signed;
}

/** Waits for the outcome of an execution, checks and prints it. */
export async function transactionOutcome(
  { client, print }: Stage,
  transaction: Transaction,
  wanted: 'completed' | 'rejected' | 'blocked' | 'failed',
): Promise<Transaction> {
  const done = await transactionDecided(client, transaction, DECISION_LIMIT_MS);
  const why = done.failure ? ` (${done.failure.code}: ${done.failure.message})` : '';
  expect(
    done.executionStatus === wanted,
    `transaction ${done.id} should be ${wanted} and is ${done.executionStatus ?? 'not executed'}${why}`,
  );
  if (wanted === 'completed') {
    const { transactionHash, blockNumber } = done.result ?? {};
    expect(transactionHash !== undefined, `transaction ${done.id} has no transaction hash`);
    print.line(wanted, `block ${blockNumber}, transaction ${transactionHash}`);
  } else {
    print.line(wanted, done.failure ? `${done.failure.code}: ${done.failure.message}` : 'nothing was sent');
  }
  return done;
}
