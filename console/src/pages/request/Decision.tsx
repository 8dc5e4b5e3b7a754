import {
  type Approval,
  isOrgwalletError,
  PayloadMismatch,
  type Payloads,
  type VoteType,
} from '@orgwallet/client';
import { useEffect, useRef, useState } from 'react';
import { isFirstSeen } from '../../api/client.ts';
import { isUnanswered } from '../../api/once.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { outcomesOf, type Viewer, votesOf } from '../../domain/eligibility.ts';
import { useDraft } from '../../state/drafts.ts';
import { doneText, executeLabel, isDecisive, voteLabel } from '../../text/labels.ts';
import { voteReason } from '../../text/voteReason.ts';
import { Button } from '../../ui/Button.tsx';
import { classes } from '../../ui/classes.ts';
import { CheckField, TextField } from '../../ui/Field.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { ShortId } from '../../ui/ShortText.tsx';
import { ErrorNotice } from '../../ui/States.tsx';
import { Bytes, SUMMARY_ID } from './Bytes.tsx';
import { Renames } from './Renames.tsx';
import { RequestMismatch } from './RequestMismatch.tsx';
import requestStyles from './request.module.css';
import { type Progress, useVoting } from './useVoting.ts';
import { Warnings } from './Warnings.tsx';

function Failed({ error, again }: { readonly error: unknown; readonly again: () => void }) {
  if (error instanceof PayloadMismatch) return <RequestMismatch problem={error} />;
  const canRepeat = !isOrgwalletError(error) || isUnanswered(error);
  return <ErrorNotice error={error} {...(canRepeat ? { retry: again } : {})} />;
}

const VOTES: readonly VoteType[] = ['initiator', 'approve', 'reject'];

function ProgressLine({
  approval,
  progress,
  onStop,
}: {
  readonly approval: Approval;
  readonly progress: Progress;
  readonly onStop: () => void;
}) {
  return (
    <>
      <div role="status">
        {progress.step === 'wallet' ? (
          <p className="row">
            Waiting for your wallet: compare what it shows with this page, then sign there.
            <Button look="quiet" onClick={onStop}>
              Stop waiting
            </Button>
          </p>
        ) : null}
        {progress.step === 'sending' ? (
          <p>Sending. If the connection breaks, it is sent again automatically.</p>
        ) : null}
        {progress.step === 'done' ? <p>{doneText(approval)}</p> : null}
      </div>
      {progress.step === 'failed' || progress.step === 'unanswered' ? (
        <Failed error={progress.error} again={progress.again} />
      ) : null}
    </>
  );
}

function Buttons({
  approval,
  organization,
  viewer,
  payloads,
  isLocked,
  isReview,
}: {
  readonly approval: Approval;
  readonly organization: Organization;
  readonly viewer: Viewer;
  readonly payloads: Payloads;
  readonly isLocked: boolean;
  readonly isReview: boolean;
}) {
  const { progress, vote, execute, stopWaiting } = useVoting(approval);
  const [executes, setExecutes] = useState(true);
  const [{ reason }, changeReason] = useDraft(`reason.${approval.id}`, { reason: '' });
  const outcomes = outcomesOf(approval);
  const votes = votesOf(approval, viewer);
  const mine = VOTES.filter((one) => !isLocked && votes[one] && payloads[one]);
  const isBusy = progress.step === 'wallet' || progress.step === 'sending';
  const cast = (one: VoteType) => {
    const { digest = '' } = payloads[one] ?? {};
    vote({ type: one, digest, execute: executes && isDecisive(approval, one), reason });
  };
  const bar = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!isReview) return;
    // Once the page has given its heading the focus.
    const frame = requestAnimationFrame(() =>
      bar.current?.querySelector<HTMLElement>('[data-look=primary]')?.focus(),
    );
    return () => cancelAnimationFrame(frame);
  }, [isReview]);
  const voteButton = (one: VoteType) =>
    mine.includes(one) ? (
      <Button
        look={one === 'reject' ? 'danger' : 'primary'}
        busy={isBusy}
        aria-describedby={SUMMARY_ID}
        onClick={() => cast(one)}
      >
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
  const line = <ProgressLine approval={approval} progress={progress} onStop={stopWaiting} />;
  if (progress.step === 'unanswered') return line;
  const whyNot = isLocked ? undefined : voteReason(approval, viewer);
  const canAct = mine.length > 0 || outcomes.approve || outcomes.reject;
  return (
    <>
      {mine.includes('reject') ? (
        <TextField
          label="Reason (optional)"
          hint="All members can read it."
          value={reason}
          maxLength={500}
          onChange={({ target }) => changeReason({ reason: target.value })}
        />
      ) : null}
      {mine.some((one) => isDecisive(approval, one)) ? (
        <CheckField
          label="Execute immediately"
          hint="Your signature meets the threshold."
          checked={executes}
          onChange={({ target }) => setExecutes(target.checked)}
        />
      ) : null}
      {whyNot ? <p className="muted">{whyNot}</p> : null}
      <div ref={bar} className={classes('stack-small', canAct && requestStyles.decisionBar)}>
        {canAct && !('resourceType' in approval) ? (
          <Warnings transaction={approval} organization={organization} />
        ) : null}
        {canAct ? (
          <div className={`row ${requestStyles.decisionButtons}`}>
            {voteButton('initiator')}
            {voteButton('approve')}
            {executeButton('approve')}
            {voteButton('reject')}
            {executeButton('reject')}
          </div>
        ) : null}
        {line}
      </div>
    </>
  );
}

/** The first payload of an organization decides what its salt is: somebody has to compare it. */
function FirstSeen({ organization }: { readonly organization: string | undefined }) {
  if (organization === undefined || !isFirstSeen(organization)) return null;
  return (
    <Notice tone="warning" title="First request of this organization in this browser">
      <p>
        Compare the domain hash below with the one that another admin sees. From now on this browser refuses
        any other for <ShortId id={organization} of="organization id" />.
      </p>
    </Notice>
  );
}

/** What is signed, and the buttons that sign it. */
export function Decision({
  approval,
  organization,
  viewer,
  payloads,
  isExpired,
  isChanged,
  isReview,
  onRead,
}: {
  readonly approval: Approval;
  readonly organization: Organization;
  readonly viewer: Viewer;
  /** What can be signed: it says what the page says. */
  readonly payloads: Payloads;
  readonly isExpired: boolean;
  /** Since it was read. */
  readonly isChanged: boolean;
  /** One of several that are decided in a row: its first button has the focus. */
  readonly isReview: boolean;
  readonly onRead: () => void;
}) {
  const [first] = Object.values(payloads);
  return (
    <div className="stack">
      {isChanged ? (
        <Notice tone="warning" title="This request changed: read it again" urgent>
          <p>What you would sign now is not what this page showed before.</p>
          <Button onClick={onRead}>I have read it again</Button>
        </Notice>
      ) : null}
      {isExpired ? null : <Renames payloads={payloads} />}
      <FirstSeen organization={first?.typedData.message.organization} />
      {first ? <Bytes payloads={payloads} /> : null}
      {isExpired ? null : (
        <Buttons
          approval={approval}
          organization={organization}
          viewer={viewer}
          payloads={payloads}
          isLocked={isChanged}
          isReview={isReview}
        />
      )}
    </div>
  );
}
