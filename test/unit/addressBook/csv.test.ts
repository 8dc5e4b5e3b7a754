import fc from 'fast-check';
import { MAX_ROWS, readCsv, readName, writeCsv } from '../../../src/addressBook/csv';
import { readImport } from '../../../src/addressBook/importedRows';
import { entryNameInput } from '../../../src/contract/addressBookContract';
import { foldName } from '../../../src/domain/names';
import { anAddress } from '../../support/builders';

const NETWORKS = [{ id: 1 }, { id: 137 }, { id: 31337 }, { id: 31338, shortName: 'local' }];
const [ACME, PAT, ZOE] = [
  '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
  '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
];

const rowsOf = (csv: string) => {
  const read = readImport(csv, NETWORKS);
  if (!read.ok) throw new Error(JSON.stringify(read.refusal));
  return read.value.map(({ name, address, networkId }) => [name, address, networkId]);
};
const issuesOf = (csv: string) => {
  const read = readImport(csv, NETWORKS);
  return read.ok ? [] : read.refusal.issues?.map(({ field, message }) => `${field}: ${message}`);
};

describe('a file of an address book', () => {
  it('has addresses with and without the short name of their network', () => {
    const csv = `address,name\neth:${ACME},ACME\n${PAT},Pat\nlocal:${ZOE.toLowerCase()},Zoe\n`;
    expect(rowsOf(csv)).toEqual([
      ['ACME', ACME, 1],
      ['Pat', PAT, null],
      ['Zoe', ZOE, 31338],
    ]);
  });

  it('may be one that Safe{Wallet} has exported: its columns, a byte order mark, lines without content at the end', () => {
    const csv = `\ufeffaddress,name,chainId\r\n${ACME},ACME,1\r\n${PAT},"Pat, ""P"" & Co",137\r\nmatic:${ZOE},Zoe,137\r\n\r\n,,\r\n`;
    expect(rowsOf(csv)).toEqual([
      ['ACME', ACME, 1],
      ['Pat, "P" & Co', PAT, 137],
      ['Zoe', ZOE, 137],
    ]);
  });

  it('may be one with semicolons and other columns, in any order, with spaces around what they are called', () => {
    const csv = `Note; NAME ;Address\nx;ACME, Ltd; ${ACME} \n`;
    expect(rowsOf(csv)).toEqual([['ACME, Ltd', ACME, null]]);
  });

  it('is refused with every bad row, by its line and field', () => {
    const csv = [
      'address,name,chainId',
      `${ACME.slice(0, -1)},Short,`,
      `${ACME.replace('C5', 'c5')},Checksum,`,
      `0x${'0'.repeat(40)},Zero,`,
      `eth:${ACME},Other network,137`,
      `sol:${ACME},Unknown network,`,
      `${PAT},Unknown chain,5`,
      `${PAT},,`,
      `${PAT},"two\nlines",`,
      `${PAT},Pat\u202e,`,
      `${PAT},Pat,`,
      `${PAT},Pat again,`,
      `${ZOE},PAT,`,
      `${ACME}`,
      '',
    ].join('\n');
    expect(issuesOf(csv)).toEqual([
      'csv[line 2].address: must be an address: 0x and 40 hex digits',
      'csv[line 3].address: has a wrong checksum',
      'csv[line 4].address: must not be the zero address',
      'csv[line 5].chainId: is 137, and the short name of the address is that of network 1',
      'csv[line 6].address: short name "sol" is of no configured network (available: eth, pol, 31337, local)',
      'csv[line 7].chainId: network "5" is not configured (available: 1, 137, 31337, 31338)',
      'csv[line 8].name: must have 1 to 100 characters',
      'csv[line 9].name: must not contain control characters: character 4 is U+000A',
      'csv[line 11].name: must not contain bidirectional control characters: character 4 is U+202E RIGHT-TO-LEFT OVERRIDE',
      'csv[line 15].name: must have 1 to 100 characters',
      'csv[line 13].address: is that of csv[line 12]',
      'csv[line 14].name: is that of csv[line 12]',
    ]);
  });

  it.each([
    ['no columns', `${ACME},ACME\n${PAT},Pat\n`, 'csv[line 1]: must name the columns'],
    ['no rows', 'address,name\n', 'csv: has no row below'],
    ['nothing', '\n\n', 'csv: has no row below'],
    [
      'a quote that stays open',
      `address,name\n${ACME},"ACME\n`,
      'csv[line 2]: has a quote that is not closed',
    ],
    ['text after a quote', `address,name\n${ACME},"AC"ME\n`, 'csv[line 2]: has text after a closing quote'],
    [
      'a row without end',
      `address,name\n${','.repeat(3_000)}\n`,
      'csv[line 2]: has more than 2000 characters',
    ],
  ])('is refused with %s', (_, csv, expected) => {
    expect(issuesOf(csv)?.[0]).toContain(expected);
  });

  it('has at most 1,000 rows, and its answer at most 100 issues', () => {
    const csv = (rows: number) => `address,name\n${'x,y\n'.repeat(rows)}`;
    expect(readCsv(csv(MAX_ROWS))).toHaveLength(MAX_ROWS + 1);
    expect(readCsv(csv(MAX_ROWS + 1))).toEqual({
      line: MAX_ROWS + 2,
      message: 'is too much: a file has at most 1000 rows',
    });
    expect(issuesOf(csv(MAX_ROWS))).toHaveLength(100);
  });

  it.each([
    ['quotes', '"'.repeat(500_000), 'csv[line 2]: has a quote that is not closed within 2000 characters'],
    [
      'pairs of quotes',
      `"${'""'.repeat(250_000)}`,
      'csv[line 2]: has a quote that is not closed within 2000 characters',
    ],
    ['newlines', '\n'.repeat(500_000), 'csv: has no row below the names of its columns'],
    ['returns', '\r'.repeat(500_000), 'csv: has no row below the names of its columns'],
    ['separators', ','.repeat(500_000), 'csv[line 2]: has more than 2000 characters'],
    ['rows of separators', ',\n'.repeat(250_000), 'csv: has no row below the names of its columns'],
    [
      'rows of one character',
      'a\n'.repeat(250_000),
      'csv[line 1002]: is too much: a file has at most 1000 rows',
    ],
  ])('is refused with half a million characters of %s', (_, hostile, expected) => {
    expect(issuesOf(`address,name\n${hostile}`)).toEqual([expected]);
  });

  it('has the line of a row behind half a million lines without content', () => {
    const blank = '\n\r\n\r,\n'.repeat(100_000);
    expect(issuesOf(`${blank}address,name\n${blank}x,ACME\n`)?.[0]).toMatch(/^csv\[line 800002\]\.address: /);
  });

  it.each(['=1+1', '+49 30 1', '-x', '@SUM(1)', " =cmd|' /C calc'!A0", "'=1", "''-1"])(
    'has no formula in %j, and gives the name back',
    (name) => {
      const csv = writeCsv([{ name, address: ACME, networkId: 1 }], () => 'eth');
      const [, row = ''] = csv.split('\r\n');
      expect(row).toMatch(new RegExp(`^eth:${ACME},"?'`));
      expect(rowsOf(csv)).toEqual([[name, ACME, 1]]);
    },
  );

  it.each(['a;=1+1;b', ';@SUM(1)', 'x; =HYPERLINK("https://a.example";A1);y', "a;'=1", ';;-1', 'a;b'])(
    'has no formula in %j for who opens it with semicolons as separators',
    (name) => {
      const csv = writeCsv([{ name, address: ACME, networkId: 1 }], () => 'eth');
      const cells = csv.split('\r\n').flatMap((line) => line.split(';'));
      expect(cells.filter((cell) => /^"?\s*[=+\-@]/.test(cell))).toEqual([]);
      expect(rowsOf(csv)).toEqual([[name, ACME, 1]]);
    },
  );

  it.each([ACME, '0x7099…79C8', 'ACME 0x7099', '０ｘ７０９９', ACME.slice(2), '0х7099...79C8'])(
    'has no name like %s, which people take for an address',
    (name) => {
      expect(issuesOf(`address,name\n${PAT},${name}\n`)).toEqual([
        'csv[line 2].name: must not look like an address',
      ]);
    },
  );

  it.each(['0x Labs', '0xSplits', 'Box 0x1', 'Cafe 0xfed'])('may have the name %s', (name) => {
    expect(rowsOf(`address,name\n${PAT},${name}\n`)).toEqual([[name, PAT, null]]);
  });

  it('that was exported has the same entries when it is imported', () => {
    // Also much of what begins a cell or a formula.
    const unit = fc.oneof(
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
      fc.constantFrom(';', "'", '=', ' ', '-'),
    );
    const name = fc.string({ unit, minLength: 1, maxLength: 40 }).filter((text) => {
      return entryNameInput.safeParse(text).success && text.trim() === text;
    });
    const networkId = fc.constantFrom(null, ...NETWORKS.map(({ id }) => id));
    const entries = fc.uniqueArray(fc.record({ name, networkId }), {
      selector: (one) => foldName(one.name),
      maxLength: 8,
    });
    const shortNames: { [id: number]: string } = { 1: 'eth', 137: 'pol', 31338: 'local' };
    fc.assert(
      fc.property(entries, (made) => {
        fc.pre(made.length > 0);
        const book = made.map((one) => ({ ...one, address: anAddress() }));
        const csv = writeCsv(book, (id) => shortNames[id]);
        expect(rowsOf(csv)).toEqual(book.map((one) => [one.name, one.address, one.networkId]));
      }),
    );
  });

  it('keeps a name that only begins with a quote', () => {
    expect(["'t Huys", "'=1", "'''=1", 'plain'].map(readName)).toEqual(["'t Huys", '=1', "''=1", 'plain']);
  });
});
