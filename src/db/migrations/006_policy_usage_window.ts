import type { Knex } from 'knex';

/** Until when an execution counts becomes a column: the planner keeps no statistics of what a partial index holds. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- the time from which the hours of a window are counted: not begun where it is in no block yet, long over where it failed
    ALTER TABLE policy_usage ADD COLUMN counted_from timestamptz(3) GENERATED ALWAYS AS (
      CASE status WHEN 'released' THEN '-infinity' ELSE coalesce(block_at, 'infinity') END) STORED;
    DROP INDEX policy_usage_window;
    CREATE INDEX policy_usage_window ON policy_usage (policy_id, counted_from);
  `);
}
