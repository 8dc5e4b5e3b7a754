import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { type AuditEntry, auditHash } from '../../../src/db/audit';
import { GENESIS_HASH } from '../../../src/domain/feedCursor';

const ENTRY: Omit<AuditEntry, 'hash'> = {
  id: 'log_1',
  organizationId: 'org_1',
  position: 1n,
  action: 'proposal.created',
  actor: { type: 'member', id: 'mem_1', name: 'Ada', walletAddress: '0xAb' },
  resourceType: 'proposal',
  resourceId: 'prop_1',
  details: { summary: 'Create', data: { b: 1, a: [null, true] } },
  createdAt: new Date('2025-06-01T12:00:00.123Z'),
  previousHash: GENESIS_HASH,
};

/** What the hash covers, written out by hand. */
const CONTENT =
  '{"action":"proposal.created","actor":{"id":"mem_1","name":"Ada","type":"member","walletAddress":"0xAb"},' +
  '"details":{"data":{"a":[null,true],"b":1},"summary":"Create"},"id":"log_1","organizationId":"org_1",' +
  '"resourceId":"prop_1","resourceType":"proposal"}';
const sha256 = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex');
const TEXT = `${'0'.repeat(64)} 1 1748779200123 ${sha256(CONTENT)}`;

describe('the hash of an audit entry', () => {
  it('is the SHA-256 of exactly these texts, so that anybody can compute it again', () => {
    expect(auditHash(ENTRY)).toBe(sha256(TEXT));
  });

  it('begins a chain after 64 zeros', () => {
    expect(GENESIS_HASH).toMatch(/^0{64}$/);
  });

  it('does not depend on the order of keys, which a database does not keep', () => {
    const details = { data: { a: [null, true], b: 1 }, summary: 'Create' };
    const actor = { walletAddress: '0xAb', name: 'Ada', id: 'mem_1', type: 'member' as const };
    expect(auditHash({ ...ENTRY, details, actor })).toBe(auditHash(ENTRY));
  });

  it.each<[string, Partial<AuditEntry>]>([
    ['id', { id: 'log_2' }],
    ['organization', { organizationId: 'org_2' }],
    ['position', { position: 2n }],
    ['action', { action: 'proposal.signed' }],
    ['actor', { actor: { ...ENTRY.actor, name: 'Bo' } }],
    ['wallet of the actor', { actor: { ...ENTRY.actor, walletAddress: '0xAc' } }],
    ['kind of resource', { resourceType: 'account' }],
    ['resource', { resourceId: 'prop_2' }],
    ['details', { details: { summary: 'Create', data: { b: 2, a: [null, true] } } }],
    ['time, by a millisecond', { createdAt: new Date('2025-06-01T12:00:00.124Z') }],
    ['entry before it', { previousHash: 'f'.repeat(64) }],
  ])('is another when the %s is another', (_, change) => {
    expect(auditHash({ ...ENTRY, ...change })).not.toBe(auditHash(ENTRY));
  });

  it('tells positions apart that are too large for a double', () => {
    const position = BigInt(Number.MAX_SAFE_INTEGER) + 1n;
    expect(auditHash({ ...ENTRY, position })).not.toBe(auditHash({ ...ENTRY, position: position + 1n }));
  });

  it('is the same after details went through a database as JSON', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (raw) => {
        const details = JSON.parse(JSON.stringify(raw));
        const stored = JSON.parse(JSON.stringify(details));
        expect(auditHash({ ...ENTRY, details: stored })).toBe(auditHash({ ...ENTRY, details }));
      }),
    );
  });
});
