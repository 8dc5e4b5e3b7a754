import type { Knex } from 'knex';

/** Roles, organizations, members, admins, accounts, proposals, evidence and the audit log. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    DO $$
    DECLARE role_name text;
    BEGIN
      FOREACH role_name IN ARRAY ARRAY['orgwallet_service', 'orgwallet_signer'] LOOP
        BEGIN
          EXECUTE format('CREATE ROLE %I NOLOGIN', role_name);
        EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
        END;
        IF NOT pg_has_role(current_user, role_name, 'MEMBER') THEN
          EXECUTE format('GRANT %I TO CURRENT_USER', role_name);
        END IF;
      END LOOP;
    END $$;

    CREATE TABLE deployment (
      singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
      id uuid NOT NULL DEFAULT gen_random_uuid(),
      cursor_secret bytea NOT NULL DEFAULT decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'),
      created_at timestamptz(3) NOT NULL DEFAULT now()
    );
    INSERT INTO deployment DEFAULT VALUES;

    CREATE TABLE organizations (
      id text PRIMARY KEY,
      name text NOT NULL,
      -- EIP-712 domain salt of organization operations: keccak256 of deployment id and organization id
      domain_salt text NOT NULL,
      created_at timestamptz(3) NOT NULL DEFAULT now()
    );

    CREATE TABLE members (
      id text PRIMARY KEY,
      organization_id text NOT NULL REFERENCES organizations,
      name text NOT NULL,
      type text NOT NULL CHECK (type IN ('user', 'api')),
      -- checksummed (EIP-55), like every address in this database; compared by lower()
      wallet_address text NOT NULL CHECK (wallet_address ~ '^0x[0-9a-fA-F]{40}$'),
      registered_at timestamptz(3),
      position bigint NOT NULL,
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      updated_at timestamptz(3) NOT NULL DEFAULT now(),
      removed_at timestamptz(3)
    );
    CREATE UNIQUE INDEX members_wallet_address ON members (organization_id, lower(wallet_address))
      WHERE removed_at IS NULL;
    CREATE INDEX members_position ON members (organization_id, position);

    CREATE TABLE admin_sets (
      id text PRIMARY KEY,
      organization_id text NOT NULL UNIQUE REFERENCES organizations,
      threshold integer NOT NULL CHECK (threshold >= 1)
    );
    CREATE TABLE admin_set_members (
      organization_id text NOT NULL REFERENCES organizations,
      member_id text NOT NULL REFERENCES members,
      PRIMARY KEY (organization_id, member_id)
    );

    CREATE TABLE accounts (
      id text PRIMARY KEY,
      organization_id text NOT NULL REFERENCES organizations,
      name text NOT NULL,
      address text NOT NULL,
      owner_address text NOT NULL,
      singleton text NOT NULL,
      factory text NOT NULL,
      fallback_handler text NOT NULL,
      initializer text NOT NULL,
      salt_nonce text NOT NULL,
      position bigint NOT NULL,
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      updated_at timestamptz(3) NOT NULL DEFAULT now()
    );
    CREATE INDEX accounts_position ON accounts (organization_id, position);
    CREATE TABLE account_networks (
      account_id text NOT NULL REFERENCES accounts,
      network_id bigint NOT NULL,
      transaction_hash text,
      block_number bigint,
      deployed_at timestamptz(3) NOT NULL DEFAULT now(),
      PRIMARY KEY (account_id, network_id)
    );

    CREATE TABLE proposals (
      id text PRIMARY KEY,
      organization_id text NOT NULL REFERENCES organizations,
      resource_type text NOT NULL CHECK (resource_type IN ('members', 'groups', 'policies', 'accounts', 'admins')),
      action text NOT NULL CHECK (action IN ('create', 'update', 'remove', 'delete')),
      data jsonb NOT NULL,
      summary text NOT NULL,
      -- what the change needs besides data, fixed when proposed (ids of what it will create)
      plan jsonb NOT NULL,
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      updated_at timestamptz(3) NOT NULL DEFAULT now(),
      -- whole seconds: this is the expiry that is signed
      expires_at timestamptz(3) NOT NULL,
      position bigint NOT NULL,
      version integer NOT NULL DEFAULT 1,
      created_by_key text,
      execution_status text CHECK (execution_status IN ('processing', 'completed', 'rejected', 'failed', 'blocked')),
      execution_attempt integer NOT NULL DEFAULT 0,
      -- the off-chain part of the change is done; only deployments may be missing
      applied_at timestamptz(3),
      -- something that others can see has been changed: it can no longer be rejected
      effective boolean NOT NULL DEFAULT false,
      -- how the votes stood when the execution that is under way began
      executed_with jsonb,
      failure jsonb,
      notes jsonb NOT NULL DEFAULT '[]',
      result jsonb,
      expired_at timestamptz(3),
      closed_at timestamptz(3),
      -- approvals, rejections, threshold and signatureStatus as they were when nothing could change any more
      frozen jsonb
    );
    CREATE INDEX proposals_position ON proposals (organization_id, position);
    CREATE INDEX proposals_resource_position ON proposals (organization_id, resource_type, position);
    CREATE INDEX proposals_open ON proposals (organization_id, created_by_key) WHERE closed_at IS NULL;
    CREATE UNIQUE INDEX proposals_one_queued_admin_proposal ON proposals (organization_id)
      WHERE resource_type = 'admins' AND closed_at IS NULL;

    CREATE TABLE proposal_claims (
      organization_id text NOT NULL,
      claim text NOT NULL,
      proposal_id text NOT NULL REFERENCES proposals,
      PRIMARY KEY (organization_id, claim)
    );
    CREATE INDEX proposal_claims_proposal ON proposal_claims (proposal_id);

    CREATE TABLE proposal_votes (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      proposal_id text NOT NULL REFERENCES proposals,
      member_id text NOT NULL REFERENCES members,
      type text NOT NULL CHECK (type IN ('approve', 'reject')),
      signer_address text NOT NULL,
      scheme text NOT NULL CHECK (scheme IN ('eoa', 'eip1271', 'erc6492')),
      signature text NOT NULL,
      reason text,
      api_key_id text,
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      UNIQUE (proposal_id, member_id, type, signer_address)
    );

    -- what each message did: the same message, sent again, finds its own outcome
    CREATE TABLE proposal_messages (
      proposal_id text NOT NULL REFERENCES proposals,
      message_id text NOT NULL,
      kind text NOT NULL,
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      PRIMARY KEY (proposal_id, message_id)
    );

    CREATE TABLE proposal_deployments (
      proposal_id text NOT NULL REFERENCES proposals,
      account_id text NOT NULL REFERENCES accounts,
      network_id bigint NOT NULL,
      status text NOT NULL CHECK (status IN ('pending', 'completed', 'failed')),
      transaction_hash text,
      failure jsonb,
      waiting_for text,
      updated_at timestamptz(3) NOT NULL DEFAULT now(),
      PRIMARY KEY (proposal_id, account_id, network_id)
    );

    -- one row per outcome: the payload, the signatures and the standing they were counted under
    CREATE TABLE evidence (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      organization_id text NOT NULL REFERENCES organizations,
      subject_type text NOT NULL,
      subject_id text NOT NULL,
      resolution text NOT NULL,
      payload text NOT NULL,
      signatures jsonb NOT NULL,
      admins jsonb NOT NULL,
      threshold integer NOT NULL,
      created_at timestamptz(3) NOT NULL DEFAULT now()
    );
    CREATE INDEX evidence_subject ON evidence (subject_id);

    CREATE TABLE audit_heads (
      organization_id text PRIMARY KEY REFERENCES organizations,
      position bigint NOT NULL,
      hash text NOT NULL
    );
    CREATE TABLE audit_log (
      organization_id text NOT NULL REFERENCES organizations,
      position bigint NOT NULL,
      id text NOT NULL UNIQUE,
      action text NOT NULL,
      actor jsonb NOT NULL,
      resource_type text NOT NULL,
      resource_id text NOT NULL,
      details jsonb NOT NULL,
      created_at timestamptz(3) NOT NULL,
      previous_hash text NOT NULL,
      hash text NOT NULL,
      PRIMARY KEY (organization_id, position)
    );
    CREATE INDEX audit_log_resource ON audit_log (organization_id, resource_id, position);

    CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION '% is append-only: % is refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'insufficient_privilege';
    END $$;
    CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
    CREATE TRIGGER evidence_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON evidence
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

    GRANT USAGE ON SCHEMA public TO orgwallet_service, orgwallet_signer;
    GRANT SELECT ON ALL TABLES IN SCHEMA public TO orgwallet_service, orgwallet_signer;
    GRANT INSERT, UPDATE ON organizations, members, admin_sets, accounts, account_networks, proposals,
      proposal_deployments, audit_heads TO orgwallet_service;
    GRANT INSERT, DELETE ON admin_set_members, proposal_claims TO orgwallet_service;
    GRANT INSERT ON proposal_votes, proposal_messages, evidence, audit_log TO orgwallet_service;
  `);
}
