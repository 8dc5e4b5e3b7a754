import {
  type Approval,
  isOrgwalletError,
  PayloadMismatch,
  type Verified,
  type VoteType,
} from '@orgwallet/client';
import { useMemo, useState } from 'react';
import { useDraft } from '../../drafts.ts';
import { isUnanswered } from '../../once.ts';
import { executeLabel, isDecisive, voteLabel } from '../../text/labels.ts';
import { outcomesOf, type Viewer, votesOf } from '../../text/standing.ts';
import { Button } from '../../ui/Button.tsx';
import { CheckField, TextField } from '../../ui/Field.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { ErrorNotice } from '../../ui/States.tsx';
import { readVote } from '../../voting.ts';
import { Bytes } from './Bytes.tsx';
import { type Progress, useVoting } from './useVoting.ts';

const shown = (value: unknown) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing'));

/** A payload that is not what it should be. */
export function Mismatch({ problem }: { readonly problem: unknown }) {
  if (!(problem instanceof PayloadMismatch)) return <ErrorNotice error={problem} />;
  return (
    <Notice tone="danger" title="Do not sign this: it is not what it claims to be" urgent>
      <p>Nothing was signed. Tell your administrator, and do not approve it with another program either.</p>
      <dl className="mismatch">
        <dt>Field</dt>
        <dd>
          <code>{problem.field}</code>
        </dd>
        <dt>Asked for</dt>
        <dd>
          <code>{shown(problem.asked)}</code>
        </dd>
        <dt>In the payload</dt>
        <dd>
          <code>{shown(problem.got)}</code>
        </dd>
      </dl>
    </Notice>
  );
}

function Failed({ error, again }: { readonly error: unknown; readonly again: () => void }) {
  if (error instanceof PayloadMismatch) return <Mismatch problem={error} />;
  const canRepeat = !isOrgwalletError(error) || isUnanswered(error);
  return <ErrorNotice error={error} {...(canRepeat ? { retry: again } : {})} />;
}

type Payloads = { readonly [V in VoteType]?: Verified };

const VOTES: readonly VoteType[] = ['initiator', 'approve', 'reject'];

/** The payloads that can be signed now, verified; or the first problem with one of them. */
function readAll(approval: Approval): { readonly payloads: Payloads; readonly problem?: unknown } {
  const payloads: { [V in VoteType]?: Verified } = {};
  for (const vote of VOTES) {
    const reading = readVote(approval, vote);
    if (reading && 'problem' in reading) return { payloads: {}, problem: reading.problem };
    if (reading) payloads[vote] = reading.verified;
  }
  return { payloads };
}

function ProgressLine({ progress, onStop }: { readonly progress: Progress; readonly onStop: () => void }) {
  return (
    <>
      <div role="status">
        {progress.step === 'wallet' ? (
          <p className="row">
            Waiting for your wallet: compare what it shows, then sign there.
            <Button look="quiet" onClick={onStop}>
              Stop waiting
            </Button>
          </p>
        ) : null}
        {progress.step === 'sending' ? (
          <p>Sending. If the connection breaks, it is sent again by itself.</p>
        ) : null}
        {progress.step === 'done' ? <p>Done.</p> : null}
      </div>
      {progress.step === 'failed' || progress.step === 'unanswered' ? (
        <Failed error={progress.error} again={progress.again} />
      ) : null}
    </>
  );
}

function Buttons({
  approval,
  viewer,
  payloads,
}: {
  readonly approval: Approval;
  readonly viewer: Viewer;
  readonly payloads: Payloads;
}) {
  const { progress, vote, execute, stopWaiting } = useVoting(approval);
  const [executes, setExecutes] = useState(true);
  const [{ reason }, changeReason] = useDraft(`reason.${approval.id}`, { reason: '' });
  const outcomes = outcomesOf(approval);
  const votes = votesOf(approval, viewer);
  const mine = VOTES.filter((one) => votes[one] && payloads[one]);
  const isBusy = progress.step === 'wallet' || progress.step === 'sending';
  const cast = (one: VoteType) => {
    const { digest = '' } = payloads[one] ?? {};
    vote({ vote: one, digest, execute: executes && isDecisive(approval, one), reason });
  };
  const voteButton = (one: VoteType) =>
    mine.includes(one) ? (
      <Button look={one === 'reject' ? 'danger' : 'primary'} busy={isBusy} onClick={() => cast(one)}>
        {voteLabel(approval, one, executes)}
      </Button>
    ) : null;
  const executeButton = (outcome: 'approve' | 'reject') =>
    outcomes[outcome] ? (
      <Button
        look={outcome === 'reject' ? 'danger' : 'primary'}
        busy={isBusy}
        onClick={() => execute(outcome)}
      >
        {executeLabel(approval, outcome)}
      </Button>
    ) : null;
  // What was sent without an answer has to be settled before anything else is decided.
  if (progress.step === 'unanswered') return <ProgressLine progress={progress} onStop={stopWaiting} />;
  return (
    <>
      {mine.includes('reject') ? (
        <TextField
          label="Reason (optional)"
          hint="Everybody in the organization can read it."
          value={reason}
          maxLength={500}
          onChange={({ target }) => changeReason({ reason: target.value })}
        />
      ) : null}
      {mine.some((one) => isDecisive(approval, one)) ? (
        <CheckField
          label="Execute at once"
          hint="Your signature would be the last one that is needed."
          checked={executes}
          onChange={({ target }) => setExecutes(target.checked)}
        />
      ) : null}
      <div className="row decision-buttons">
        {voteButton('initiator')}
        {voteButton('approve')}
        {executeButton('approve')}
        {voteButton('reject')}
        {executeButton('reject')}
      </div>
      <ProgressLine progress={progress} onStop={stopWaiting} />
    </>
  );
}

/** What is signed, and the buttons that sign it. A payload that is not what it should be has none. */
export function Decision({
  approval,
  viewer,
  isExpired,
}: {
  readonly approval: Approval;
  readonly viewer: Viewer;
  readonly isExpired: boolean;
}) {
  const { payloads, problem } = useMemo(() => readAll(approval), [approval]);
  const shownPayload = payloads.initiator ?? payloads.approve;
  // Nobody can sign what has expired, and it is not compared any more.
  if (problem && !isExpired) return <Mismatch problem={problem} />;
  return (
    <div className="stack">
      {shownPayload ? <Bytes verified={shownPayload} /> : null}
      {isExpired ? null : <Buttons approval={approval} viewer={viewer} payloads={payloads} />}
    </div>
  );
}
