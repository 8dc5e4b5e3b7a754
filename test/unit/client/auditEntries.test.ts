import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { type AuditBreak, verifyAuditEntries } from '../../../client/src/auditEntries';
import { type AuditInput, auditHash } from '../../../src/db/audit';
import { projectRoot } from '../../../src/projectRoot';
import { auditLog } from '../../support/auditLog';
import { codeBlocks } from '../../support/markdown';

const ORGANIZATION = 'org_1';
type Entry = AuditBreak['entry'];

const INPUT: AuditInput = {
  action: 'proposal.created',
  actor: { type: 'member', id: 'mem_1', name: 'Ada', walletAddress: '0xAb' },
  resourceType: 'proposal',
  resourceId: 'prop_1',
  details: { summary: 'Create', data: { b: 1, a: [null, true] } },
};

const LOG = auditLog(ORGANIZATION, 6, [INPUT]);
const breaksIn = (entries: readonly Entry[], isFiltered = false) =>
  verifyAuditEntries(ORGANIZATION, entries, { isFiltered }).map(
    ({ entry, field }) => `${entry.position} ${field}`,
  );
/** The log with another entry 4, which is the third one of six. */
const changed = (change: object) =>
  LOG.map((entry) => (entry.position === '4' ? { ...entry, ...change } : entry));
const without = (...positions: readonly string[]) =>
  LOG.filter(({ position }) => !positions.includes(position));

const inputs = fc.array(
  fc.record({
    action: fc.string(),
    actor: fc.record({
      type: fc.constantFrom('member' as const, 'operator' as const, 'system' as const),
      id: fc.string(),
      name: fc.string({ unit: 'grapheme' }),
      walletAddress: fc.string(),
    }),
    resourceType: fc.string(),
    resourceId: fc.string(),
    details: fc
      .dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ stringUnit: 'grapheme' }))
      .map((details) => JSON.parse(JSON.stringify(details))),
  }),
  { minLength: 1, maxLength: 8 },
);

describe('verifyAuditEntries', () => {
  it('finds every log unbroken that the service has written, and any part of one', () => {
    fc.assert(
      fc.property(inputs, fc.nat(8), fc.nat(8), (written, from, to) => {
        const log = auditLog(ORGANIZATION, written.length, written as AuditInput[]);
        expect(verifyAuditEntries(ORGANIZATION, log)).toEqual([]);
        expect(verifyAuditEntries(ORGANIZATION, log.slice(from, to))).toEqual([]);
        const some = log.filter((_, n) => n % 2 === from % 2);
        expect(verifyAuditEntries(ORGANIZATION, some, { isFiltered: true })).toEqual([]);
      }),
    );
  });

  it.each<[string, object]>([
    ['id', { id: 'log_9' }],
    ['action', { action: 'proposal.signed' }],
    ['name of the actor', { actor: { ...INPUT.actor, name: 'Bo' } }],
    ['wallet of the actor', { actor: { ...INPUT.actor, walletAddress: '0xAc' } }],
    ['actor, with a field more', { actor: { ...INPUT.actor, since: '2020' } }],
    ['kind of resource', { resourceType: 'account' }],
    ['resource', { resourceId: 'prop_2' }],
    ['details', { details: { summary: 'Create', data: { b: 2, a: [null, true] } } }],
    ['details, which are absent', { details: undefined }],
    ['time, by a millisecond', { createdAt: '2025-06-01T12:00:00.125Z' }],
    ['time, which is none', { createdAt: 'yesterday' }],
  ])('finds another %s, also where others are filtered out', (_, change) => {
    expect(breaksIn(changed(change))).toEqual(['4 hash']);
    expect(breaksIn(changed(change), true)).toEqual(['4 hash']);
  });

  it('says what the hash would have to be', () => {
    const [broken] = verifyAuditEntries(ORGANIZATION, changed({ action: 'proposal.signed' }));
    const { id = '', previousHash = '' } = broken?.entry ?? {};
    const createdAt = new Date(broken?.entry.createdAt ?? '');
    const place = { id, previousHash, position: 4n, createdAt, organizationId: ORGANIZATION };
    expect(broken?.expected).toBe(auditHash({ ...INPUT, ...place, action: 'proposal.signed' }));
  });

  it('finds another hash, and the entry that continues another one', () => {
    const hash = 'f'.repeat(64);
    expect(breaksIn(changed({ hash }))).toEqual(['5 previousHash', '4 hash']);
    expect(breaksIn(changed({ previousHash: hash }))).toEqual(['4 previousHash', '4 hash']);
    expect(verifyAuditEntries(ORGANIZATION, changed({ hash }))[0]?.expected).toBe(hash);
  });

  it('finds an entry that is made anew with a hash of its own', () => {
    const [, , forged] = auditLog(ORGANIZATION, 6, [{ ...INPUT, action: 'proposal.signed' }]);
    expect(breaksIn(changed(forged ?? {}))).toEqual(['5 previousHash', '4 previousHash']);
  });

  it('finds entries that are missing, unless others are filtered out', () => {
    expect(breaksIn(without('3'))).toEqual(['4 position']);
    expect(breaksIn(without('2', '3', '5'))).toEqual(['6 position', '4 position']);
    expect(verifyAuditEntries(ORGANIZATION, without('2', '3'))[0]?.expected).toBe('2');
    expect(breaksIn(without('2', '3', '5'), true)).toEqual([]);
  });

  it('finds two entries in each other’s place, and one that is listed twice', () => {
    const [six, five, four, three, ...others] = LOG as [Entry, Entry, Entry, Entry, ...Entry[]];
    const swapped = [six, four, five, three, ...others];
    expect(breaksIn(swapped)).toEqual(['6 position', '4 position', '5 position']);
    expect(breaksIn(swapped, true)).toEqual(['4 position']);
    expect(breaksIn([six, five, five, four], true)).toEqual(['5 position']);
  });

  it('begins after 64 zeros, and with position 1', () => {
    expect(breaksIn(LOG.slice(-1))).toEqual([]);
    const renumbered = auditLog(ORGANIZATION, 2)
      .slice(0, 1)
      .map((entry) => ({ ...entry, position: '1' }));
    expect(breaksIn(renumbered)).toEqual(['1 previousHash', '1 hash']);
  });

  it.each(['', '0', '-4', '04', '4.0', 'four'])('takes %j for no position', (position) => {
    expect(breaksIn(changed({ position }))).toEqual([
      '5 position',
      `${position} position`,
      `${position} hash`,
    ]);
  });

  it('tells positions apart that are too large for a double', () => {
    const [entry] = LOG as [Entry];
    const pair = ['9007199254740993', '9007199254740992'].map((position) => ({ ...entry, position }));
    expect(breaksIn(pair)).toEqual([
      '9007199254740993 previousHash',
      '9007199254740993 hash',
      '9007199254740992 hash',
    ]);
  });

  it('finds the example of the documentation unbroken', () => {
    const page = readFileSync(join(projectRoot(), 'docs', 'audit-log.md'), 'utf8');
    const [example = ''] = codeBlocks(page, 'json');
    expect(verifyAuditEntries(ORGANIZATION, [JSON.parse(example)])).toEqual([]);
  });

  it('finds the entries of another organization', () => {
    expect(verifyAuditEntries(ORGANIZATION, auditLog('org_2', 1))).toMatchObject([{ field: 'hash' }]);
  });
});
