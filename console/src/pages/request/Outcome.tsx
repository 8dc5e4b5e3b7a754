import { type Approval, type Hashes, hashesOf, type Schema, statementOf } from '@orgwallet/client';
import type { ReactNode } from 'react';
import type { Organization } from '../../api/useOrganization.ts';
import { explorerLink } from '../../text/explorer.ts';
import { dateTime } from '../../text/time.ts';
import { Amount } from '../../ui/Amount.tsx';
import { Facts } from '../../ui/Facts.tsx';
import { HashList } from '../../ui/HashList.tsx';
import { OutsideLink } from '../../ui/OutsideLink.tsx';
import requestStyles from './request.module.css';

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

function chainRows(
  approval: Approval,
  { networks, nativeAsset }: Organization,
): (readonly [string, ReactNode])[] {
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
    ['Transaction hash', hash ? <ChainHash key="hash" hash={hash} network={network} /> : undefined],
    ['Submitted', approval.chain ? dateTime(approval.chain.submittedAt) : undefined],
    ['Confirmations', approval.chain ? String(approval.chain.confirmations) : undefined],
    ['Block', approval.result?.blockNumber === undefined ? undefined : String(approval.result.blockNumber)],
    ['Executed', approval.result?.executedAt ? dateTime(approval.result.executedAt) : undefined],
    [
      'Fees, paid by the relayer',
      approval.fees ? (
        <span key="fees">
          <Amount raw={approval.fees.paid} asset={nativeAsset(approval.networkId)} />
          {approval.fees.chainTransactions > 1
            ? ` for ${approval.fees.chainTransactions} chain transactions`
            : ''}
          {approval.fees.unknown > 0 ? ` (${approval.fees.unknown} not known)` : ''}
        </span>
      ) : undefined,
    ],
  ];
}

/** Whether there is anything to say about what became of a request. */
export function hasOutcome(approval: Approval): boolean {
  const { notes, deployments = [] } = { deployments: [], ...approval };
  const isOnChain =
    !('resourceType' in approval) && (approval.chain ?? approval.result?.transactionHash) !== undefined;
  return isOnChain || notes.length > 0 || deployments.length > 0 || signedHashes(approval) !== undefined;
}

/** What approvers of a closed transaction have signed. */
function signedHashes(approval: Approval): Hashes | undefined {
  if ('resourceType' in approval || approval.signingPayloads) return undefined;
  const { signatureData } = approval;
  return 'approvePayload' in signatureData ? hashesOf(statementOf(signatureData.approvePayload)) : undefined;
}

/** What became of a request on its chain, and what was noted on it. */
export function Outcome({
  approval,
  organization,
}: {
  readonly approval: Approval;
  readonly organization: Organization;
}) {
  const { notes } = approval;
  const signed = signedHashes(approval);
  const rows = chainRows(approval, organization).filter(([, value]) => value !== undefined);
  return (
    <div className="stack">
      {rows.length > 0 ? <Facts rows={rows} /> : null}
      {signed ? (
        <details>
          <summary>Hashes of what approvers signed</summary>
          <HashList hashes={signed} />
        </details>
      ) : null}
      {notes.length > 0 ? (
        <ul className={requestStyles.notes}>
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
