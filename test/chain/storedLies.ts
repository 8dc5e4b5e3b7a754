import { drawn } from '../support/falsified';
import type { Field } from '../support/postgresMessages';
import type { Draw } from '../support/random';
import type { HostileWorld } from './hostileWorld';
import type { Approved } from './signedOracle';

/** The tables that a signature depends on, and how their rows belong to a transaction. */
const OWNED = {
  chain_attempts: 'transaction_id = ?',
  chain_signatures: 'attempt_id IN (SELECT id FROM chain_attempts WHERE transaction_id = ?)',
  relayer_reservations: 'attempt_id IN (SELECT id FROM chain_attempts WHERE transaction_id = ?)',
  chain_envelopes: 'attempt_id IN (SELECT id FROM chain_attempts WHERE transaction_id = ?)',
  authorizations: 'transaction_id = ?',
  transactions: 'id = ?',
  votes: 'approval_id = ?',
  approvals: 'id = ?',
} as const;

type Table = keyof typeof OWNED;

export const TABLES = Object.keys(OWNED) as readonly Table[];

interface ColumnOf {
  readonly column_name: string;
  readonly udt_name: string;
}

/** Types as the protocol numbers them. */
const OIDS: Readonly<Record<string, number>> = {
  int8: 20,
  int4: 23,
  numeric: 1700,
  bool: 16,
  timestamptz: 1184,
  _text: 1009,
};

/** Changes a stored row of a transaction, or deletes its rows from one table, as the owner of the tables can. */
export async function falsifyStored(
  { world: { db }, liar }: HostileWorld,
  { transactionId }: Pick<Approved, 'transactionId'>,
  { draw, deletes }: { readonly draw: Draw; readonly deletes: boolean },
): Promise<void> {
  const table = drawn(draw, TABLES);
  const where = OWNED[table];
  await db
    .transaction(async (tx) => {
      await tx.raw('ALTER TABLE ?? DISABLE TRIGGER USER', [table]);
      if (deletes) {
        const { rowCount } = await tx.raw(`DELETE FROM ${table} WHERE ${where}`, [transactionId]);
        liar.note(`deleted ${rowCount} of ${table}`);
      } else {
        const { rows: columns }: { rows: ColumnOf[] } = await tx.raw(
          `SELECT column_name, udt_name FROM information_schema.columns
            WHERE table_name = ? AND is_generated = 'NEVER' AND is_identity = 'NO'`,
          [table],
        );
        const selected = columns.map(({ column_name: name }) => `${name}::text AS ${name}`).join(', ');
        const { rows }: { rows: Record<string, Field>[] } = await tx.raw(
          `SELECT ctid::text AS place, ${selected} FROM ${table} WHERE ${where}`,
          [transactionId],
        );
        if (rows.length > 0) {
          const { place, ...row } = drawn(draw, rows);
          const typed = columns.map(({ column_name: name, udt_name: udt }) => {
            const type = OIDS[udt];
            return type === undefined ? { name } : { name, type };
          });
          const changed = liar.falsifyRow(new Map(Object.entries(row)), typed, draw);
          const sets = columns.map(({ column_name: name, udt_name: udt }) => `${name} = (?::text)::${udt}`);
          await tx.raw(`UPDATE ${table} SET ${sets.join(', ')} WHERE ctid = (?::text)::tid`, [
            ...columns.map(({ column_name: name }) => changed.row.get(name) ?? null),
            place ?? null,
          ]);
          liar.note(`stored in ${table}: ${changed.what}`);
        }
      }
      await tx.raw('ALTER TABLE ?? ENABLE TRIGGER USER', [table]);
    })
    // A row that no constraint permits is not stored.
    .catch(() => undefined);
}
