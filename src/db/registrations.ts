import { randomBytes } from 'node:crypto';
import { credentialDetail } from '../domain/credential';
import { CHALLENGE_SECONDS, registrationMessage } from '../domain/registration';
import type { WalletKind } from '../domain/wallet';
import { holdAdmins } from './approvalLocks';
import { appendAudit } from './audit';
import { holdCredential } from './authority';
import type { Db, Tx } from './database';
import { isAdmitted } from './genesis';
import { queryRows, requireRow } from './rows';
import type { MemberRow, OrganizationRow, RegistrationChallengeRow } from './tables';

/** How many open challenges of one wallet count; older ones are forgotten. */
const MAX_OPEN = 10;
const NONCE_BYTES = 16;

const OPEN = 'used_at IS NULL AND expires_at >= now()';

/** A text to sign for a wallet, and its id. */
interface Challenge {
  readonly nonce: string;
  readonly message: string;
}

/** A proof of control of a wallet. */
interface Registration {
  /** Checksummed. */
  readonly walletAddress: string;
  /** When it was first proved. */
  readonly registeredAt: Date;
}

/** What `openChallenge` reads of the member. */
type MemberColumns = Pick<MemberRow, 'id' | 'wallet_address' | 'wallet_kind'> &
  Pick<OrganizationRow, 'name'> & { readonly issued_at: Date; readonly expires_at: Date };

/** Creates a challenge for the member with a wallet, and returns its text; undefined when no member has it. */
export async function openChallenge(
  db: Db,
  wallet: { organizationId: string; walletAddress: string },
): Promise<string | undefined> {
  return db.transaction(async (tx) => {
    const [found] = await queryRows<MemberColumns>(
      tx,
      `SELECT m.id, m.wallet_address, m.wallet_kind, o.name, date_trunc('milliseconds', now()) AS issued_at,
         date_trunc('milliseconds', now()) + make_interval(secs => ?) AS expires_at
       FROM members m JOIN organizations o ON o.id = m.organization_id
       WHERE m.organization_id = ? AND lower(m.wallet_address) = lower(?) AND m.removed_at IS NULL`,
      [CHALLENGE_SECONDS, wallet.organizationId, wallet.walletAddress],
    );
    if (!found) return undefined;
    const nonce = randomBytes(NONCE_BYTES).toString('hex');
    const message = registrationMessage({
      organizationId: wallet.organizationId,
      organizationName: found.name,
      walletAddress: found.wallet_address,
      nonce,
      issuedAt: found.issued_at,
      expiresAt: found.expires_at,
    });
    await tx('registration_challenges').insert({
      nonce,
      organization_id: wallet.organizationId,
      member_id: found.id,
      wallet_address: found.wallet_address,
      wallet_kind: found.wallet_kind,
      message,
      created_at: found.issued_at,
      expires_at: found.expires_at,
    });
    // A locked row is being used.
    await tx.raw(
      `DELETE FROM registration_challenges WHERE nonce IN (
         SELECT nonce FROM registration_challenges WHERE nonce IN (
           SELECT nonce FROM registration_challenges
           WHERE organization_id = ? AND lower(wallet_address) = lower(?) AND used_at IS NULL
           ORDER BY created_at DESC OFFSET ?)
         FOR UPDATE SKIP LOCKED)`,
      [wallet.organizationId, wallet.walletAddress, MAX_OPEN],
    );
    return message;
  });
}

/** The open challenges of the member who has a wallet, newest first, and its kind; undefined when no member has it. */
export async function listOpenChallenges(
  db: Db | Tx,
  wallet: { organizationId: string; walletAddress: string },
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

/**
 * Uses up a challenge whose text was signed and registers the wallet, audited, in one transaction. Called again with
 * the same `requestId` it answers the same. `notAdmitted`: the genesis of the organization is not; `unauthorized`: the
 * credential is not valid any more; `spent`: the challenge is used, expired or forgotten; `gone`: its member is, or has another wallet now.
 */
export async function registerWallet(
  db: Db,
  proof: { organizationId: string; nonce: string; requestId: string; credentialId: string },
): Promise<Registration | 'notAdmitted' | 'unauthorized' | 'spent' | 'gone'> {
  const { organizationId, nonce, requestId, credentialId } = proof;
  return db.transaction(async (tx) => {
    await holdAdmins(tx, organizationId);
    if (!(await isAdmitted(tx, organizationId))) return 'notAdmitted';
    const challenge = await tx('registration_challenges')
      .where({ organization_id: organizationId, nonce })
      .forUpdate()
      .first<(RegistrationChallengeRow & { open: boolean }) | undefined>('*', tx.raw(`(${OPEN}) AS open`));
    if (!challenge) return 'spent';
    if (challenge.used_by === requestId) return earlierRegistration(tx, challenge);
    if (!(await holdCredential(tx, credentialId))) return 'unauthorized';
    if (!challenge.open) return 'spent';
    const member = await tx('members')
      .where({
        organization_id: organizationId,
        id: challenge.member_id,
        wallet_address: challenge.wallet_address,
        wallet_kind: challenge.wallet_kind,
        removed_at: null,
      })
      .forNoKeyUpdate()
      .first();
    if (!member) return 'gone';
    await tx('registration_challenges').where({ nonce }).update({ used_at: tx.fn.now(), used_by: requestId });
    const [registered] = await tx('members')
      .where({ id: member.id })
      .update({
        registered_at: tx.raw('coalesce(registered_at, now())'),
        updated_at: tx.raw('CASE WHEN registered_at IS NULL THEN now() ELSE updated_at END'),
      })
      .returning('registered_at');
    const registeredAt = requireRow(requireRow(registered).registered_at);
    const walletAddress = member.wallet_address;
    await appendAudit(tx, organizationId, [
      {
        action: 'member.registered',
        actor: { type: 'member', id: member.id, name: member.name, walletAddress },
        resourceType: 'member',
        resourceId: member.id,
        details: {
          ...credentialDetail(credentialId),
          walletAddress,
          nonce,
          before: { registeredAt: member.registered_at?.toISOString() ?? null },
          after: { registeredAt: registeredAt.toISOString() },
        },
      },
    ]);
    return { walletAddress, registeredAt };
  });
}

/** The recorded outcome of a used challenge: its member may have changed since. */
async function earlierRegistration(tx: Tx, challenge: RegistrationChallengeRow): Promise<Registration> {
  const entry = await tx('audit_log')
    .where({ organization_id: challenge.organization_id, resource_id: challenge.member_id })
    .where({ action: 'member.registered' })
    .whereRaw("details->>'nonce' = ?", [challenge.nonce])
    .first<{ details: { after: { registeredAt: string } } }>('details');
  return {
    walletAddress: challenge.wallet_address,
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
