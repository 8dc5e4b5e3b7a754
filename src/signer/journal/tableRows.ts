import type { JournaledRecord } from '../../domain/journaledRecord';

/** Lines of version 1 have the rows of a record under the names that their columns had then; other names than today's. */
const RENAMED: Readonly<Record<string, string>> = { frozen: 'finalTally', to_address: 'to' };

/** Columns of those rows that a record does not have: they are made anew. */
const LEFT_OUT: Readonly<Record<string, readonly string[]>> = {
  approvals: ['subject', 'position'],
  transactions: [],
  votes: ['id'],
  evidence: ['id'],
  policy_usage: ['id', 'counted_from'],
};

const NUMERIC = ['value', 'amount', 'awaits_relayer_wei'];

type Row = Readonly<Record<string, unknown>>;

/** A JSON text, parsed: whole numbers that lose digits as a `number` become strings. */
function parseExact(text: string): Readonly<Record<string, readonly Row[]>> {
  const token = /"(?:[^"\\]|\\.)*"|-?\d{16,}/g;
  return JSON.parse(text.replace(token, (found) => (found.startsWith('"') ? found : `"${found}"`)));
}

function fieldOf(column: string): string {
  return RENAMED[column] ?? column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function exactValue(column: string, value: unknown): unknown {
  if (value === null) return null;
  if (NUMERIC.includes(column)) return String(value);
  // As Postgres writes bytes.
  return column === 'request_hash' ? String(value).replace(/^\\x/, '') : value;
}

/** The record in the rows of version 1, as JSON text: `{"approvals": [{"organization_id": …}], …}`. */
export function recordOfRows(text: string): JournaledRecord {
  const tables = parseExact(text);
  const partsOf = (table: string): readonly object[] =>
    (tables[table] ?? []).map((row) =>
      Object.fromEntries(
        Object.entries(row)
          .filter(([column]) => !LEFT_OUT[table]?.includes(column))
          .map(([column, value]) => [fieldOf(column), exactValue(column, value)]),
      ),
    );
  const [approval] = partsOf('approvals');
  const [transaction] = partsOf('transactions');
  return {
    approval,
    // The first lines were written before there were reopenings.
    transaction: { reopenings: 0, ...transaction },
    votes: partsOf('votes'),
    evidence: partsOf('evidence'),
    usage: partsOf('policy_usage'),
  } as unknown as JournaledRecord;
}
