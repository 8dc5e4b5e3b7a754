import type { Knex } from 'knex';

/** Groups, policies, proofs of wallets, and what proposals name. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE groups (
      id text PRIMARY KEY,
      organization_id text NOT NULL REFERENCES organizations,
      name text NOT NULL,
      position bigint NOT NULL,
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      updated_at timestamptz(3) NOT NULL DEFAULT now(),
      deleted_at timestamptz(3)
    );
    CREATE INDEX groups_position ON groups (organization_id, position);
    CREATE TABLE group_members (
      group_id text NOT NULL REFERENCES groups,
      member_id text NOT NULL REFERENCES members,
      PRIMARY KEY (group_id, member_id)
    );
    CREATE INDEX group_members_member ON group_members (member_id);

    CREATE TABLE policies (
      id text PRIMARY KEY,
      organization_id text NOT NULL REFERENCES organizations,
      name text NOT NULL,
      -- the whole policy, exact, apart from id and times
      definition jsonb NOT NULL,
      position bigint NOT NULL,
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      updated_at timestamptz(3) NOT NULL DEFAULT now(),
      removed_at timestamptz(3)
    );
    CREATE INDEX policies_position ON policies (organization_id, position);

    -- texts to be signed by the wallet of a member: each proves once, and not for long
    CREATE TABLE registration_challenges (
      nonce text PRIMARY KEY,
      organization_id text NOT NULL REFERENCES organizations,
      member_id text NOT NULL REFERENCES members,
      wallet_address text NOT NULL,
      message text NOT NULL,
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      expires_at timestamptz(3) NOT NULL,
      used_at timestamptz(3),
      -- the request that used it: sent again, it finds its own proof
      used_by uuid
    );
    CREATE INDEX registration_challenges_wallet
      ON registration_challenges (organization_id, lower(wallet_address), created_at);
    CREATE INDEX registration_challenges_expiry ON registration_challenges (expires_at);

    -- members, groups, accounts, policies and networks that a proposal is about, such as member:mem_…
    ALTER TABLE proposals ADD COLUMN names text[] NOT NULL DEFAULT '{}';
    CREATE INDEX proposals_open_names ON proposals USING gin (names) WHERE closed_at IS NULL;
    -- the reconciler goes through the open ones of all organizations
    CREATE INDEX proposals_open_by_id ON proposals (id) WHERE closed_at IS NULL;

    GRANT SELECT ON groups, group_members, policies, registration_challenges
      TO orgwallet_service, orgwallet_signer;
    GRANT INSERT, UPDATE ON groups, policies TO orgwallet_service;
    GRANT INSERT, DELETE ON group_members TO orgwallet_service;
    GRANT INSERT, UPDATE, DELETE ON registration_challenges TO orgwallet_service;
  `);
}
