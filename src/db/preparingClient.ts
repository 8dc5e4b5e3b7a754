import type { Knex } from 'knex';

/** The client of knex for Postgres, which has no types of its own. */
interface PostgresClient extends Knex.Client {
  _query(connection: unknown, query: Query): Promise<unknown>;
}

/** A statement as knex sends it. */
interface Query {
  readonly sql?: string;
  options?: { readonly name?: string };
}

const PostgresClient: new (
  config: Knex.Config,
) => PostgresClient = require('knex/lib/dialects/postgres/index.js');

/** Each connection keeps the plans of so many statements at most. */
const MOST_STATEMENTS = 300;
const PLANNED = /^\s*(select|insert|update|delete|with)\b/i;
/** What a statement with a star returns depends on the columns of a table: a migration adds some. */
const STAR = /([\w"]\.|select |returning )\*/i;
/**
 * How the first rows of a list are found fastest depends on how many rows match its values: a plan for all values reads
 * each transaction of a large account to show the newest.
 */
const PAGE = /\border by\b.*\blimit \$/is;
/** What stores many rows at once is as long as they are, and seldom sent again; its plan takes a megabyte. */
const LONGEST = 16_000;

function isPreparable(sql: string): boolean {
  return sql.length <= LONGEST && PLANNED.test(sql) && !STAR.test(sql) && !PAGE.test(sql);
}

/** Names of a pool's statements, by their text. */
export class StatementNames {
  private readonly names = new Map<string, string>();
  /** What was sent once. */
  private readonly once = new Set<string>();

  /** The name of a statement to prepare; undefined where it is not prepared, such as the first time. */
  nameOf(sql: string): string | undefined {
    const known = this.names.get(sql);
    if (known !== undefined) return known;
    const { size } = this.names;
    if (size >= MOST_STATEMENTS || !isPreparable(sql)) return undefined;
    if (!this.once.delete(sql)) {
      if (this.once.size >= MOST_STATEMENTS) this.once.clear();
      this.once.add(sql);
      return undefined;
    }
    const name = `statement_${size}`;
    this.names.set(sql, name);
    return name;
  }
}

/** By the configuration of the pool: knex makes another client for each transaction. */
const namesOfPools = new WeakMap<object, StatementNames>();

function namesOfPool(config: object): StatementNames {
  const known = namesOfPools.get(config);
  if (known) return known;
  const names = new StatementNames();
  namesOfPools.set(config, names);
  return names;
}

/** Prepares what is sent again and again, so that each connection plans it once. */
export class PreparingClient extends PostgresClient {
  override _query(connection: unknown, query: Query): Promise<unknown> {
    const name = query.sql === undefined ? undefined : namesOfPool(this.config).nameOf(query.sql);
    if (name !== undefined) query.options = { ...query.options, name };
    return super._query(connection, query);
  }
}
