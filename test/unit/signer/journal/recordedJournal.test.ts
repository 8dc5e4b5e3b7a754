import { appendFileSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requireRow } from '../../../../src/db/rows';
import type { JournalEntry } from '../../../../src/signer/journal/entries';
import { parseLine } from '../../../../src/signer/journal/format';
import { type Journal, openJournal } from '../../../../src/signer/journal/journal';
import { type JournalReader, readJournal } from '../../../../src/signer/journal/journalReader';
import { lineHash } from '../../../../src/signer/journal/lines';
import { recordedJournal } from '../../../journals/recorded';

/** Every type of entry. */
const TYPES = [
  ...[
    'created',
    'seal',
    'authorization',
    'rejection',
    'cancellation',
    'outcome',
    'gas',
    'freeze',
    'unfreeze',
    'cutoff',
  ],
  ...['unknownExecution', 'upkeep'],
];

/** The entries of a recorded journal, as the text of its lines has them. */
function entriesOf(lines: readonly string[]) {
  // biome-ignore lint/suspicious/noExplicitAny: entries of every type and version
  const entries: any[] = lines.map((text) => JSON.parse(text).entry);
  const all = (type: string) => entries.filter((entry) => entry.type === type);
  const paid = requireRow(all('authorization').find(({ amount }) => amount === '1000000000000000001'));
  const { organizationId, accountId, networkId } = paid;
  return {
    entries,
    all,
    last: (type: string) => all(type).at(-1),
    paid,
    of: { organizationId },
    at: { accountId, networkId },
  };
}

const folder = () => mkdtempSync(join(tmpdir(), 'journal-'));
const opened: JournalReader[] = [];
afterEach(async () => {
  for (const journal of opened.splice(0)) await journal.close();
});

async function read(file: string): Promise<JournalReader> {
  const journal = await readJournal(file);
  opened.push(journal);
  return journal;
}

async function written(file: string): Promise<Journal> {
  const journal = await openJournal({ file, waitMs: 0 });
  opened.push(journal);
  return journal;
}

const textOf = (file: string) => readFileSync(file, 'utf8').trimEnd().split('\n');

describe.each([
  ['version1', TYPES.filter((type) => type !== 'upkeep')],
  ['version2', TYPES],
])('a journal of %s', (name, types) => {
  it('is read: every type of entry', async () => {
    const { journalFile, lines } = recordedJournal(name);
    const { entries, all, last, paid, of, at } = entriesOf(lines);
    expect(new Set(entries.map(({ type }) => type))).toEqual(new Set(types));
    const { organizationId } = of;
    const journal = await read(journalFile);
    expect(journal.position()).toEqual({ lines: lines.length, hash: lineHash(lines.at(-1) ?? '') });
    expect(journal.installationId()).toBe(last('created').installationId);
    expect(journal.latestSealed(organizationId)?.sequence).toBe(last('seal').sequence);
    const nonces = all('authorization').map(({ safeNonce }) => BigInt(safeNonce));
    expect([...journal.authorizations()].map(({ safeNonce }) => safeNonce)).toEqual(nonces);
    expect(journal.outcomeOf(paid.transactionId)).toMatchObject({ outcome: 'executed' });
    for (const entry of all('outcome')) expect(journal.outcomeOf(entry.transactionId)).toMatchObject(entry);
    expect([...journal.rejectedIds()]).toEqual([last('rejection').transactionId]);
    expect([...journal.cancelledIds()]).toEqual([last('cancellation').transactionId]);
    expect(journal.unknownExecutions()).toEqual([expect.objectContaining(last('unknownExecution'))]);
    expect(journal.highestNonce(at)).toBe(BigInt(last('unknownExecution').safeNonce));
    expect(journal.freezeOf(organizationId)?.id).toBe(last('freeze').id);
    expect(journal.isRequestDone(last('unfreeze').id)).toBe(true);
    expect(journal.cutoffOf(organizationId)?.expiresUntil).toBe(Date.parse(last('cutoff').expiresUntil));
    expect(journal.gasOf({ organizationId, networkId: at.networkId })).toHaveLength(all('gas').length);
    expect(journal.upkeep()).toEqual(all('upkeep').map((entry) => expect.objectContaining(entry)));
  });

  it('has the records of its transactions, whose numbers lose no digit', async () => {
    const { journalFile, lines } = recordedJournal(name);
    const {
      paid: { transactionId: PAID },
      of,
      last,
    } = entriesOf(lines);
    const journal = await read(journalFile);
    const paid = await journal.readAuthorization(requireRow(journal.authorizationOf(PAID)));
    const record = requireRow(paid.record ?? undefined);
    expect(record).toMatchObject({
      approval: {
        id: PAID,
        ...of,
        executionStatus: 'processing',
        decision: 'approve',
        requestHash: expect.stringMatching(/^[0-9a-f]{64}$/),
        idempotencyKey: expect.stringMatching(/^[0-9a-f-]{36}$/),
        finalTally: null,
      },
      transaction: {
        to: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
        value: '1000000000000000001',
        description: 'Rent “März” 12345678901234567890',
        networkId: 31_337,
        replaces: null,
        awaitsRelayerWei: null,
        cancelling: false,
        reopenings: 0,
      },
      votes: [{ approvalId: PAID, type: 'initiator', scheme: 'eoa', initiatorSignatureHash: null }],
      evidence: [{ approvalId: PAID, resolution: 'approved', electorate: expect.any(Object) }],
      usage: [{ transactionId: PAID, amount: '1000000000000000001', status: 'reserved', decidedAt: null }],
    });
    const names = [record.approval, record.transaction, ...record.votes, ...record.evidence, ...record.usage]
      .flatMap((part) => Object.keys(part))
      .filter((name) => /_|^position$|^subject$/.test(name));
    expect(names).toEqual([]);
    const refused = (await journal.rejection(last('rejection').transactionId))?.record;
    expect(refused).toMatchObject({ evidence: [], usage: [] });
    // In whatever order the database gave them.
    expect(refused?.votes).toHaveLength(2);
    expect(Object.fromEntries(refused?.votes.map(({ type, reason }) => [type, reason]) ?? [])).toEqual({
      initiator: null,
      reject: 'not ours',
    });
  });
});

