import type { Approval, VoteType } from '@orgwallet/client';
import { useRef, useState } from 'react';
import { useSession } from '../../useSession.ts';
import { type Ballot, ballotOf, castVote, execute } from '../../voting.ts';
import { lastWallet } from '../../wallet.ts';

/** Where a vote or an execution is. */
export type Progress =
  | { readonly step: 'none' | 'wallet' | 'sending' | 'done' }
  | { readonly step: 'failed'; readonly error: unknown; readonly again: () => void };

/** Votes and executes, one at a time. */
export function useVoting(approval: Approval) {
  const { member } = useSession();
  const [progress, setProgress] = useState<Progress>({ step: 'none' });
  const controller = useRef<AbortController>(undefined);

  const attempt = async (work: () => Promise<void>, again: () => void) => {
    try {
      await work();
      setProgress({ step: 'done' });
    } catch (error) {
      setProgress({ step: 'failed', error, again });
    }
  };
  const cast = (ballot: Ballot) => {
    const current = new AbortController();
    controller.current = current;
    setProgress({ step: 'wallet' });
    void attempt(
      () =>
        castVote(ballot, {
          address: member.walletAddress,
          found: lastWallet(),
          signal: current.signal,
          onSigned: () => setProgress({ step: 'sending' }),
        }),
      () => cast(ballotOf(ballot)),
    );
  };
  const run = (outcome: 'approve' | 'reject') => {
    setProgress({ step: 'sending' });
    void attempt(
      () => execute(approval, outcome),
      () => run(outcome),
    );
  };
  return {
    progress,
    vote: (asked: { vote: VoteType; digest: string; execute: boolean; reason: string }) =>
      cast(ballotOf({ approval, ...asked })),
    execute: run,
    stopWaiting: () => controller.current?.abort(),
  };
}
