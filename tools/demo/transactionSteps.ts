import type { Schema, Transaction, VoteType } from '@orgwallet/client';
import type { Hex } from 'viem';
import type { DemoFile } from '../dev/prepare';
import { type Account, DECISION_LIMIT_MS, expect, intentOf, OUTCOMES, type Stage, walletOf } from './stage';

/** The request for a transaction. */
export type TransactionRequest = Schema['CreateTransactionRequest'];

/** A member whose key demo.json has. */
export type DemoMember = DemoFile['members'][number];

/** A person of demo.json, by name. */
export function demoMember({ members, admins }: DemoFile, name: string): DemoMember {
  const found = [...admins.members, ...members].find((member) => member.name === name);
  expect(found !== undefined, `demo.json has no ${name}`);
  return found;
}

/** Requests a transaction of an account, and prints its summary. */
export async function ask(
  { client, print, linkOf, asked }: Stage,
  { address }: Account,
  request: TransactionRequest,
): Promise<Transaction> {
  const transaction = await client.createTransaction(request);
  const { id, summary, signatureStatus } = transaction;
  const { networkId, policyId, to, value, data } = request;
  asked.set(id, { type: 'call', account: address, networkId, policyId, to, value, data: data as Hex });
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
  stage: Stage,
  transaction: Transaction,
  type: VoteType,
  member: DemoMember,
  more: { execute?: boolean; reason?: string } = {},
): Promise<Transaction> {
  const wallet = walletOf(member);
  const signed = await stage.client.vote(transaction, type, {
    wallet,
    ...intentOf(stage, transaction),
    ...more,
  });
  stage.print.line(member.name, `${SAID[type](signed)}: ${signed.signatureStatus}`);
  return signed;
}

/** Waits for the outcome of an execution, checks and prints it. */
export async function transactionOutcome(
  { client, print }: Stage,
  transaction: Transaction,
  wanted: 'completed' | 'rejected' | 'blocked' | 'failed',
): Promise<Transaction> {
  const done = await client.waitFor(transaction, [...OUTCOMES], { timeoutMs: DECISION_LIMIT_MS });
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
