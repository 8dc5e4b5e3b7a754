import type { Schema } from '@orgwallet/client';
import { quotedName } from '../domain/quotedName.ts';
import { failureTitle } from './failures.ts';

const words = (name: string) =>
  name
    .replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .trim()
    .replace(/^api\b/, 'API');

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** `proposal.executionFailed` as words: `Proposal execution failed`. */
export const actionText = (action: string): string => capital(action.split('.').map(words).join(' '));

/** What entries name by an id, as it is called now. */
export interface AuditNames {
  member(id: string): string | undefined;
  group(id: string): string | undefined;
  account(id: string): string | undefined;
  policy(id: string): string | undefined;
}

type Entry = Pick<Schema['AuditLogEntry'], 'action' | 'resourceType' | 'resourceId' | 'details'>;
type Fields = { readonly [field: string]: unknown };

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);
const within = (details: Fields, part: string) => (details[part] ?? {}) as Fields;

/** How something was called at that time; otherwise, how it is called now. A request is called what it asks for. */
function nameOf({ resourceType, resourceId, details }: Entry, names: AuditNames): string | undefined {
  const own = text(within(details, 'after').name) ?? text(within(details, 'before').name);
  const now = (names as unknown as { readonly [type: string]: (id: string) => string | undefined })[
    resourceType
  ];
  return own ?? now?.(resourceId) ?? text(details.summary)?.split('\n', 1)[0];
}

const VOTES: { readonly [type: string]: string } = {
  initiator: 'signed by its initiator',
  approve: 'approved',
  reject: 'rejected',
};

function verbText(verb: string, details: Fields): string {
  if (verb === 'signed') return VOTES[String(details.type)] ?? 'signed';
  if (verb === 'executed' && typeof details.blockNumber === 'number')
    return `executed in block ${details.blockNumber}`;
  const code = text(within(details, 'failure').code) ?? (verb === 'blocked' ? text(details.code) : undefined);
  return code ? `${words(verb)}: ${failureTitle(code)}` : words(verb);
}

/** What an entry says was done, in words and with names: `Policy “Petty cash” created`. */
export function auditText(entry: Entry, names: AuditNames): string {
  const [what = '', verb = ''] = entry.action.split('.');
  const name = nameOf(entry, names);
  return capital(
    [words(what), name && quotedName(name), verbText(verb, entry.details)].filter(Boolean).join(' '),
  );
}
