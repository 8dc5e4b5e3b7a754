import type { AuditBreak, Schema } from '@orgwallet/client';
import { memo, useState } from 'react';
import { type AuditNames, actionText, auditText } from '../../text/audit.ts';
import { breakText } from '../../text/auditProof.ts';
import { dateTime } from '../../text/time.ts';
import { Badge } from '../../ui/Badge.tsx';
import { classes } from '../../ui/classes.ts';
import { ShortId, ShortText } from '../../ui/ShortText.tsx';
import auditStyles from './audit.module.css';
import { ResourceLink } from './ResourceLink.tsx';

type Entry = Schema['AuditLogEntry'];

/** Everything that was recorded: made once it is opened, because a page may have thousands of entries. */
function Details({ entry }: { readonly entry: Entry }) {
  const { id, action, details, position, previousHash, hash } = entry;
  const [isOpen, setOpen] = useState(false);
  return (
    <details
      className={`${auditStyles.auditDetails} small`}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>
        Details<span className="hidden-visually"> of {actionText(action)}</span>
      </summary>
      {isOpen ? (
        <div className="stack-small">
          <p className="row">
            <code>{action}</code> <ShortId id={id} of="id of the entry" />
          </p>
          <pre>{JSON.stringify(details, null, 2)}</pre>
          <p className="row">
            <span>Hash</span> <ShortText text={hash} of={`hash of entry ${position}`} />
            <span>after</span> <ShortText text={previousHash} of={`hash before entry ${position}`} />
          </p>
        </div>
      ) : null}
    </details>
  );
}

const NONE: readonly AuditBreak[] = [];

/** One change: what, of what, by whom, when, and in its details everything that was recorded of it. */
export const AuditEntry = memo(function AuditEntry({
  entry,
  names,
  breaks = NONE,
}: {
  readonly entry: Entry;
  readonly names: AuditNames;
  /** In what it is not what was recorded. */
  readonly breaks: readonly AuditBreak[] | undefined;
}) {
  const { actor, resourceType, resourceId, createdAt, position } = entry;
  return (
    <li className={classes(auditStyles.auditEntry, breaks.length > 0 && auditStyles.broken)}>
      <p className={auditStyles.auditWhat}>
        <b>{auditText(entry, names)}</b> <span className="muted">by {actor.name}</span>
        {actor.type === 'member' ? null : <span className="muted"> ({actor.type})</span>}
      </p>
      <time className="small muted" dateTime={createdAt}>
        {dateTime(createdAt)}
      </time>
      <p className="row small">
        <span className="muted">Entry {position}</span>
        <ResourceLink type={resourceType} id={resourceId} />
        <ShortId id={resourceId} of={`id of the ${resourceType}`} />
      </p>
      <Details entry={entry} />
      {breaks.length > 0 ? (
        <div className={`${auditStyles.auditBreaks} small`}>
          <Badge tone="danger">Broken</Badge>
          {breaks.map((one) => (
            <p key={one.field}>{breakText(one)}</p>
          ))}
        </div>
      ) : null}
    </li>
  );
});
