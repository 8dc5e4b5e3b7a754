import { randomBytes } from 'node:crypto';
import { holdAdmins } from '../db/approvalLocks';
import { appendAudit } from '../db/audit';
import { holdCredential } from '../db/authority';
import type { Db } from '../db/database';
import { isAdmitted } from '../db/genesis';
import { lockMemberOfWallet, markRegistered } from '../db/members';
import {
  findChallengeable,
  forgetOldChallenges,
  insertChallenge,
  lockChallenge,
  markChallengeUsed,
  type Registration,
  readRegistration,
} from '../db/registrations';
import { memberActor } from '../domain/actor';
import { credentialDetail } from '../domain/credential';
import { CHALLENGE_SECONDS, registrationMessage } from '../domain/registration';

const NONCE_BYTES = 16;

/** Creates a challenge for the member with a wallet, and returns its text; undefined when no member has it. */
export async function openChallenge(
  db: Db,
  wallet: { readonly organizationId: string; readonly walletAddress: string },
): Promise<string | undefined> {
  const { organizationId } = wallet;
  return db.transaction(async (tx) => {
    const found = await findChallengeable(tx, wallet, CHALLENGE_SECONDS);
    if (!found) return undefined;
    const nonce = randomBytes(NONCE_BYTES).toString('hex');
    const message = registrationMessage({ ...found, organizationId, nonce });
    await insertChallenge(tx, { ...found, organizationId, nonce, message });
    await forgetOldChallenges(tx, wallet);
    return message;
  });
}

/**
 * Uses up a challenge whose text was signed and registers the wallet, audited, in one transaction. Called again with
 * the same `requestId` it answers the same. `notAdmitted`: the genesis of the organization is not; `unauthorized`: the
 * credential is not valid any more; `spent`: the challenge is used, expired or forgotten; `gone`: its member is, or has another wallet now.
 */
export async function registerWallet(
  db: Db,
  proof: {
    readonly organizationId: string;
    readonly nonce: string;
    readonly requestId: string;
    readonly credentialId: string;
  },
): Promise<Registration | 'notAdmitted' | 'unauthorized' | 'spent' | 'gone'> {
  const { organizationId, nonce, requestId, credentialId } = proof;
  return db.transaction(async (tx) => {
    await holdAdmins(tx, organizationId);
    if (!(await isAdmitted(tx, organizationId))) return 'notAdmitted';
    const challenge = await lockChallenge(tx, { organizationId, nonce });
    if (!challenge) return 'spent';
    // Its member may have changed since.
    if (challenge.usedBy === requestId) return readRegistration(tx, challenge);
    if (!(await holdCredential(tx, credentialId))) return 'unauthorized';
    if (!challenge.isOpen) return 'spent';
    const member = await lockMemberOfWallet(tx, challenge);
    if (!member) return 'gone';
    await markChallengeUsed(tx, nonce, requestId);
    const registeredAt = await markRegistered(tx, member.id);
    const { walletAddress } = member;
    await appendAudit(tx, organizationId, [
      {
        action: 'member.registered',
        actor: memberActor(member),
        resourceType: 'member',
        resourceId: member.id,
        details: {
          ...credentialDetail(credentialId),
          walletAddress,
          nonce,
          before: { registeredAt: member.registeredAt?.toISOString() ?? null },
          after: { registeredAt: registeredAt.toISOString() },
        },
      },
    ]);
    return { walletAddress, registeredAt };
  });
}
