import {
  ApiError,
  type Intent,
  type OperationIntent,
  type Orgwallet,
  type Proposal,
  type Schema,
  signWith,
  type Wallet,
} from '@orgwallet/client';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { DemoFile } from '../dev/prepare';
import type { Printer } from './printer';

/** A result is not as expected; the demo ends. */
export class NotAsExpected extends Error {
  override readonly name = 'NotAsExpected';
}

/** The dependencies of the scenario: the client, demo.json and the printer. */
export interface Stage {
  readonly client: Orgwallet;
  /** What was asked for, by the id of its proposal or transaction: who signs verifies it. */
  readonly asked: Map<string, Intent>;
  readonly demo: DemoFile;
  readonly print: Printer;
  /** A name that no earlier run has used: accounts remain, and names are unique. */
  named(name: string): string;
  /** The URL of a proposal's or transaction's workflow in the Temporal UI; null without a UI. */
  linkOf(record: { readonly id: string; readonly resourceType?: string }): string | null;
}

/** How long an execution may take. */
export const DECISION_LIMIT_MS = 40_000;
/** How an execution ends. */
export const OUTCOMES = ['completed', 'rejected', 'failed', 'blocked'] as const;

/** Ends the demo unless a condition holds. */
export function expect(condition: boolean, what: string): asserts condition {
  if (!condition) throw new NotAsExpected(what);
}

export type Account = Schema['Account'];
export type Group = Schema['Group'];

/** The wallet of a private key. */
export function walletOf({ privateKey }: { readonly privateKey: string }): Wallet {
  return signWith.viem(privateKeyToAccount(privateKey as Hex));
}

/** Proposes an operation and prints its summary. */
export async function propose(
  { client, print, linkOf, asked }: Stage,
  intent: OperationIntent,
): Promise<Proposal> {
  const proposal = await client.propose(intent);
  asked.set(proposal.id, intent);
  print.line('proposed', proposal.summary.replaceAll('\n', '; '));
  print.line('', `${proposal.id}, needs ${proposal.threshold} signatures`);
  const link = linkOf(proposal);
  if (link) print.link(link);
  return proposal;
}

/** The intent of a record; one of an earlier run, which nobody remembers, is signed as it is. */
export function intentOf({ asked }: Stage, { id }: { readonly id: string }) {
  const intent = asked.get(id);
  return intent ? { intent } : { confirm: () => true };
}

type DemoAdmin = DemoFile['admins']['members'][number];

/** The current admins whose keys demo.json has, people first. */
async function availableAdmins({ client, demo }: Stage): Promise<DemoAdmin[]> {
  const { members } = await client.listAdmins();
  return demo.admins.members
    .filter(({ id }) => members.some((member) => member.id === id))
    .sort((one, two) => two.type.localeCompare(one.type));
}

/** Who signs, and how a signature is sent. */
interface VoteOptions {
  /** Names of the signatories; absent: as many admins as the threshold, people first. */
  readonly by?: readonly string[];
  /** The last signature executes the outcome. */
  readonly execute?: boolean;
  readonly reason?: string;
}

/** Admins sign a proposal in turn. */
export async function vote(
  stage: Stage,
  proposal: Proposal,
  type: 'approve' | 'reject',
  { by, execute, reason }: VoteOptions = {},
): Promise<Proposal> {
  const { client, print } = stage;
  const admins = await availableAdmins(stage);
  const wanted = by?.length ?? proposal.threshold;
  const signers = by ? admins.filter(({ name }) => by.includes(name)) : admins.slice(0, wanted);
  expect(signers.length === wanted, 'demo.json has fewer admins than have to sign');
  let current = proposal;
  for (const [index, admin] of signers.entries()) {
    const last = index === signers.length - 1;
    current = await client.vote(proposal, type, {
      wallet: walletOf(admin),
      ...intentOf(stage, proposal),
      ...(reason === undefined ? {} : { reason }),
      execute: last && execute === true,
    });
    const votes = type === 'approve' ? current.approvals : current.rejections;
    expect(
      votes.some(({ id }) => id === admin.id),
      `${admin.name}'s signature is not among those of ${proposal.id}`,
    );
    const signed = type === 'approve' ? 'signed to approve' : 'signed to reject';
    print.line(admin.name, `${signed} (${votes.length} of ${current.threshold}): ${current.signatureStatus}`);
  }
  return current;
}

function printOutcome({ print }: Stage, { result, failure }: Proposal, outcome: string): void {
  const done = (result?.resources ?? []).map(({ type, id }) => `${type} ${id}`).join(', ');
  if (outcome === 'completed') print.line('completed', done);
  else print.line(outcome, `${failure ? `${failure.message}; ` : ''}nothing was changed`);
}

/** Waits for the outcome of an execution, checks and prints it. */
export async function decided(
  stage: Stage,
  proposal: Proposal,
  wanted: 'completed' | 'rejected' | 'blocked',
): Promise<Proposal> {
  const done = await stage.client.waitFor(proposal, [...OUTCOMES], { timeoutMs: DECISION_LIMIT_MS });
  const why = done.failure ? ` (${done.failure.code}: ${done.failure.message})` : '';
  expect(
    done.executionStatus === wanted,
    `proposal ${done.id} should be ${wanted} and is ${done.executionStatus ?? 'not executed'}${why}`,
  );
  printOutcome(stage, done, wanted);
  return done;
}

/** Proposes an operation, has it approved by the threshold, and executes it. */
export async function carryOut(stage: Stage, intent: OperationIntent): Promise<Proposal> {
  const proposal = await propose(stage, intent);
  return decided(stage, await vote(stage, proposal, 'approve', { execute: true }), 'completed');
}

/** Rejects a proposal with the threshold of signatures. */
export async function rejectIt(stage: Stage, proposal: Proposal, reason: string): Promise<Proposal> {
  return decided(stage, await vote(stage, proposal, 'reject', { execute: true, reason }), 'rejected');
}

/** The service must refuse a request with that code; prints its message. */
export async function mustRefuse(
  { print }: Stage,
  label: string,
  code: string,
  request: Promise<unknown>,
): Promise<ApiError> {
  const outcome = await request.then(
    () => new NotAsExpected(`${label}: should have been refused with ${code}`),
    (error: Error) => error,
  );
  if (!(outcome instanceof ApiError) || outcome.code !== code) throw outcome;
  print.line(label, `refused: ${outcome.message}`);
  return outcome;
}

/** The ids of the resources that an executed proposal has created or changed. */
export function resultIds(proposal: Proposal, wanted: number): string[] {
  const ids = (proposal.result?.resources ?? []).map(({ id }) => id);
  expect(ids.length === wanted, `proposal ${proposal.id} should name ${wanted} results, not ${ids.length}`);
  return ids;
}

/** Prints the last note of a proposal with that code; there must be one. */
export function printNote({ print }: Stage, proposal: Proposal, code: string): void {
  const note = proposal.notes.filter((candidate) => candidate.code === code).at(-1);
  expect(note !== undefined, `proposal ${proposal.id} has no note ${code}`);
  print.line('note', note.message);
}
