import type { Approval } from '@orgwallet/client';
import { useRef, useState } from 'react';
import { isUnanswered } from '../../api/once.ts';
import { useSession } from '../../api/useSession.ts';
import { castVote, execute, unansweredOf, type Vote } from '../../signing/voting.ts';
import { lastWallet } from '../../signing/wallet.ts';

/** Where a vote or an execution is. `unanswered`: only the same one can be sent now. */
export type Progress =
  | { readonly step: 'none' | 'wallet' | 'sending' | 'done' }
  | { readonly step: 'failed' | 'unanswered'; readonly error: unknown; readonly again: () => void };

/** Votes and executes, one at a time. */
export function useVoting(approval: Approval) {
  const { member } = useSession();
  const controller = useRef<AbortController>(undefined);

  const attempt = async (work: () => Promise<void>, again: () => void) => {
    try {
      await work();
      setProgress({ step: 'done' });
    } catch (error) {
      setProgress({ step: isUnanswered(error) ? 'unanswered' : 'failed', error, again });
    }
  };
  const cast = (vote: Vote) => {
    const current = new AbortController();
    controller.current = current;
    const onSigned = () => setProgress({ step: 'sending' });
    setProgress({ step: 'wallet' });
    void attempt(
      () =>
        castVote(vote, {
          address: member.walletAddress,
          found: lastWallet(),
          signal: current.signal,
          onSigned,
        }),
      () => cast(vote),
    );
  };
  const run = (record: Approval, outcome: 'approve' | 'reject') => {
    setProgress({ step: 'sending' });
    void attempt(
      () => execute(record, outcome),
      () => run(record, outcome),
    );
  };
  const [progress, setProgress] = useState<Progress>(() => {
    const begun = unansweredOf(approval.id);
    if (!begun) return { step: 'none' };
    const again = () => ('vote' in begun ? cast(begun.vote) : run(begun.approval, begun.outcome));
    return { step: 'unanswered', error: begun.error, again };
  });
  return {
    progress,
    vote: (asked: Omit<Vote, 'approval'>) => cast({ approval, ...asked }),
    execute: (outcome: 'approve' | 'reject') => run(approval, outcome),
    stopWaiting: () => controller.current?.abort(),
  };
}