it('the outcome of version 2 that nobody could read has when its nonce was seen to be used', () => {
  const { all } = entriesOf(recordedJournal('version2').lines);
  expect(all('outcome').filter(({ usedAt }) => usedAt !== undefined)).toEqual([
    expect.objectContaining({ outcome: null, usedAt: expect.any(String) }),
  ]);
});

describe('a journal of version 1', () => {
  it('reads a record that was written before there were reopenings', () => {
    const { lines } = recordedJournal('version1');
    const line = JSON.parse(lines.find((text) => text.includes('"type":"authorization"')) ?? '');
    const rows = line.entry.rows.replace(/"reopenings": 0, /, '');
    expect(rows).not.toContain('reopenings');
    const { entry } = parseLine(JSON.stringify({ ...line, entry: { ...line.entry, rows } }));
    expect(entry).toMatchObject({ record: { transaction: { reopenings: 0 } } });
  });

  it('goes on with lines of version 2, in one chain', async () => {
    const { journalFile, lines } = recordedJournal('version1');
    const journal = await written(journalFile);
    const { organizationId } = entriesOf(lines).of;
    await journal.append({ type: 'unfreeze', organizationId, id: 'later' });
    const texts = textOf(journalFile);
    expect(texts.slice(0, -1)).toEqual(lines);
    expect(JSON.parse(texts.at(-1) ?? '')).toMatchObject({
      version: 2,
      line: 25,
      previous: lineHash(lines.at(-1) ?? ''),
    });
    const again = await read(journalFile);
    expect(again.lines()).toBe(25);
    expect(again.freezeOf(organizationId)).toBeUndefined();
    expect(await again.hashAt(24)).toBe(lineHash(lines.at(-1) ?? ''));
  });

  it('says the same when it is written again in version 2', async () => {
    const { lines } = recordedJournal('version1');
    const entries = lines.map((text) => parseLine(text).entry);
    const file = join(folder(), 'journal');
    await (await written(file)).append(...entries);
    const texts = textOf(file);
    expect(texts.map((text) => parseLine(text).entry)).toEqual(entries);
    for (const text of texts) expect(text).not.toContain('"rows"');
  });
});

describe('a line', () => {
  const created: JournalEntry = { type: 'created', installationId: 'here' };

  it('has the fields of its type, and no others', async () => {
    const file = join(folder(), 'journal');
    await (await written(file)).append({ ...created, column: 'of a table' } as JournalEntry);
    expect(JSON.parse(textOf(file)[0] ?? '').entry).toEqual(created);
  });

  it.each([
    ['a later version', { version: 3, entry: created }, /line 1: version 3 of "created" is of a newer build/],
    ['a type that this build does not know', { version: 2, entry: { type: 'promise' } }, /"promise" is of a/],
  ])('of %s is refused', async (_, change, message) => {
    const file = join(folder(), 'journal');
    const line = { line: 1, previous: '0'.repeat(64), epoch: 'e', at: '2026-01-01T00:00:00.000Z', ...change };
    appendFileSync(file, `${JSON.stringify(line)}\n`);
    await expect(readJournal(file)).rejects.toThrow(message);
  });
});
