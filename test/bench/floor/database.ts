import { Pool, type PoolClient } from 'pg';

const CONNECTIONS = 20;

/** The tables of the floors: a record, what is appended to it, and documents to read. */
const TABLES = `
  CREATE TABLE records (id text PRIMARY KEY, version integer NOT NULL DEFAULT 0, begun_at timestamptz, sent_at timestamptz);
  CREATE TABLE steps (record_id text NOT NULL REFERENCES records, name text NOT NULL, PRIMARY KEY (record_id, name));
  CREATE TABLE entries (position bigserial PRIMARY KEY, record_id text NOT NULL, name text NOT NULL);
  CREATE TABLE envelopes (record_id text PRIMARY KEY, bytes text NOT NULL);
  CREATE TABLE documents (id text PRIMARY KEY, body jsonb NOT NULL);
`;

/** A pool for the tables of the floor. */
export function floorPool(databaseUrl: string): Pool {
  return new Pool({ connectionString: databaseUrl, max: CONNECTIONS });
}

async function run(databaseUrl: string, statement: string): Promise<void> {
  const pool = floorPool(databaseUrl);
  await pool.query(statement);
  await pool.end();
}

/** Creates the database of the floors, with its tables. Its name is the last part of its URL. */
export async function createFloorDatabase(adminUrl: string, databaseUrl: string): Promise<void> {
  await run(adminUrl, `CREATE DATABASE ${new URL(databaseUrl).pathname.slice(1)}`);
  await run(databaseUrl, TABLES);
}

async function transact<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
}

/** The least that stores a new record: one transaction of four statements. */
export function storeRecord(pool: Pool, id: string): Promise<void> {
  return transact(pool, async (client) => {
    await client.query({ name: 'find', text: 'SELECT 1 FROM records WHERE id = $1', values: [id] });
    await client.query({ name: 'insert', text: 'INSERT INTO records (id) VALUES ($1)', values: [id] });
    await append(client, id, 'create');
  });
}

async function append(client: PoolClient, id: string, name: string): Promise<void> {
  const values = [id, name];
  await client.query({ name: 'step', text: 'INSERT INTO steps (record_id, name) VALUES ($1, $2)', values });
  await client.query({
    name: 'entry',
    text: 'INSERT INTO entries (record_id, name) VALUES ($1, $2)',
    values,
  });
}

/** What a step sets to the time of its transaction. */
const SETS = { begin: ', begun_at = now()', sent: ', sent_at = now()' } as const;

/** The least that records a step of a record, once: one transaction of four statements. */
export function storeStep(pool: Pool, id: string, name: string): Promise<void> {
  return transact(pool, async (client) => {
    await client.query({
      name: 'lock',
      text: 'SELECT 1 FROM records WHERE id = $1 FOR UPDATE',
      values: [id],
    });
    await append(client, id, name);
    const sets = name in SETS ? SETS[name as keyof typeof SETS] : '';
    const text = `UPDATE records SET version = version + 1${sets} WHERE id = $1`;
    await client.query({ name: `advance${sets}`, text, values: [id] });
  });
}

/** Stores bytes of envelopes, by the ids of their records. */
export async function storeEnvelopes(pool: Pool, envelopes: ReadonlyMap<string, string>): Promise<void> {
  await pool.query('INSERT INTO envelopes SELECT * FROM unnest($1::text[], $2::text[])', [
    [...envelopes.keys()],
    [...envelopes.values()],
  ]);
}

/** The bytes of a record's envelope. */
export async function bytesOf(pool: Pool, id: string): Promise<string> {
  const text = 'SELECT bytes FROM envelopes WHERE record_id = $1';
  const { rows } = await pool.query({ name: 'envelope', text, values: [id] });
  return rows[0].bytes;
}

/** Milliseconds from the beginning of each execution until its bytes were at the node, newest first. */
export async function untilSent(pool: Pool, count: number): Promise<number[]> {
  const { rows } = await pool.query(
    `SELECT extract(epoch FROM sent_at - begun_at)::float8 * 1000 AS ms FROM records
     WHERE sent_at IS NOT NULL ORDER BY begun_at DESC LIMIT $1`,
    [count],
  );
  return rows.map(({ ms }) => ms);
}
