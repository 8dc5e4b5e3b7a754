import type { ApprovalKey } from '../domain/approvalRef';
import type { Reminder } from '../domain/reminder';
import { type ActingMember, actingMemberColumn } from './authority';
import type { Db, Tx } from './database';
import { uuidOrNull } from './ids';
import { isDuplicateIn, type Statement } from './rows';

/** Names a message to an approval, or (without `messageId`) only the approval. */
export interface MessageKey extends ApprovalKey {
  readonly messageId?: string | undefined;
  /** Id of the stored request that carried it, when it came through the API. */
  readonly requestId?: string | undefined;
}

/** The effect of a message to an approval, and its sender. */
export interface MessageOrigin {
  /** True when the message has had its effect. */
  readonly messageTaken: boolean;
  /** The API key or session that sent the message; null when it came by signal or from an operator. */
  readonly credentialId: string | null;
  /** Who acts for it; null when it is not valid any more. */
  readonly actingMember: ActingMember | null;
  /** True when it names a request that is not stored, of this approval: what has sent it is not known. */
  readonly lacksRequest: boolean;
  /** Up to which decision of its organization the tables were read. */
  readonly sequence: bigint;
}

/** The columns of a message to an approval: `$1` organization, `$2` approval, `$3` message, `$4` request. */
export const messageColumns = `
    EXISTS (SELECT FROM received_messages WHERE approval_id = $2 AND message_id = $3) AS message_taken,
    (SELECT projected_sequence FROM organizations WHERE id = $1) AS sequence,
    (SELECT json_build_object('credentialId', r.credential_id, 'actingMember', ${actingMemberColumn('r.credential_id')})
      FROM idempotency_requests r
      WHERE r.id = $4 AND r.organization_id = $1 AND r.resource_id = $2) AS request`;

/** The values of `messageColumns`. */
export function messageValues({ organizationId, id, messageId, requestId }: MessageKey) {
  return [organizationId, id, messageId ?? null, uuidOrNull(requestId)];
}

/** What `messageColumns` read. */
export interface MessageColumns {
  readonly message_taken: boolean;
  readonly sequence: bigint;
  readonly request: Pick<MessageOrigin, 'credentialId' | 'actingMember'> | null;
}

/** The origin that `messageColumns` read of a message. */
export function messageOrigin({ requestId }: MessageKey, row: MessageColumns): MessageOrigin {
  const { message_taken: messageTaken, sequence, request } = row;
  const lacksRequest = requestId !== undefined && request === null;
  return {
    messageTaken,
    sequence,
    lacksRequest,
    ...(request ?? { credentialId: null, actingMember: null }),
  };
}

/** Records a new message in the transaction of its effect. */
export function insertMessage(
  tx: Db | Tx,
  id: string,
  messageId: string,
  kind: 'sign' | 'execute' | 'restore' | 'cancel' | 'remind',
): Statement {
  return tx('received_messages').insert({ approval_id: id, message_id: messageId, kind });
}

/** Whether something was not written because a message that belongs with it has had its effect already. */
export function isMessageTaken(error: unknown): boolean {
  return isDuplicateIn('received_messages', error);
}

/** True when a message with this id has had its effect on that approval. */
export async function isMessageReceived(db: Db | Tx, id: string, messageId: string): Promise<boolean> {
  const received = await db('received_messages')
    .where({ approval_id: id, message_id: messageId })
    .first('message_id');
  return received !== undefined;
}

/** The id of the message with which a reminder is recorded: once for each. */
export function reminderMessageId(reminder: Reminder): string {
  return `reminder/${reminder}`;
}

/** The id of the message with which a restarted run records itself. */
export function restartedMessageId(runId: string): string {
  return `restored/${runId}`;
}
