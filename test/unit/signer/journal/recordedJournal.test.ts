import { appendFileSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requireRow } from '../../../../src/db/rows';
import type { JournalEntry, UnknownExecutionEntry } from '../../../../src/signer/journal/entries';
import { parseLine } from '../../../../src/signer/journal/format';
import { type Journal, openJournal } from '../../../../src/signer/journal/journal';
import { type JournalReader, readJournal } from '../../../../src/signer/journal/journalReader';
import { lineHash } from '../../../../src/signer/journal/lines';
import { recordedJournal } from '../../../journals/recorded';

const ORGANIZATION = 'org_01m8bpcvaqeh0s9596czpnycmq';
const PAID = 'txn_01m8bpdhyee06bbd88rsrz1cch';
const REJECTED = 'txn_01m8bpdxzbe06bbdbn1pb2s5sj';
const CANCELLED = 'txn_01m8bpe0hce06bbdcsh3g55qnx';
const ACCOUNT = { accountId: 'acc_01m8bpcwxee06bbcy4930xqx1t', networkId: 31337 };

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

describe('a journal of version 1', () => {
  it('is read: every type of entry', async () => {
    const { journalFile, lines } = recordedJournal('version1');
    const journal = await read(journalFile);
    expect(journal.position()).toEqual({ lines: 24, hash: lineHash(lines.at(-1) ?? '') });
    expect(journal.installationId()).toBe('e15cc8df-c209-4543-981a-ec6b8747a1b0');
    expect(journal.latestSealed(ORGANIZATION)?.sequence).toBe(4);
    expect([...journal.authorizations()].map(({ safeNonce }) => safeNonce)).toEqual([0n, 1n, 2n]);
    expect(journal.outcomeOf(PAID)).toMatchObject({ outcome: 'executed' });
    expect([...journal.rejectedIds()]).toEqual([REJECTED]);
    expect([...journal.cancelledIds()]).toEqual([CANCELLED]);
    expect(journal.unknownExecutions()).toEqual([
      expect.objectContaining<Partial<UnknownExecutionEntry>>({ ...ACCOUNT, safeNonce: '3' }),
    ]);
    expect(journal.highestNonce(ACCOUNT)).toBe(3n);
    expect(journal.freezeOf(ORGANIZATION)?.id).toBe('fd71b1e7-cd53-465a-9111-23627d58b65e');
    expect(journal.isRequestDone('c9813ae8-c2ad-4e4c-8f8f-19b147406725')).toBe(true);
    expect(journal.cutoffOf(ORGANIZATION)?.expiresUntil).toBe(Date.parse('2026-12-03T10:29:37.767Z'));
    expect(journal.gasOf({ organizationId: ORGANIZATION, networkId: 31337 })).toHaveLength(5);
  });

  it('has the records of its transactions, whose numbers lose no digit', async () => {
    const journal = await read(recordedJournal('version1').journalFile);
    const paid = await journal.readAuthorization(requireRow(journal.authorizationOf(PAID)));
    const record = requireRow(paid.record ?? undefined);
    expect(record).toMatchObject({
      approval: {
        id: PAID,
        organizationId: ORGANIZATION,
        executionStatus: 'processing',
        decision: 'approve',
        requestHash: expect.stringMatching(/^[0-9a-f]{64}$/),
        idempotencyKey: expect.stringMatching(/^[0-9a-f-]{36}$/),
        finalTally: null,
      },
      transaction: {
        to: '0x661Bd86870851CBB3109806bb3e414E8f413cbf9',
        value: '1000000000000000001',
        description: 'Rent “März” 12345678901234567890',
        networkId: 31337,
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
    expect((await journal.rejection(REJECTED))?.record).toMatchObject({
      // In the order that the database gave them.
      votes: [
        { type: 'reject', reason: 'not ours' },
        { type: 'initiator', reason: null },
      ],
      evidence: [],
      usage: [],
    });
  });

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
    await journal.append({ type: 'unfreeze', organizationId: ORGANIZATION, id: 'later' });
    const texts = textOf(journalFile);
    expect(texts.slice(0, -1)).toEqual(lines);
    expect(JSON.parse(texts.at(-1) ?? '')).toMatchObject({
      version: 2,
      line: 25,
      previous: lineHash(lines.at(-1) ?? ''),
    });
    const again = await read(journalFile);
    expect(again.lines()).toBe(25);
    expect(again.freezeOf(ORGANIZATION)).toBeUndefined();
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
