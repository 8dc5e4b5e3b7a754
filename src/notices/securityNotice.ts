import type { FeedEntry } from '../domain/feedEvent';
import { quotedName } from '../domain/summary';
import { type Notice, noticeOf } from './notice';

type Entry = Pick<FeedEntry, 'action' | 'actor' | 'resourceId' | 'details'>;

/** What has happened to a resource, and its page in the console. */
const TOLD: { readonly [action: string]: readonly [title: string, page: string] } = {
  'account.unknownExecution': ['An execution that nobody here has authorized', '/accounts'],
  'account.differed': ['An account in the database was not what had been decided', '/audit'],
  'member.created': ['Member added', '/members'],
  'member.updated': ['Member changed', '/members'],
  'member.removed': ['Member removed', '/members'],
  'member.differed': ['A member in the database was not what had been decided', '/audit'],
  'group.created': ['Group created', '/groups'],
  'group.updated': ['Group changed', '/groups'],
  'group.deleted': ['Group deleted', '/groups'],
  'group.differed': ['A group in the database was not what had been decided', '/audit'],
  'policy.created': ['Policy created', '/policies'],
  'policy.updated': ['Policy changed', '/policies'],
  'policy.removed': ['Policy removed', '/policies'],
  'policy.differed': ['A policy in the database was not what had been decided', '/audit'],
  'admins.updated': ['Admins changed', '/admins'],
  'admin.differed': ['The admins in the database were not what had been decided', '/audit'],
  'organization.recovered': ['Restored by an operator', '/audit'],
  'organization.frozen': ['Frozen: nothing is signed', '/'],
  'organization.unfrozen': ['Not frozen any more', '/'],
  'apiKey.issued': ['API key issued', '/keys'],
  'apiKey.revoked': ['API key revoked', '/keys'],
  'webhook.created': ['Webhook created', '/notifications'],
  'webhook.updated': ['Webhook changed', '/notifications'],
  'webhook.removed': ['Webhook removed', '/notifications'],
  'webhook.disabled': ['Webhook disabled: nothing is sent to it', '/notifications'],
  'channel.created': ['Channel created', '/notifications'],
  'channel.updated': ['Channel changed', '/notifications'],
  'channel.removed': ['Channel removed', '/notifications'],
  'channel.disabled': ['Channel disabled: nothing is sent to it', '/notifications'],
  'session.started': ['Sign-in from a new browser', '/you'],
};

type Fields = { readonly [field: string]: unknown };

/** How a resource was called then. */
function nameOf({ details }: Entry): string | undefined {
  const within = (part: string) => (details[part] ?? {}) as Fields;
  const name = within('after').name ?? within('before').name;
  return typeof name === 'string' ? quotedName(name) : undefined;
}

/** The notice of a change of who decides, or of how the organization is reached. `pageAt` makes the address of a page. */
export function securityNotice(
  entry: Entry,
  { organization, pageAt }: { organization: string; pageAt: (path: string) => string | null },
): Notice {
  const { actor, details, resourceId } = entry;
  const [title, page] = TOLD[entry.action] ?? ['Changed', '/audit'];
  const name = nameOf(entry);
  const { proposalId, userAgent } = details;
  return noticeOf(
    title,
    [
      quotedName(organization),
      [...(name === undefined ? [] : [name]), resourceId].join(' '),
      ...(actor.type === 'system'
        ? []
        : [`By: ${actor.type === 'member' ? quotedName(actor.name) : 'an operator'}`]),
      ...(typeof userAgent === 'string' ? [`Browser: ${quotedName(userAgent)}`] : []),
      ...(typeof proposalId === 'string' ? [`Decided with: ${proposalId}`] : []),
    ],
    pageAt(page),
  );
}

/** Whether a member hears of it by their own mail: admins do, and everybody of what is about themselves. */
export function concernsSafety(
  { actor, resourceId }: Pick<Entry, 'actor' | 'resourceId'>,
  member: { readonly id: string; readonly isAdmin: boolean },
): boolean {
  return member.isAdmin || resourceId === member.id || actor.id === member.id;
}
