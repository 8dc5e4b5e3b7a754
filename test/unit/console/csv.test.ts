import { csv } from '../../../console/src/text/csv';
import { AUDIT_COLUMNS, TRANSACTION_COLUMNS } from '../../../console/src/text/csvColumns';

const written = (...texts: (string | number | undefined)[]) =>
  csv([['text', (text: string | number | undefined) => text]], texts);

describe('csv', () => {
  it('writes a heading, and each row on a line that ends with CR LF', () => {
    const columns = [
      ['name', ({ name }: { name: string; count: number }) => name],
      ['count', ({ count }: { name: string; count: number }) => count],
    ] as const;
    expect(
      csv(columns, [
        { name: 'Ann', count: 1 },
        { name: 'Ben', count: 0 },
      ]),
    ).toBe('name,count\r\nAnn,1\r\nBen,0\r\n');
    expect(csv(columns, [])).toBe('name,count\r\n');
  });

  it('quotes what contains a comma, a quote or a line break, and doubles quotes', () => {
    expect(written('a,b')).toBe('text\r\n"a,b"\r\n');
    expect(written('say "hi"')).toBe('text\r\n"say ""hi"""\r\n');
    expect(written('one\ntwo')).toBe('text\r\n"one\ntwo"\r\n');
    expect(written('one\r\ntwo')).toBe('text\r\n"one\r\ntwo"\r\n');
  });

  it('writes nothing for what is absent', () => {
    expect(written(undefined)).toBe('text\r\n\r\n');
  });

  it.each([
    ['=1+1', "'=1+1"],
    ['+49 30', "'+49 30"],
    ['-2+1', "'-2+1"],
    ['-A1', "'-A1"],
    ['－1+1', "'－1+1"],
    ['＝1+1', "'＝1+1"],
    ['＋1', "'＋1"],
    ['＠SUM(A1)', "'＠SUM(A1)"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', "'\t=1"],
    ['\r=1', '"\'\r=1"'],
    [' =1', "' =1"],
    ['Rent;=1+1;', '"Rent;\'=1+1;"'],
    ['Rent; @SUM(A1)', '"Rent;\' @SUM(A1)"'],
    ['a\t=1', "a\t'=1"],
    ['a\n=1', '"a\n\'=1"'],
    ['=HYPERLINK("https://a.example","b")', '"\'=HYPERLINK(""https://a.example"",""b"")"'],
  ])('takes from %j the power of a formula', (text, expected) => {
    expect(written(text)).toBe(`text\r\n${expected}\r\n`);
  });

  it('leaves numbers of any length, and signs inside of a text, as they are', () => {
    expect(
      written('115792089237316195423570985008687907853269984665640564039457584007913129639935'),
    ).toContain('\r\n115792089237316195423570985008687907853269984665640564039457584007913129639935\r\n');
    // A spreadsheet leaves a text out of its sums.
    expect(written('-2', '-1500000.25')).toBe('text\r\n-2\r\n-1500000.25\r\n');
    expect(written('a=b', '1-2')).toBe('text\r\na=b\r\n1-2\r\n');
  });

  it.each([
    ['transactions', TRANSACTION_COLUMNS],
    ['entries of the audit log', AUDIT_COLUMNS],
  ])('has no two columns of one name for %s', (_, columns) => {
    const headings = (columns as readonly (readonly [string, unknown])[]).map(([heading]) => heading);
    expect(new Set(headings).size).toBe(headings.length);
  });
});
