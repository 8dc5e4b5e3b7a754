import type { RegistrationChallenge } from '../domain/registration';
import type { Wallet, WalletKind } from '../domain/wallet';
import type { Db, Tx } from './database';
import { queryRows } from './rows';
import type { RegistrationChallengeRow } from './tables';

/** How many open challenges of one wallet count; older ones are forgotten. */
const MAX_OPEN = 10;

const OPEN = 'used_at IS NULL AND expires_at >= now()';

/** A text to sign for a wallet, and its id. */
interface Challenge {
  readonly nonce: string;
  readonly message: string;
}

/** A proof of control of a wallet. */
export interface Registration {
  /** Checksummed. */
  readonly walletAddress: string;
  /** When it was first proved. */
  readonly registeredAt: Date;
}

/** Which wallet of an organization. */
interface WalletKey {
  readonly organizationId: string;
  readonly walletAddress: string;
}

/** The member with a wallet, and the times of a challenge that begins now. */
interface Challengeable
  extends Omit<RegistrationChallenge, 'organizationId' | 'nonce'>,
    Pick<Wallet, 'walletKind'> {
  readonly memberId: string;
}

/** The member with a wallet, for a challenge of so many seconds; undefined when no member has it. */
export async function findChallengeable(
  tx: Tx,
  { organizationId, walletAddress }: WalletKey,
  seconds: number,
): Promise<Challengeable | undefined> {
  const [found] = await queryRows<Challengeable>(
    tx,
    `SELECT m.id AS "memberId", m.wallet_address AS "walletAddress", m.wallet_kind AS "walletKind",
       o.name AS "organizationName", date_trunc('milliseconds', now()) AS "issuedAt",
       date_trunc('milliseconds', now()) + make_interval(secs => ?) AS "expiresAt"
     FROM members m JOIN organizations o ON o.id = m.organization_id
     WHERE m.organization_id = ? AND lower(m.wallet_address) = lower(?) AND m.removed_at IS NULL`,
    [seconds, organizationId, walletAddress],
  );
  return found;
}

/** Stores a challenge. */
export async function insertChallenge(
  tx: Tx,
  challenge: Challenge & Omit<Challengeable, 'organizationName'> & { readonly organizationId: string },
): Promise<void> {
  await tx('registration_challenges').insert({
    nonce: challenge.nonce,
    organization_id: challenge.organizationId,
    member_id: challenge.memberId,
    wallet_address: challenge.walletAddress,
    wallet_kind: challenge.walletKind,
    message: challenge.message,
    created_at: challenge.issuedAt,
    expires_at: challenge.expiresAt,
  });
}

/** Deletes the challenges of a wallet that do not count, apart from one that is being used: its row is locked. */
export async function forgetOldChallenges(
  tx: Tx,
  { organizationId, walletAddress }: WalletKey,
): Promise<void> {
  await tx.raw(
    `DELETE FROM registration_challenges WHERE nonce IN (
       SELECT nonce FROM registration_challenges WHERE nonce IN (
         SELECT nonce FROM registration_challenges
         WHERE organization_id = ? AND lower(wallet_address) = lower(?) AND used_at IS NULL
         ORDER BY created_at DESC OFFSET ?)
       FOR UPDATE SKIP LOCKED)`,
    [organizationId, walletAddress, MAX_OPEN],
  );
}

/** The open challenges of the member who has a wallet, newest first, and its kind; undefined when no member has it. */
export async function listOpenChallenges(
  db: Db | Tx,
  wallet: WalletKey,
): Promise<{ walletKind: WalletKind; challenges: Challenge[] } | undefined> {
  const rows = await queryRows<{ walletKind: WalletKind } & (Challenge | { nonce: null })>(
    db,
    `SELECT m.wallet_kind AS "walletKind", c.nonce, c.message
     FROM members m LEFT JOIN LATERAL (
       SELECT nonce, message, created_at FROM registration_challenges
       WHERE organization_id = m.organization_id AND lower(wallet_address) = lower(m.wallet_address)
         AND wallet_kind = m.wallet_kind AND member_id = m.id AND ${OPEN}
       ORDER BY created_at DESC LIMIT ?) c ON true
     WHERE m.organization_id = ? AND lower(m.wallet_address) = lower(?) AND m.removed_at IS NULL
     ORDER BY c.created_at DESC`,
    [MAX_OPEN, wallet.organizationId, wallet.walletAddress],
  );
  const [first] = rows;
  if (!first) return undefined;
  return { walletKind: first.walletKind, challenges: rows.filter((row) => row.nonce !== null) };
}

/** A challenge that is to be used. */
interface LockedChallenge {
  readonly organizationId: string;
  readonly nonce: string;
  readonly memberId: string;
  readonly wallet: Wallet;
  /** The request that has used it. */
  readonly usedBy: string | null;
  readonly isOpen: boolean;
}

/** Locks a challenge; undefined when there is none. */
export async function lockChallenge(
  tx: Tx,
  { organizationId, nonce }: Pick<LockedChallenge, 'organizationId' | 'nonce'>,
): Promise<LockedChallenge | undefined> {
  const row = await tx('registration_challenges')
    .where({ organization_id: organizationId, nonce })
    .forUpdate()
    .first<(RegistrationChallengeRow & { open: boolean }) | undefined>('*', tx.raw(`(${OPEN}) AS open`));
  return (
    row && {
      organizationId,
      nonce,
      memberId: row.member_id,
      wallet: { walletAddress: row.wallet_address, walletKind: row.wallet_kind },
      usedBy: row.used_by,
      isOpen: row.open,
    }
  );
}

/** Records the request that has used a challenge. */
export async function markChallengeUsed(tx: Tx, nonce: string, requestId: string): Promise<void> {
  await tx('registration_challenges').where({ nonce }).update({ used_at: tx.fn.now(), used_by: requestId });
}

/** What the use of a challenge was recorded with. */
export async function readRegistration(
  tx: Tx,
  { organizationId, memberId, nonce, wallet }: LockedChallenge,
): Promise<Registration> {
  const entry = await tx('audit_log')
    .where({ organization_id: organizationId, resource_id: memberId })
    .where({ action: 'member.registered' })
    .whereRaw("details->>'nonce' = ?", [nonce])
    .first<{ details: { after: { registeredAt: string } } }>('details');
  return {
    walletAddress: wallet.walletAddress,
    registeredAt: new Date(entry.details.after.registeredAt),
  };
}

/** Deletes challenges that have expired, except those whose use a request has not answered for yet. */
export async function sweepChallenges(db: Db | Tx): Promise<void> {
  await db.raw(
    `DELETE FROM registration_challenges c WHERE c.expires_at < now() AND NOT EXISTS (
       SELECT 1 FROM idempotency_requests r WHERE r.id = c.used_by AND r.answered_at IS NULL)`,
  );
}
