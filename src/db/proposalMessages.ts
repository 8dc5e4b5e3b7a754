import type { Now, VoteType } from '../domain/proposal';
import type { Db, Row, Tx } from './database';
import { uuidOrNull } from './ids';
import { openOfKey } from './openOfKey';
import { type PreparedStatement, runPrepared } from './prepared';
import { nowColumns, nowOf } from './proposalSnapshot';
import {
  deploymentsColumn,
  type StoredProposal,
  type StoredVote,
  storedProposal,
  votesColumn,
} from './proposals';

/** Names a message to a proposal, or (without `messageId`) only the proposal. */
export interface MessageKey {
  readonly organizationId: string;
  readonly proposalId: string;
  readonly messageId?: string;
  /** Id of the stored request that carried it, when it came through the API. */
  readonly requestId?: string;
}

/** A proposal with everything that a message to it is judged by, read at one moment. */
export interface ProposalForMessage {
  readonly record: StoredProposal;
  readonly now: Now;
  /** EIP-712 domain salt of the organization. */
  readonly domainSalt: string;
  /** True when the message has had its effect. */
  readonly messageTaken: boolean;
  /** The API key that sent the message; null when it came another way. */
  readonly apiKeyId: string | null;
}

const READ: PreparedStatement = {
  name: 'proposal_for_message',
  text: `SELECT proposals.*, ${votesColumn}, ${deploymentsColumn},
      o.domain_salt, ${nowColumns('s')},
      EXISTS (SELECT FROM proposal_messages WHERE proposal_id = $2 AND message_id = $3) AS message_taken,
      (SELECT api_key_id FROM idempotency_requests r
        WHERE r.id = $4 AND r.organization_id = o.id AND r.resource_id = $2) AS request_api_key_id
    FROM proposals
    JOIN organizations o ON o.id = proposals.organization_id
    JOIN admin_sets s ON s.organization_id = o.id
    WHERE proposals.organization_id = $1 AND proposals.id = $2`,
};

// The admins come first, always: an execution that changes them goes on to change other proposals. The CTE is read
// before the row that it is joined to is locked.
function lockStatement(name: string, admins: 'FOR SHARE' | 'FOR UPDATE'): PreparedStatement {
  return {
    name,
    text: `WITH admins AS MATERIALIZED (
        SELECT organization_id FROM admin_sets WHERE organization_id = $1 ${admins}
      )
      SELECT 1 FROM admins JOIN proposals ON proposals.organization_id = admins.organization_id
      WHERE proposals.id = $2
      FOR UPDATE OF proposals`,
  };
}
const LOCK = lockStatement('lock_proposal', 'FOR SHARE');
const LOCK_ORGANIZATION = lockStatement('lock_organization_and_proposal', 'FOR UPDATE');

/** Reads a proposal with what a message to it is judged by, in one statement; undefined when there is none. */
export async function readProposalForMessage(
  db: Db | Tx,
  { organizationId, proposalId, messageId, requestId }: MessageKey,
): Promise<ProposalForMessage | undefined> {
  const values = [organizationId, proposalId, messageId ?? null, uuidOrNull(requestId)];
  const [row]: Row[] = await runPrepared(db, READ, values);
  return (
    row && {
      record: storedProposal(row),
      now: nowOf(row),
      domainSalt: row.domain_salt,
      messageTaken: row.message_taken,
      apiKeyId: row.request_api_key_id,
    }
  );
}

/**
 * Locks a proposal, and its organization's admins against change, until the end of the transaction; then reads both as
 * they are under the locks. With `alone` no other execution of the organization goes on meanwhile. Undefined when
 * there is no such proposal.
 */
export async function lockProposalForMessage(
  tx: Tx,
  key: MessageKey,
  options: { alone?: boolean } = {},
): Promise<ProposalForMessage | undefined> {
  const statement = options.alone ? LOCK_ORGANIZATION : LOCK;
  const locked = await runPrepared(tx, statement, [key.organizationId, key.proposalId]);
  // A statement of its own: one that has waited for a lock still sees the rest as it was before.
  return locked.length === 0 ? undefined : readProposalForMessage(tx, key);
}

