import type { Knex } from 'knex';

/** What transactions have used of the limitations of policies. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- one row per execution of a transaction, from the moment it starts; never removed
    CREATE TABLE policy_usage (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      organization_id text NOT NULL REFERENCES organizations,
      policy_id text NOT NULL REFERENCES policies,
      transaction_id text NOT NULL,
      network_id bigint NOT NULL,
      -- the zero address is the native coin, which calls of contracts carry as well
      token_address text NOT NULL,
      amount numeric(78, 0) NOT NULL CHECK (amount >= 0),
      initiator_id text NOT NULL REFERENCES members,
      account_id text NOT NULL REFERENCES accounts,
      -- recipient of a token transfer, contract of a call
      destination text NOT NULL,
      status text NOT NULL DEFAULT 'reserved' CHECK (status IN ('reserved', 'committed', 'released')),
      reserved_at timestamptz(3) NOT NULL DEFAULT now(),
      -- time of the block that it is in
      block_at timestamptz(3) CHECK ((block_at IS NOT NULL) = (status = 'committed')),
      -- when it was committed or released
      decided_at timestamptz(3) CHECK ((decided_at IS NULL) = (status = 'reserved'))
    );
    -- a transaction spends once, however often its execution is tried
    CREATE UNIQUE INDEX policy_usage_transaction ON policy_usage (transaction_id) WHERE status <> 'released';
    -- what is in no block yet stands at the end of every window
    CREATE INDEX policy_usage_window ON policy_usage (policy_id, coalesce(block_at, 'infinity'))
      WHERE status <> 'released';

    CREATE TRIGGER policy_usage_kept BEFORE DELETE OR TRUNCATE ON policy_usage
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

    GRANT SELECT ON policy_usage TO orgwallet_service, orgwallet_signer;
    GRANT INSERT, UPDATE (status, block_at, decided_at) ON policy_usage TO orgwallet_service;
  `);
}
