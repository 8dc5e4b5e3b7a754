import {
  type AuditBreaks,
  auditCheck,
  type Checked,
  type CheckedList,
} from '../../../console/src/domain/auditCheck';
import { breakText, brokenText, namesOfBroken, unbrokenText } from '../../../console/src/text/auditProof';
import { auditLog } from '../../support/auditLog';

const organizationId = 'org_1';
const LOG = auditLog(organizationId, 120);

const listOf = (entries = LOG, more: Partial<CheckedList> = {}): CheckedList => ({
  organizationId,
  entries,
  cursor: undefined,
  isFiltered: false,
  ...more,
});

/** What a check finds, and in how many parts. */
function find(list: CheckedList, checked: Checked = new WeakMap()): { parts: number; breaks: AuditBreaks } {
  const check = auditCheck(list, checked);
  for (let parts = 0; ; parts += 1) {
    const step = check.next();
    if (step.done) return { parts, breaks: step.value };
  }
}

/** What is broken, as the page says it. */
const said = (list: CheckedList) =>
  [...find(list).breaks].flatMap(([{ position }, breaks]) =>
    breaks.map((one) => `${position}: ${breakText(one)}`),
  );

const without = (...positions: readonly string[]) =>
  LOG.filter(({ position }) => !positions.includes(position));
const changed = (position: string, change: object) =>
  LOG.map((entry) => (entry.position === position ? { ...entry, ...change } : entry));

describe('the check of the audit log', () => {
  it('pauses after each part, so that the page can draw', () => {
    const { parts, breaks } = find(listOf());
    expect([parts, breaks.size]).toEqual([12, 0]);
  });

  it('does not verify again what it has verified, unless another entry is before it now', () => {
    const checked: Checked = new WeakMap();
    const newest = listOf(LOG.slice(1, 51), { cursor: 'more' });
    expect(find(newest, checked).parts).toBe(5);
    expect(find(newest, checked).parts).toBe(0);
    expect(find(listOf(LOG.slice(0, 51), { cursor: 'more' }), checked).parts).toBe(1);
    // The last entry had none before it; those after it are new.
    expect(find(listOf(), checked).parts).toBe(7);
  });

  it('says what differs in an entry that was changed, wherever a part begins', () => {
    for (const position of ['120', '111', '110', '109', '1']) {
      expect(said(listOf(changed(position, { action: 'member.removed' })))).toEqual([
        expect.stringMatching(
          new RegExp(
            `^${position}: It is not what was recorded: its hash is \\w{8}…\\w{6}, and its content has \\w{8}…\\w{6}\\.$`,
          ),
        ),
      ]);
    }
  });

  it('says between which entries others are missing, also at the end', () => {
    expect(said(listOf(without('95')))).toEqual(['96: Entry 95 is missing before it.']);
    expect(said(listOf(without('94', '95', '96')))).toEqual(['97: Entries 94 to 96 are missing before it.']);
    expect(said(listOf(without('1', '2')))).toEqual(['3: Entries 1 to 2 are missing before it.']);
    expect(said(listOf(without('1', '2'), { cursor: 'more' }))).toEqual([]);
    expect(said(listOf(without('1', '2', '95'), { isFiltered: true }))).toEqual([]);
  });

  it('says what is out of place, and what continues another hash', () => {
    const [newest, second, ...others] = LOG;
    if (!newest || !second) throw new Error('no entries');
    expect(said(listOf([second, newest, ...others]))).toEqual([
      '119: Its position is “119”, where entry 121 belongs.',
      '120: Entry 119 is missing before it.',
    ]);
    expect(said(listOf(changed('119', { hash: 'f'.repeat(64) })))[0]).toMatch(
      /^120: It does not continue the entry before it, which has the hash ffffffff…ffffff: it names \w{8}…\w{6}\.$/,
    );
    expect(said(listOf(changed('119', { position: 'none' })))).toContain(
      'none: Its position is “none”, where entry 119 belongs.',
    );
  });
});

describe('the status of the proof', () => {
  it.each([
    [listOf(), 'Unbroken from entry 1 to 120: checked by this page.'],
    [listOf(LOG.slice(0, 50)), 'Unbroken from entry 71 to 120: checked by this page.'],
    [listOf(LOG.slice(0, 1)), 'Entry 120 has its own hash: checked by this page.'],
    [
      listOf(LOG.slice(0, 50), { isFiltered: true }),
      'Each of the 50 entries shown has its own hash: checked by this page.',
    ],
    [
      listOf(LOG.slice(0, 1), { isFiltered: true }),
      'The entry shown has its own hash: checked by this page.',
    ],
  ])('says what was checked (%#)', (list, text) => {
    expect(unbrokenText(list)).toBe(text);
  });

  it('says how many are broken, and names the first ones', () => {
    expect(brokenText(2, 50)).toBe('50 entries checked by this page, 2 broken');
    expect(brokenText(1, 1)).toBe('1 entry checked by this page, 1 broken');
    expect(namesOfBroken(find(listOf(changed('95', { action: 'x' }))).breaks)).toBe('entry 95');
    const none = LOG.map((entry) => ({ ...entry, createdAt: '' }));
    expect(namesOfBroken(find(listOf(none)).breaks)).toBe('entries 120, 119, 118, 117, 116 and 115 more');
  });
});
