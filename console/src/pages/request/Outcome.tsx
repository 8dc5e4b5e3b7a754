import { type Approval, type Hashes, hashesOf, type Schema, statementOf } from '@orgwallet/client';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Organization } from '../../api/useOrganization.ts';
import { explorerLink } from '../../text/explorer.ts';
import { dateTime } from '../../text/time.ts';
import { Facts } from '../../ui/Facts.tsx';
import { HashList } from '../../ui/HashList.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { OutsideLink } from '../../ui/OutsideLink.tsx';

/** A transaction of a chain, with a link where the network has an explorer. */
function ChainHash({
  hash,
  network,
}: {
  readonly hash: string;
  readonly network: Schema['Network'] | undefined;
}) {
  const href = explorerLink(network, 'tx', hash);
  if (href === undefined) return <code>{hash}</code>;
  return (
    <OutsideLink href={href}>
      <code>{hash}</code>
    </OutsideLink>
  );
}

function chainRows(approval: Approval, { networks }: Organization): (readonly [string, ReactNode])[] {
  if ('resourceType' in approval) {
    return (approval.deployments ?? []).map(({ networkId, status, transactionHash, failure, waitingFor }) => {
      const network = networks.find(({ id }) => id === networkId);
      const text = failure?.message ?? waitingFor;
      return [
        `Deployment on ${network?.name ?? networkId}`,
        <>
          {status}
          {text ? `: ${text}` : ''}{' '}
          {transactionHash ? <ChainHash hash={transactionHash} network={network} /> : null}
        </>,
      ];
    });
  }
  const network = networks.find(({ id }) => id === approval.networkId);
  const hash = approval.result?.transactionHash ?? approval.chain?.transactionHash;
  return [
    ['Transaction hash', hash ? <ChainHash hash={hash} network={network} /> : undefined],
    ['Submitted', approval.chain ? dateTime(approval.chain.submittedAt) : undefined],
    ['Confirmations', approval.chain ? String(approval.chain.confirmations) : undefined],
    ['Block', approval.result?.blockNumber === undefined ? undefined : String(approval.result.blockNumber)],
  ];
}

/** Whether there is anything to say about what became of a request. */
export function hasOutcome(approval: Approval): boolean {
  const { executionStatus, notes, deployments = [] } = { deployments: [], ...approval };
  return executionStatus !== null || notes.length > 0 || deployments.length > 0;
}

/** What approvers of a closed transaction have signed. */
function signedHashes(approval: Approval): Hashes | undefined {
  if ('resourceType' in approval || approval.signingPayloads) return undefined;
  const { signatureData } = approval;
  return 'approvePayload' in signatureData ? hashesOf(statementOf(signatureData.approvePayload)) : undefined;
}

/** What can follow a failure. */
function sequelOf({ resumes, retryable }: Schema['Failure']): string {
  if (resumes) return 'It continues by itself: do not request it again.';
  return retryable ? 'It can be executed again.' : 'It cannot be executed again.';
}

/** What became of a request. */
export function Outcome({
  approval,
  organization,
}: {
  readonly approval: Approval;
  readonly organization: Organization;
}) {
  const { failure, notes } = approval;
  const signed = signedHashes(approval);
  const rows = chainRows(approval, organization).filter(([, value]) => value !== undefined);
  return (
    <div className="stack">
      {approval.executionStatus === 'completed' ? <p>It was executed as it was signed.</p> : null}
      {approval.executionStatus === 'rejected' ? <p>It was rejected. Nothing was changed.</p> : null}
      {approval.executionStatus === 'processing' ? <p role="status">It is being executed.</p> : null}
      {failure ? (
        <Notice
          tone="danger"
          title={`${approval.executionStatus === 'blocked' ? 'Blocked' : 'Failed'}: ${failure.code}`}
        >
          <p>{failure.message}</p>
          <p className="small muted">
            Attempt {failure.attempt}, {dateTime(failure.at)}. {sequelOf(failure)}
          </p>
          {failure.retryable === false && 'initiator' in approval ? (
            <Link to="/new/transfer" search={{ accountId: approval.accountId, replaces: approval.id }}>
              Create a transfer that replaces it
            </Link>
          ) : null}
        </Notice>
      ) : null}
      {rows.length > 0 ? <Facts rows={rows} /> : null}
      {signed ? (
        <details>
          <summary>Hashes of what approvers signed</summary>
          <HashList hashes={signed} />
        </details>
      ) : null}
      {notes.length > 0 ? (
        <ul className="notes">
          {notes.map(({ at, message }) => (
            <li key={`${at}${message}`}>
              <time dateTime={at} className="small muted">
                {dateTime(at)}
              </time>{' '}
              {message}
            </li>
          ))}
        </ul>
      ) : null}
    </div>
  );
}
