import { holdAdmins } from '../db/approvalLocks';
import { holdCredential } from '../db/authority';
import type { Db, Tx } from '../db/database';
import { isAdmitted } from '../db/genesis';
import { answerLocked, lockRequest, type StoredAnswer } from '../db/idempotency';
import { queueAlone } from '../db/lockQueues';
import { type Actor, memberActor } from '../domain/actor';
import { notAdmitted } from '../domain/admission';
import { checkAuthority, credentialEnded, requestNotStored } from '../domain/credential';
import { accept, type Result } from '../domain/refusal';

/** A stored request of an admin that takes effect at once, without signatures. */
export interface AdminRequest {
  readonly organizationId: string;
  readonly requestId: string;
  readonly credentialId: string;
}

/** Who acts for a credential, until the end of the transaction. Refuses one that is not an admin's. */
async function holdAdmin(tx: Tx, { organizationId, credentialId }: AdminRequest): Promise<Result<Actor>> {
  if (!(await isAdmitted(tx, organizationId))) return notAdmitted(organizationId);
  const acting = await holdCredential(tx, credentialId);
  if (!acting) return { ok: false, refusal: credentialEnded(credentialId) };
  const refusal = checkAuthority(credentialId, acting, true);
  return refusal ? { ok: false, refusal } : accept(memberActor(acting));
}

/**
 * Does what an admin asks for, and stores the answer of the request, in one transaction: sent again, it finds its answer. `queue`
 * names what is changed: one request at a time does. What `work` refuses is not written.
 */
export async function asAdmin(
  db: Db,
  request: AdminRequest,
  queue: string,
  work: (tx: Tx, admin: Actor) => Promise<Result<StoredAnswer>>,
): Promise<Result<StoredAnswer>> {
  const { organizationId, requestId } = request;
  return db.transaction(async (tx) => {
    await holdAdmins(tx, organizationId);
    await queueAlone(tx, [`${organizationId}/${queue}`]);
    const answered = await lockRequest(tx, requestId);
    if (answered) return accept(answered);
    if (answered === undefined) return { ok: false, refusal: requestNotStored() };
    const admin = await holdAdmin(tx, request);
    if (!admin.ok) return admin;
    const answer = await work(tx, admin.value);
    if (answer.ok) await answerLocked(tx, requestId, answer.value);
    return answer;
  });
}
