import {
  ApiError,
  type Approval,
  type TypedData,
  type Verified,
  type VoteType,
  verify,
  type Wallet,
} from '@orgwallet/client';
import { orgwallet, pins, queryClient } from './api.ts';
import { intentOf } from './intents.ts';
import { type FoundWallet, walletFor } from './wallet.ts';

/** A payload, read from its bytes: what it says, or why it must not be signed. */
export type Reading = { readonly verified: Verified } | { readonly problem: unknown };

/** Reads what a vote would sign: compared with what was asked for, where it was asked for on this page. */
export function readVote(approval: Approval, vote: VoteType): Reading | undefined {
  const { id, summary, expiresAt, signingPayloads } = approval;
  const payload = (signingPayloads as { [payload: string]: string } | undefined)?.[`${vote}Payload`];
  if (payload === undefined) return undefined;
  const asked = intentOf(id);
  try {
    const before = asked ? { before: asked.before } : {};
    return { verified: verify(payload, asked?.intent, { id, summary, expiresAt, vote, pins, ...before }) };
  } catch (problem) {
    return { problem };
  }
}

/** A vote as it was begun. It is sent again with the same signature and key, and no other content. */
export interface Ballot {
  readonly approval: Approval;
  readonly vote: VoteType;
  /** Of the payload that was shown. */
  readonly digest: string;
  readonly execute: boolean;
  readonly reason: string;
  idempotencyKey: string;
}

/** Votes and executions without an answer, by what they are about. */
const open = new Map<string, { idempotencyKey: string }>();
/** Signatures that were made here, by wallet and digest: nobody is asked twice for the same one. */
const signatures = new Map<string, string>();

function settle(key: string, error?: unknown): void {
  // A final refusal ends it. After anything else it can be repeated.
  if (error === undefined || (error instanceof ApiError && error.status !== 401)) open.delete(key);
}

async function store(approval: Approval): Promise<void> {
  queryClient.setQueryData(['approval', approval.id], approval);
  await Promise.all(
    [['proposals'], ['transactions']].map((queryKey) => queryClient.invalidateQueries({ queryKey })),
  );
}

const ballotKey = (id: string, vote: VoteType) => `${id}/${vote}`;

/** The vote that has had no answer yet, or a new one. */
export function ballotOf(asked: Omit<Ballot, 'idempotencyKey'>): Ballot {
  const key = ballotKey(asked.approval.id, asked.vote);
  const begun = open.get(key) as Ballot | undefined;
  if (begun && begun.digest === asked.digest) return begun;
  const ballot = { ...asked, idempotencyKey: crypto.randomUUID() };
  open.set(key, ballot);
  return ballot;
}

/** Signs once: the same wallet and digest get the signature that was made before. */
function signOnce(wallet: Wallet, digest: string, onSigned: () => void): Wallet {
  return {
    address: wallet.address,
    sign: async (typedData: TypedData) => {
      const key = `${await wallet.address()}/${digest}`;
      const signature = signatures.get(key) ?? (await wallet.sign(typedData));
      signatures.set(key, signature);
      onSigned();
      return signature;
    },
  };
}

/**
 * Verifies the payload once more, has it signed unless that was done before, and sends it. Throws PayloadMismatch,
 * NotSigned, WalletError, ApiError and NoAnswer.
 */
export async function castVote(
  ballot: Ballot,
  {
    address,
    found,
    signal,
    onSigned,
  }: {
    readonly address: string;
    readonly found: FoundWallet | undefined;
    readonly signal: AbortSignal;
    readonly onSigned: () => void;
  },
): Promise<void> {
  const { approval, vote, digest, execute, reason, idempotencyKey } = ballot;
  const key = ballotKey(approval.id, vote);
  try {
    const voted = await orgwallet.vote(approval, vote, {
      wallet: signOnce(walletFor(address, found, signal), digest, onSigned),
      // What is signed is what was shown.
      confirm: (verified) => verified.digest === digest,
      ...intentOf(approval.id),
      execute,
      ...(reason === '' ? {} : { reason }),
      idempotencyKey,
    });
    settle(key);
    await store(voted);
  } catch (error) {
    if (error instanceof ApiError && error.code === 'invalidSignature') {
      signatures.delete(`${address}/${digest}`);
    }
    settle(key, error);
    throw error;
  }
}

/** Executes an outcome; again with the same key until there is an answer. Throws ApiError, NoAnswer. */
export async function execute(approval: Approval, outcome: 'approve' | 'reject'): Promise<void> {
  const key = `${approval.id}/execute/${outcome}/${approval.failure?.attempt ?? 0}`;
  const { idempotencyKey } = open.get(key) ?? { idempotencyKey: crypto.randomUUID() };
  open.set(key, { idempotencyKey });
  try {
    const executed = await orgwallet.execute(approval, outcome, { idempotencyKey });
    settle(key);
    await store(executed);
  } catch (error) {
    settle(key, error);
    throw error;
  }
}