const TAKE_VOTE: PreparedStatement = {
  name: 'take_vote',
  text: `WITH message AS (
      INSERT INTO proposal_messages (message_id, proposal_id, kind) VALUES ($1, $2, 'sign')
    ), vote AS (
      INSERT INTO proposal_votes (proposal_id, member_id, type, signer_address, scheme, signature, reason, api_key_id)
      VALUES ($2, $3, $4, $5, $6, $7, $8, $9)
    ), changed AS (
      UPDATE proposals SET version = version + 1, updated_at = now() WHERE id = $2 RETURNING id, version
    )
    SELECT version, pg_notify('proposal_changed', id) FROM changed`,
};

/**
 * Stores a vote together with the message that brought it, counts the proposal's version up and tells listeners on
 * `proposal_changed` at commit. Returns the proposal as it is then. Call it with the proposal locked.
 */
export async function takeVote(
  tx: Tx,
  { record, now, apiKeyId }: ProposalForMessage,
  vote: {
    readonly messageId: string;
    readonly memberId: string;
    readonly type: VoteType;
    readonly signerAddress: string;
    readonly scheme: StoredVote['scheme'];
    readonly signature: string;
    readonly reason: string | null;
  },
): Promise<StoredProposal> {
  const { messageId, reason, ...stored } = vote;
  const { memberId, type, signerAddress, scheme, signature } = stored;
  const [row]: Row[] = await runPrepared(tx, TAKE_VOTE, [
    messageId,
    record.id,
    memberId,
    type,
    signerAddress,
    scheme,
    signature,
    reason,
    apiKeyId,
  ]);
  return { ...record, version: row.version, votes: [...record.votes, { ...stored, createdAt: now.time }] };
}

/** What a create is judged by. */
export interface RequestToPropose {
  /** Its stored body, and the key that sent it; undefined when there is no such request. */
  readonly request: { readonly path: string; readonly body: Row; readonly apiKeyId: string } | undefined;
  /** True when the proposal has been made already. */
  readonly made: boolean;
  /** True once the signer has made the organization's key known. */
  readonly hasSigningKey: boolean;
  /** How many open proposals and transactions the key has made. */
  readonly open: number;
  readonly now: Now;
}

// The admins are locked, so that nothing that the plan has looked at is changed before its proposal is there.
const READ_REQUEST: PreparedStatement = {
  name: 'request_to_propose',
  text: `WITH s AS MATERIALIZED (SELECT * FROM admin_sets WHERE organization_id = $1 FOR SHARE)
    SELECT r.path, r.body, r.api_key_id, ${nowColumns('s')},
      EXISTS (SELECT FROM proposals WHERE organization_id = $1 AND id = $2) AS made,
      EXISTS (SELECT FROM signing_keys WHERE organization_id = $1) AS has_signing_key,
      ${openOfKey('$1', 'r.api_key_id')} AS open
    FROM (SELECT) AS always
    LEFT JOIN s ON true
    LEFT JOIN idempotency_requests r ON r.organization_id = $1 AND r.resource_id = $2 AND r.id = $3`,
};

/** Reads the stored request to make a proposal, with what it is judged by, in one statement. */
export async function readRequestToPropose(
  tx: Db | Tx,
  key: { organizationId: string; proposalId: string; requestId?: string },
): Promise<RequestToPropose> {
  const values = [key.organizationId, key.proposalId, uuidOrNull(key.requestId)];
  const [row]: Row[] = await runPrepared(tx, READ_REQUEST, values);
  return {
    request:
      row.api_key_id === null ? undefined : { path: row.path, body: row.body, apiKeyId: row.api_key_id },
    made: row.made,
    hasSigningKey: row.has_signing_key,
    open: row.open,
    now: nowOf(row),
  };
}
