import type { Knex } from 'knex';

/** API keys, requests that can be repeated, and rate limits. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE api_keys (
      id text PRIMARY KEY,
      organization_id text NOT NULL REFERENCES organizations,
      -- SHA-256 of the key; the key itself is stored nowhere
      key_hash bytea NOT NULL UNIQUE,
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      expires_at timestamptz(3),
      revoked_at timestamptz(3),
      -- the key that took its place
      rotated_to text REFERENCES api_keys
    );
    CREATE INDEX api_keys_organization ON api_keys (organization_id);
    CREATE TABLE api_key_members (
      api_key_id text NOT NULL REFERENCES api_keys,
      member_id text NOT NULL REFERENCES members,
      -- order in which the members were named: the first entitled one is the actor
      place integer NOT NULL,
      PRIMARY KEY (api_key_id, member_id)
    );
    CREATE INDEX api_key_members_member ON api_key_members (member_id);

    CREATE TABLE idempotency_requests (
      -- id of the request everywhere: update id in Temporal, message id in proposal_messages
      id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
      organization_id text NOT NULL REFERENCES organizations,
      -- X-Idempotency-Key
      key uuid NOT NULL,
      api_key_id text NOT NULL REFERENCES api_keys,
      method text NOT NULL,
      path text NOT NULL,
      request_hash bytea NOT NULL,
      body jsonb NOT NULL,
      -- id of what the request makes or changes, fixed before it is sent
      resource_id text NOT NULL,
      lease_owner uuid NOT NULL,
      lease_until timestamptz(3) NOT NULL,
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      answered_at timestamptz(3),
      status integer,
      response_body text,
      location text,
      UNIQUE (organization_id, key),
      CHECK ((answered_at IS NULL) = (status IS NULL) AND (answered_at IS NULL) = (response_body IS NULL))
    );
    CREATE INDEX idempotency_requests_created ON idempotency_requests (created_at);

    -- losing it in a crash only fills the buckets
    CREATE UNLOGGED TABLE rate_limit_buckets (
      bucket text PRIMARY KEY,
      tokens double precision NOT NULL,
      -- what the last lease was given
      taken integer NOT NULL,
      updated_at timestamptz NOT NULL
    );

    -- tells every process that what it remembers about keys may no longer hold
    CREATE FUNCTION announce_access_changed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM pg_notify('access_changed', '');
      RETURN NULL;
    END $$;
    CREATE TRIGGER api_keys_access_changed AFTER UPDATE ON api_keys
      FOR EACH STATEMENT EXECUTE FUNCTION announce_access_changed();
    CREATE TRIGGER members_access_changed AFTER UPDATE ON members
      FOR EACH STATEMENT EXECUTE FUNCTION announce_access_changed();
    CREATE TRIGGER admin_set_members_access_changed AFTER INSERT OR DELETE ON admin_set_members
      FOR EACH STATEMENT EXECUTE FUNCTION announce_access_changed();

    GRANT SELECT ON api_keys, api_key_members, idempotency_requests, rate_limit_buckets
      TO orgwallet_service, orgwallet_signer;
    GRANT INSERT, UPDATE ON api_keys TO orgwallet_service;
    GRANT INSERT ON api_key_members TO orgwallet_service;
    GRANT INSERT, UPDATE, DELETE ON idempotency_requests, rate_limit_buckets TO orgwallet_service;
  `);
}
