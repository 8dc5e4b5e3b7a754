import type { AuditInput } from '../db/audit';
import { canonicalJson, type JsonValue } from '../domain/canonicalJson';
import type { AuditAction } from '../domain/eventTypes';
import type { ExternalEvent } from '../domain/externalEvents';
import type { MemberState, ResourceChange } from '../domain/governance';
import type { ResultResource } from '../domain/proposal';
import { quoted } from '../domain/quoted';
import { isSameWallet, walletText } from '../domain/wallet';

type Fields = { readonly [field: string]: JsonValue };

type Of<K extends ResourceChange['type']> = Extract<ResourceChange, { readonly type: K }>;

/** The content of a resource in audit entries. */
function contentOf(change: ResourceChange, version: 'before' | 'after'): Fields {
  const resource = change[version];
  if (resource === null) return {};
  const { id: _, revision: __, ...content } = resource;
  return ('definition' in content ? content.definition : content) as unknown as Fields;
}

/** Those fields of a content that another one has not, or has differently. */
function differing(content: Fields, other: Fields): Fields {
  return Object.fromEntries(
    Object.entries(content).filter(
      ([field, value]) => canonicalJson(value) !== canonicalJson(other[field] ?? null),
    ),
  );
}

/** What happened to a resource: a removed group is called deleted, as the API does. */
function actionOf({ type, before, after }: Exclude<ResourceChange, Of<'account'>>): AuditAction {
  if (type === 'admin') return 'admins.updated';
  if (after === null) return type === 'group' ? 'group.deleted' : `${type}.removed`;
  return `${type}.${before === null ? 'created' : 'updated'}`;
}

/** The details of an audit entry: what changed, before and after. */
function detailsOf(change: ResourceChange): Fields {
  const [before, after] = [contentOf(change, 'before'), contentOf(change, 'after')];
  if (change.before === null) return { after };
  if (change.after === null) return { before };
  return change.type === 'member'
    ? { before: differing(before, after), after: differing(after, before) }
    : { before, after };
}

/** An audit entry of a change, with the change. */
interface AuditedChange {
  readonly change: ResourceChange;
  readonly entry: Omit<AuditInput, 'actor'>;
}

/**
 * The audit entries of what a decision changed. An account has them when it is deployed; here only its new name counts.
 */
export function auditOfChanges(proposalId: string, changes: readonly ResourceChange[]): AuditedChange[] {
  return changes.flatMap((change): AuditedChange[] => {
    const { type, id } = change;
    const about = { resourceType: type, resourceId: id };
    if (change.type === 'account') {
      const { before, after } = change;
      if (!before || !after || before.name === after.name) return [];
      const details = { before: { name: before.name }, after: { name: after.name }, proposalId };
      return [{ change, entry: { ...about, action: 'account.updated', details } }];
    }
    const details = { ...detailsOf(change), proposalId };
    return [{ change, entry: { ...about, action: actionOf(change), details } }];
  });
}

/** The resources of a proposal's result: what it was about, not what followed from it. */
export function resourcesOf(resourceType: string, changes: readonly ResourceChange[]): ResultResource[] {
  return changes
    .filter(({ type }) => PATHS[type] === resourceType)
    .map(({ type, id, after }) => ({
      type,
      id,
      ...(after === null ? {} : { uri: `/api/v1/${PATHS[type]}/${id}` }),
    }));
}

const PATHS = {
  member: 'members',
  group: 'groups',
  policy: 'policies',
  account: 'accounts',
  admin: 'admins',
} as const;

const named = ({ id, name }: { readonly id: string; readonly name: string }) => `${quoted(name)} (${id})`;

function walletTaken({ id, name, walletAddress }: MemberState): ExternalEvent {
  return {
    target: { subject: `wallet:${walletAddress.toLowerCase()}` },
    code: 'walletTaken',
    message: `${walletAddress} is now the wallet of member ${named({ id, name })}`,
  };
}

function memberEvents(before: MemberState | null, after: MemberState | null): ExternalEvent[] {
  if (!after) {
    if (!before) return [];
    const message = `member ${quoted(before.name)} (${before.id}, ${walletText(before)}) has been removed from the organization`;
    return [{ target: { subject: `member:${before.id}` }, code: 'memberRemoved', message }];
  }
  if (!before) return [walletTaken(after)];
  if (isSameWallet(before, after)) return [];
  const message = `the wallet of member ${named(before)} changed from ${walletText(before)} to ${walletText(after)}`;
  const changed = { target: { subject: `member:${after.id}` }, code: 'walletChanged', message };
  return before.walletAddress === after.walletAddress ? [changed] : [changed, walletTaken(after)];
}

function groupEvents({ id, before, after }: Of<'group'>, removed: ReadonlySet<string>): ExternalEvent[] {
  if (!before) return [];
  const target = { subject: `group:${id}` };
  const group = `group ${named(before)}`;
  if (!after) return [{ target, code: 'groupDeleted', message: `${group} has been deleted` }];
  const lost = before.memberIds.some((memberId) => removed.has(memberId));
  const what = lost ? 'has lost members who were removed from the organization' : 'has been changed';
  return [{ target, code: 'groupChanged', message: `${group} ${what}` }];
}

function policyEvents({ id, before, after }: Of<'policy'>): ExternalEvent[] {
  if (!before) return [];
  const target = { subject: `policy:${id}` };
  const policy = `policy ${named({ id, name: before.definition.name })}`;
  return after
    ? [{ target, code: 'policyChanged', message: `${policy} has been changed` }]
    : [{ target, code: 'policyRemoved', message: `${policy} has been removed` }];
}

/** The events to note on open approvals that name a resource which a decision changed. */
export function eventsOfChanges(changes: readonly ResourceChange[]): ExternalEvent[] {
  const removed = new Set(
    changes.flatMap(({ type, id, after }) => (type === 'member' && !after ? [id] : [])),
  );
  return changes.flatMap((change): ExternalEvent[] => {
    if (change.type === 'member') return memberEvents(change.before, change.after);
    if (change.type === 'group') return groupEvents(change, removed);
    return change.type === 'policy' ? policyEvents(change) : [];
  });
}
