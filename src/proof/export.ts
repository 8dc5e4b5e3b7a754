import type { Hex } from 'viem';
import type { Keystore } from '../chain/keys';
import { textHash } from '../chain/seals';
import { listAuthorizations } from '../db/authorizations';
import type { Db } from '../db/database';
import { listSeals } from '../db/seals';
import { canonicalJson } from '../domain/canonicalJson';
import { type AuthorizationLine, type HeadLine, signLine } from './lines';

/**
 * Writes the proof of an organization, line by line: its genesis, every decision, every authorization with its outcome,
 * and a head that is signed now. Returns its text; undefined where no genesis is admitted.
 */
export async function exportProof(
  { db, keystore }: { readonly db: Db; readonly keystore: Pick<Keystore, 'sealKey'> },
  organizationId: string,
): Promise<{ readonly text: string; readonly head: HeadLine } | undefined> {
  const sealKey = keystore.sealKey(organizationId);
  const sign = (hash: Hex) => sealKey.sign({ hash });
  const lines: string[] = [];
  const add = (line: object) => lines.push(`${canonicalJson(line)}\n`);
  // One moment: a transaction that sees everything as it is when it begins.
  const [seals, authorizations] = await db.transaction(
    async (tx) =>
      [
        await listSeals(tx, organizationId, { after: -1 }),
        await listAuthorizations(tx, organizationId),
      ] as const,
    { isolationLevel: 'repeatable read' },
  );
  const latest = seals.at(-1);
  if (!latest) return undefined;
  for (const { body, hash, signature } of seals) add({ type: 'seal', body, hash, signature });
  for (const authorization of authorizations) {
    const line: AuthorizationLine = { type: 'authorization', ...authorization };
    add(await signLine(sign, line));
  }
  const head: HeadLine = {
    type: 'head',
    organizationId,
    sequence: latest.sequence,
    lines: lines.length,
    hash: textHash(lines.join('')),
    at: new Date().toISOString(),
  };
  add(await signLine(sign, head));
  return { text: lines.join(''), head };
}
