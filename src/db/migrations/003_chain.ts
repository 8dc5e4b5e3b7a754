import type { Knex } from 'knex';

/** What the signer writes: keys by address, and everything that was ever signed for a chain. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE signing_keys (
      organization_id text PRIMARY KEY REFERENCES organizations,
      address text NOT NULL,
      created_at timestamptz(3) NOT NULL DEFAULT now()
    );
    CREATE TABLE relayers (
      network_id bigint NOT NULL,
      index integer NOT NULL,
      address text NOT NULL,
      PRIMARY KEY (network_id, index)
    );

    -- one need for an effect on chain, made once; its content never changes
    CREATE TABLE chain_attempts (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      kind text NOT NULL CHECK (kind IN ('deployment')),
      organization_id text NOT NULL REFERENCES organizations,
      proposal_id text NOT NULL REFERENCES proposals,
      account_id text NOT NULL REFERENCES accounts,
      network_id bigint NOT NULL,
      to_address text NOT NULL,
      data text NOT NULL,
      created_at timestamptz(3) NOT NULL DEFAULT now()
    );
    CREATE UNIQUE INDEX chain_attempts_deployment ON chain_attempts (account_id, network_id) WHERE kind = 'deployment';

    -- signed transactions of a relayer that carry an attempt to the chain; stored before they are sent
    CREATE TABLE chain_envelopes (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      attempt_id bigint NOT NULL REFERENCES chain_attempts,
      network_id bigint NOT NULL,
      relayer_address text NOT NULL,
      relayer_nonce bigint NOT NULL,
      gas numeric(78, 0) NOT NULL,
      max_fee_per_gas numeric(78, 0) NOT NULL,
      max_priority_fee_per_gas numeric(78, 0) NOT NULL,
      transaction_hash text NOT NULL UNIQUE,
      raw_transaction text NOT NULL,
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      sent_at timestamptz(3),
      -- mined, reverted, or dropped because its nonce was used by another
      outcome text CHECK (outcome IN ('mined', 'reverted', 'dropped')),
      decided_at timestamptz(3)
    );
    CREATE INDEX chain_envelopes_attempt ON chain_envelopes (attempt_id);
    CREATE INDEX chain_envelopes_nonce ON chain_envelopes (network_id, relayer_address, relayer_nonce);
    CREATE INDEX chain_envelopes_live ON chain_envelopes (network_id, relayer_address) WHERE outcome IS NULL;

    GRANT SELECT ON signing_keys, relayers, chain_attempts, chain_envelopes TO orgwallet_service, orgwallet_signer;
    GRANT INSERT ON signing_keys, chain_attempts, chain_envelopes TO orgwallet_signer;
    GRANT INSERT, UPDATE ON relayers TO orgwallet_signer;
    GRANT UPDATE (sent_at, outcome, decided_at) ON chain_envelopes TO orgwallet_service;
  `);
}
