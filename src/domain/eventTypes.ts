/** The fields of the audit details that an event shows: states and ids, no text of people, and no secret. */
type Shown = readonly string[];

/**
 * Every type of event, with what its `data` shows: the actions of the audit log, which accepts no other. A new action is a line
 * here and in the table of docs/events.md, and `EVENT_LIST_VERSION` is one more.
 */
export const EVENT_TYPES = {
  'proposal.created': ['resourceType', 'action', 'expiresAt'],
  'proposal.signed': ['resourceType', 'action', 'type', 'signatureStatus'],
  'proposal.reminded': ['resourceType', 'action', 'reminder', 'expiresAt'],
  'proposal.executionStarted': ['resourceType', 'action', 'attempt', 'decision'],
  'proposal.executionRetried': ['resourceType', 'action', 'attempt'],
  'proposal.executed': ['resourceType', 'action', 'attempt', 'sequence'],
  'proposal.executionFailed': ['resourceType', 'action', 'attempt', 'retryable'],
  'proposal.blocked': ['resourceType', 'action', 'attempt', 'retryable', 'code'],
  'proposal.rejected': ['resourceType', 'action'],
  'proposal.expired': ['resourceType', 'action', 'expiresAt'],
  'proposal.closed': ['resourceType', 'action'],
  'proposal.signingStopped': ['resourceType', 'action', 'accountId', 'networkId'],
  'proposal.restored': ['resourceType', 'action'],
  'proposal.recovered': ['sequence', 'resolution'],
  'transaction.created': ['accountId', 'networkId', 'expiresAt'],
  'transaction.signed': ['accountId', 'networkId', 'type', 'signatureStatus'],
  'transaction.reminded': ['accountId', 'networkId', 'reminder', 'expiresAt'],
  'transaction.executionStarted': ['accountId', 'networkId', 'attempt', 'decision'],
  'transaction.executionRetried': ['accountId', 'networkId', 'attempt'],
  'transaction.executed': ['accountId', 'networkId', 'attempt', 'transactionHash', 'blockNumber'],
  'transaction.executionFailed': ['accountId', 'networkId', 'attempt', 'retryable'],
  'transaction.blocked': ['accountId', 'networkId', 'attempt', 'retryable', 'code'],
  'transaction.rejected': ['accountId', 'networkId'],
  'transaction.expired': ['accountId', 'networkId', 'expiresAt'],
  'transaction.closed': ['accountId', 'networkId'],
  'transaction.signingStopped': ['accountId', 'networkId'],
  'transaction.restored': ['accountId', 'networkId'],
  'transaction.recovered': ['safeNonce', 'safeTxHash', 'outcome'],
  'transaction.broadcast': ['networkId', 'transactionHash', 'accountNonce'],
  'transaction.reopened': [],
  'transaction.referencesChanged': ['accountId', 'networkId'],
  'transaction.cancellationRequested': ['accountId', 'networkId', 'attempt'],
  'account.created': ['proposalId'],
  'account.updated': ['proposalId'],
  'account.deployed': ['proposalId', 'networkId', 'transactionHash'],
  'account.deploymentFailed': ['proposalId', 'networkId'],
  'account.unknownExecution': ['networkId', 'safeNonce', 'safeTxHash', 'transactionHash'],
  'account.differed': [],
  'movement.pending': ['networkId', 'count', 'movementIds', 'fromBlock', 'toBlock'],
  'movement.confirmed': ['networkId', 'count', 'movementIds', 'fromBlock', 'toBlock'],
  'movement.reversed': ['networkId', 'count', 'movementIds', 'fromBlock', 'toBlock'],
  'member.created': ['proposalId'],
  'member.updated': ['proposalId'],
  'member.removed': ['proposalId'],
  'member.registered': [],
  'member.differed': [],
  'group.created': ['proposalId'],
  'group.updated': ['proposalId'],
  'group.deleted': ['proposalId'],
  'group.differed': [],
  'policy.created': ['proposalId'],
  'policy.updated': ['proposalId'],
  'policy.removed': ['proposalId'],
  'policy.differed': [],
  'admins.updated': ['proposalId'],
  'admin.differed': [],
  'addressBookEntry.created': [],
  'addressBookEntry.updated': [],
  'addressBookEntry.removed': [],
  'organization.created': [],
  'organization.signed': ['memberId'],
  'organization.recovered': [],
  'organization.frozen': ['everyOrganization'],
  'organization.unfrozen': ['everyOrganization'],
  'apiKey.issued': ['rotatedFrom'],
  'apiKey.revoked': ['rotatedTo'],
  'webhook.created': [],
  'webhook.updated': [],
  'webhook.removed': [],
  'webhook.rotated': [],
  'webhook.disabled': ['reason'],
  'webhook.paused': ['reason'],
  'webhook.resumed': [],
  'webhook.resent': ['events'],
  'channel.created': ['kind', 'occasions', 'memberId'],
  'channel.updated': ['kind', 'occasions', 'memberId'],
  'channel.confirmed': ['kind', 'memberId'],
  'channel.removed': ['kind', 'memberId'],
  'channel.disabled': ['reason'],
  'channel.paused': ['reason'],
  'channel.resumed': [],
  'session.started': ['expiresAt', 'newBrowser'],
  'session.ended': ['reason', 'memberId'],
} as const satisfies { readonly [type: string]: Shown };

/** Counts up whenever a type is added, or shows more. Nothing is taken away. */
export const EVENT_LIST_VERSION = 2;

/** What the audit log records, and the type of its event: `<resource>.<verb>` in the past. A new one is a line of EVENT_TYPES. */
export type AuditAction = keyof typeof EVENT_TYPES;

/** The types, in their order. */
export const eventTypes = Object.keys(EVENT_TYPES) as AuditAction[];

type VerbOf<Subject extends string> = AuditAction extends infer Action
  ? Action extends `${Subject}.${infer Verb}`
    ? Verb
    : never
  : never;

/** What happens to approvals, whatever their subject. */
export type ApprovalVerb = VerbOf<'proposal'>;

/** Every field of audit details that some event shows. */
export const SHOWN_DETAILS: readonly string[] = [...new Set(Object.values<Shown>(EVENT_TYPES).flat())];

/** The fields of the audit details that the event of an action shows; none of an action that a newer build has written. */
export function shownDetails(action: string): Shown {
  return Object.hasOwn(EVENT_TYPES, action) ? EVENT_TYPES[action as AuditAction] : [];
}
