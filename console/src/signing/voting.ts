import {
  ApiError,
  type Approval,
  type Payloads,
  type TypedData,
  type VoteType,
  verifyRecord,
  type Wallet,
} from '@orgwallet/client';
import { orgwallet, pins, queryClient } from '../api/client.ts';
import { isUnanswered, once } from '../api/once.ts';
import { checkCallLines } from '../contract/callLines.ts';
import { checkDecoded } from '../domain/decodedCall.ts';
import { intentOf } from './intents.ts';
import { type FoundWallet, walletFor } from './wallet.ts';

/** What can be signed about a request, read from the bytes; or why nothing must be. */
export interface Reading {
  readonly payloads: Payloads;
  readonly problem?: unknown;
}

/**
 * Reads every payload of a request: compared with what the request shows, with the other payloads, and with what was
 * asked for, where it was asked for on this page.
 */
export function readPayloads(
  approval: Approval,
  known: { readonly organization: string; readonly account?: string },
): Reading {
  const asked = intentOf(approval.id);
  try {
    const before = asked ? { before: asked.before } : {};
    const payloads = verifyRecord(approval, asked?.intent, { ...known, ...before, pins });
    if ('type' in approval && approval.type === 'CONTRACT_INTERACTION') {
      checkDecoded(approval.data);
      if (approval.signingPayloads) checkCallLines(approval);
    }
    return { payloads };
  } catch (problem) {
    return { payloads: {}, problem };
  }
}

/** A vote as it was begun. Without an answer it is sent again as it is, and not another one. */
export interface Vote {
  readonly approval: Approval;
  readonly type: VoteType;
  /** Of the payload that was shown. */
  readonly digest: string;
  readonly execute: boolean;
  readonly reason: string;
}

/** What has been begun and has no final answer: of each request at most one thing. */
type Unanswered = { readonly error: unknown } & (
  | { readonly vote: Vote }
  | { readonly approval: Approval; readonly outcome: 'approve' | 'reject' }
);

const unanswered = new Map<string, Unanswered>();
/** Signatures that were made here and had no final answer yet, by wallet and digest: nobody is asked twice for the same one. */
const signatures = new Map<string, string>();

/** What was sent about a request, while it has no final answer; else undefined. */
export const unansweredOf = (id: string): Unanswered | undefined => unanswered.get(id);

/** Sends something about a request, and remembers it for as long as it has no final answer. */
async function decide(
  id: string,
  what: string,
  send: (idempotencyKey: string) => Promise<Approval>,
  begun: { vote: Vote } | { approval: Approval; outcome: 'approve' | 'reject' },
): Promise<void> {
  try {
    const decided = await once(what, send);
    unanswered.delete(id);
    queryClient.setQueryData(['approval', id], decided);
  } catch (error) {
    if (isUnanswered(error)) unanswered.set(id, { ...begun, error });
    else unanswered.delete(id);
    throw error;
  } finally {
    for (const queryKey of [['approval', id], ['proposals'], ['transactions'], ['requests']]) {
      void queryClient.invalidateQueries({ queryKey });
    }
  }
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

/** Who signs, and how it is followed. */
interface Signing {
  readonly address: string;
  readonly found: FoundWallet | undefined;
  readonly signal: AbortSignal;
  readonly onSigned: () => void;
}

/**
 * Verifies the payload once more, has it signed unless that was done before, and sends it. Throws PayloadMismatch,
 * NotSigned, WalletError, ApiError and NoAnswer.
 */
export async function castVote(vote: Vote, { address, found, signal, onSigned }: Signing): Promise<void> {
  const { approval, type, digest, execute: executes, reason } = vote;
  const send = (idempotencyKey: string): Promise<Approval> =>
    orgwallet.vote(approval, type, {
      wallet: signOnce(walletFor(address, found, signal), digest, onSigned),
      // What is signed is what was shown.
      confirm: (verified) => verified.digest === digest,
      ...intentOf(approval.id),
      execute: executes,
      ...(reason === '' ? {} : { reason }),
      idempotencyKey,
    });
  try {
    await decide(approval.id, `${approval.id}/${type}/${digest}/${executes}/${reason}`, send, { vote });
    // A contract wallet that changes its owner later has to be asked again.
    signatures.delete(`${address}/${digest}`);
  } catch (error) {
    if (error instanceof ApiError && error.code === 'invalidSignature') {
      signatures.delete(`${address}/${digest}`);
    }
    throw error;
  }
}

/** Executes an outcome. Throws ApiError, NoAnswer. */
export async function execute(approval: Approval, outcome: 'approve' | 'reject'): Promise<void> {
  const what = `${approval.id}/execute/${outcome}/${approval.failure?.attempt ?? 0}`;
  const send = (idempotencyKey: string): Promise<Approval> =>
    orgwallet.execute(approval, outcome, { idempotencyKey });
  await decide(approval.id, what, send, { approval, outcome });
}
