import type { AuditAction } from '../domain/eventTypes';
import type { FeedEntry } from '../domain/feedEvent';

/** Why people are told something. */
export const OCCASIONS = ['asked', 'reminder', 'decided', 'failed', 'moneyIn', 'security'] as const;

/** An occasion that a channel can be for. */
export type Occasion = (typeof OCCASIONS)[number];

/** The occasion of an action of the audit log. Of one that is not here nobody is told. */
const OCCASION_OF: { readonly [action in AuditAction]?: Occasion } = {
  'proposal.created': 'asked',
  'proposal.reminded': 'reminder',
  'proposal.executed': 'decided',
  'proposal.executionFailed': 'failed',
  'proposal.blocked': 'failed',
  'proposal.rejected': 'decided',
  'proposal.expired': 'decided',
  'proposal.closed': 'decided',
  'proposal.signingStopped': 'failed',
  'proposal.recovered': 'decided',
  'transaction.created': 'asked',
  // By its initiator: then others may sign.
  'transaction.signed': 'asked',
  'transaction.reminded': 'reminder',
  'transaction.executed': 'decided',
  'transaction.executionFailed': 'failed',
  'transaction.blocked': 'failed',
  'transaction.rejected': 'decided',
  'transaction.expired': 'decided',
  'transaction.closed': 'decided',
  'transaction.signingStopped': 'failed',
  'transaction.recovered': 'decided',
  'transaction.reopened': 'failed',
  'movement.confirmed': 'moneyIn',
  'movement.reversed': 'moneyIn',
  'account.unknownExecution': 'security',
  'account.differed': 'security',
  'member.created': 'security',
  'member.updated': 'security',
  'member.removed': 'security',
  'member.differed': 'security',
  'group.created': 'security',
  'group.updated': 'security',
  'group.deleted': 'security',
  'group.differed': 'security',
  'policy.created': 'security',
  'policy.updated': 'security',
  'policy.removed': 'security',
  'policy.differed': 'security',
  'admins.updated': 'security',
  'admin.differed': 'security',
  'organization.recovered': 'security',
  'organization.frozen': 'security',
  'organization.unfrozen': 'security',
  'apiKey.issued': 'security',
  'apiKey.revoked': 'security',
  'webhook.created': 'security',
  'webhook.updated': 'security',
  'webhook.removed': 'security',
  'webhook.disabled': 'security',
  'channel.created': 'security',
  'channel.updated': 'security',
  'channel.removed': 'security',
  'channel.disabled': 'security',
  // From a browser in which the member has not signed in before.
  'session.started': 'security',
};

/** Actions that are an occasion with these details only. */
const ONLY: { readonly [action in AuditAction]?: (details: FeedEntry['details']) => boolean } = {
  'transaction.signed': ({ type }) => type === 'initiator',
  'session.started': ({ newBrowser }) => newBrowser === true,
};

/** The occasion of an entry of the audit log; null: nobody is told, also where a newer build has written it. */
export function occasionOf({ action, details }: Pick<FeedEntry, 'action' | 'details'>): Occasion | null {
  if (!Object.hasOwn(OCCASION_OF, action)) return null;
  const known = action as AuditAction;
  return ONLY[known]?.(details) === false ? null : (OCCASION_OF[known] ?? null);
}

/** The actions that are occasions of these kinds. */
export function actionsFor(occasions: readonly Occasion[]): AuditAction[] {
  return (Object.keys(OCCASION_OF) as AuditAction[]).filter((action) => {
    const occasion = OCCASION_OF[action];
    return occasion !== undefined && occasions.includes(occasion);
  });
}
