import { randomBytes } from 'node:crypto';
import { NONCE_ATTEMPTS, NONCE_SECONDS } from '../domain/session';
import type { Db, Tx } from './database';
import { queryRows, requireRow } from './rows';
import type { SessionNonceRow } from './tables';

const NONCE_BYTES = 16;

/** Creates a nonce, which can be used once. */
export async function openNonce(db: Db): Promise<{ nonce: string; expiresAt: Date }> {
  const nonce = randomBytes(NONCE_BYTES).toString('hex');
  const [row] = await queryRows<Pick<SessionNonceRow, 'expires_at'>>(
    db,
    'INSERT INTO session_nonces (nonce, expires_at) VALUES (?, now() + make_interval(secs => ?)) RETURNING expires_at',
    [nonce, NONCE_SECONDS],
  );
  return { nonce, expiresAt: requireRow(row).expires_at };
}

/** Counts an attempt to sign in with a nonce. Returns whether it may be made, and the time of the database. */
export async function attemptNonce(db: Db, nonce: string): Promise<{ open: boolean; now: Date }> {
  const [row] = await queryRows<{ open: boolean; now: Date }>(
    db,
    `WITH attempt AS (
       UPDATE session_nonces SET attempts = attempts + 1
       WHERE nonce = ? AND expires_at > now() AND attempts < ? RETURNING nonce)
     SELECT EXISTS (SELECT FROM attempt) AS open, date_trunc('milliseconds', now()) AS now`,
    [nonce, NONCE_ATTEMPTS],
  );
  return requireRow(row);
}

/** Uses up a nonce. False when it is used or expired. */
export async function useNonce(tx: Tx, nonce: string): Promise<boolean> {
  const used = await tx('session_nonces').where({ nonce }).where('expires_at', '>', tx.fn.now()).delete();
  return used === 1;
}

/** Deletes the nonces that can be used no more. */
export async function deleteExpiredNonces(db: Db): Promise<void> {
  await db.raw('DELETE FROM session_nonces WHERE expires_at <= now()');
}
