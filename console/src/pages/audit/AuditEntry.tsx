import type { Schema } from '@orgwallet/client';
import { actionText } from '../../text/audit.ts';
import { dateTime } from '../../text/time.ts';
import { ShortId } from '../../ui/ShortText.tsx';
import { ResourceLink } from './ResourceLink.tsx';

/** One change: what, of what, by whom, when, and in its details everything that was recorded of it. */
export function AuditEntry({ entry }: { readonly entry: Schema['AuditLogEntry'] }) {
  const { id, action, actor, resourceType, resourceId, details, createdAt } = entry;
  return (
    <li className="audit-entry">
      <p className="audit-what">
        <b>{actionText(action)}</b> <span className="muted">by {actor.name}</span>
        {actor.type === 'member' ? null : <span className="muted"> ({actor.type})</span>}
      </p>
      <time className="small muted" dateTime={createdAt}>
        {dateTime(createdAt)}
      </time>
      <p className="row small">
        <ResourceLink type={resourceType} id={resourceId} />
        <ShortId id={resourceId} of={`id of the ${resourceType}`} />
      </p>
      <details className="audit-details small">
        <summary>
          Details<span className="hidden-visually"> of {actionText(action)}</span>
        </summary>
        <div className="stack-small">
          <p className="row">
            <code>{action}</code> <ShortId id={id} of="id of the entry" />
          </p>
          <pre>{JSON.stringify(details, null, 2)}</pre>
        </div>
      </details>
    </li>
  );
}
