import { sha256, stringToBytes } from 'viem';
import { canonicalJson } from './canonicalJson.ts';
import type { Schema } from './records.ts';

type Entry = Schema['AuditLogEntry'];

/** A field of an entry of the audit log that is not what the entry, or the one before it, makes it. */
export interface AuditBreak {
  readonly entry: Entry;
  readonly field: 'position' | 'previousHash' | 'hash';
  /** What the field would have to be. */
  readonly expected: string;
}

const hex = (text: string) => sha256(stringToBytes(text)).slice(2);

/** 0 for what is not a position. */
const place = ({ position }: Entry) => (/^[1-9]\d*$/.test(position) ? BigInt(position) : 0n);

function hashOf(organizationId: string, entry: Entry): string {
  const { id, action, actor, resourceType, resourceId, details } = entry;
  const content = canonicalJson({ id, organizationId, action, actor, resourceType, resourceId, details });
  return hex(`${entry.previousHash} ${entry.position} ${Date.parse(entry.createdAt)} ${hex(content)}`);
}

/**
 * Verifies entries of the audit log, in the order of `GET /audit-logs`: each has its own hash, and none is missing between two
 * of them; with `isFiltered` others may be. Returns what is broken, none if nothing is. That there are no newer entries, and
 * that nobody has computed all hashes anew, no entry can prove. Source: docs/audit-log.md.
 */
export function verifyAuditEntries(
  organizationId: string,
  entries: readonly Entry[],
  { isFiltered = false }: { readonly isFiltered?: boolean } = {},
): AuditBreak[] {
  const broken: AuditBreak[] = [];
  entries.forEach((entry, n) => {
    const before = entries[n + 1];
    const expect = (field: AuditBreak['field'], expected: string) => {
      if (entry[field] !== expected) broken.push({ entry, field, expected });
    };
    const [own, next] = [place(entry), (before ? place(before) : 0n) + 1n];
    const isNext = own === next;
    if (own < next || (before && !isFiltered)) expect('position', String(next));
    if (isNext) expect('previousHash', before ? before.hash : '0'.repeat(64));
    expect('hash', hashOf(organizationId, entry));
  });
  return broken;
}
