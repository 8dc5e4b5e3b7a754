import type { Knex } from 'knex';

/** Account transactions: what is asked, who signed, and what each attempt did on chain. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE transactions (
      id text PRIMARY KEY,
      organization_id text NOT NULL REFERENCES organizations,
      account_id text NOT NULL REFERENCES accounts,
      network_id bigint NOT NULL,
      policy_id text NOT NULL REFERENCES policies,
      initiator_id text NOT NULL REFERENCES members,
      description text NOT NULL,
      type text NOT NULL CHECK (type IN ('TOKEN_TRANSFER', 'CONTRACT_INTERACTION')),
      to_address text NOT NULL,
      value numeric(78, 0) NOT NULL CHECK (value >= 0),
      calldata text NOT NULL,
      -- the same in the words of the API: asset and amount, or function and parameters
      content jsonb NOT NULL,
      -- one line of plain words; it is signed
      summary text NOT NULL,
      -- members, groups, account, policy and network that it is about, such as member:mem_…
      names text[] NOT NULL DEFAULT '{}',
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      updated_at timestamptz(3) NOT NULL DEFAULT now(),
      -- whole seconds: this is the expiry that is signed
      expires_at timestamptz(3) NOT NULL,
      position bigint NOT NULL,
      version integer NOT NULL DEFAULT 1,
      created_by_key text,
      execution_status text CHECK (execution_status IN ('processing', 'completed', 'rejected', 'failed', 'blocked')),
      execution_attempt integer NOT NULL DEFAULT 0,
      execution_started_at timestamptz(3),
      -- how the votes stood when the last execution began
      executed_with jsonb,
      -- what an execution waits for, in words
      waiting_for text,
      -- coin in wei that the relayer lacks: the execution goes on by itself when it has it
      awaits_relayer_wei numeric(78, 0),
      -- an operator wants the attempt that is on its way to come to nothing
      giving_up boolean NOT NULL DEFAULT false,
      failure jsonb,
      notes jsonb NOT NULL DEFAULT '[]',
      result jsonb,
      expired_at timestamptz(3),
      closed_at timestamptz(3),
      -- initiator, approvals, rejections, threshold and signatureStatus as they were when nothing could change any more
      frozen jsonb
    );
    CREATE INDEX transactions_position ON transactions (organization_id, position);
    CREATE INDEX transactions_account_position ON transactions (organization_id, account_id, position);
    -- the tokens that an account has to do with
    CREATE INDEX transactions_tokens ON transactions (account_id, (content->'asset'->>'id'), position)
      WHERE type = 'TOKEN_TRANSFER';
    CREATE INDEX transactions_open ON transactions (organization_id, created_by_key) WHERE closed_at IS NULL;
    CREATE INDEX transactions_open_names ON transactions USING gin (names) WHERE closed_at IS NULL;
    -- the reconciler goes through the open ones of all organizations
    CREATE INDEX transactions_open_by_id ON transactions (id) WHERE closed_at IS NULL;

    CREATE TABLE transaction_votes (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      transaction_id text NOT NULL REFERENCES transactions,
      member_id text NOT NULL REFERENCES members,
      type text NOT NULL CHECK (type IN ('initiator', 'approve', 'reject')),
      signer_address text NOT NULL,
      scheme text NOT NULL CHECK (scheme IN ('eoa', 'eip1271', 'erc6492')),
      signature text NOT NULL,
      -- keccak256 of the signature as it was sent
      signature_hash text NOT NULL,
      -- the initiator's signature that an approval or rejection is bound to
      initiator_signature_hash text CHECK ((initiator_signature_hash IS NULL) = (type = 'initiator')),
      reason text,
      api_key_id text,
      created_at timestamptz(3) NOT NULL DEFAULT now()
    );
    CREATE UNIQUE INDEX transaction_votes_once ON transaction_votes
      (transaction_id, member_id, type, signer_address, coalesce(initiator_signature_hash, ''));

    -- what each message did: the same message, sent again, finds its own outcome
    CREATE TABLE transaction_messages (
      transaction_id text NOT NULL REFERENCES transactions,
      message_id text NOT NULL,
      kind text NOT NULL,
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      PRIMARY KEY (transaction_id, message_id)
    );

    ALTER TABLE policy_usage
      ADD FOREIGN KEY (transaction_id) REFERENCES transactions DEFERRABLE INITIALLY DEFERRED;

    -- the policy and the people under which a transaction's signatures were counted, instead of the admins
    ALTER TABLE evidence ALTER COLUMN admins DROP NOT NULL, ADD COLUMN context jsonb;

    -- a transaction of an account; the empty call that takes its nonce; a transfer of nothing that takes a relayer's nonce
    ALTER TABLE chain_attempts DROP CONSTRAINT chain_attempts_kind_check;
    ALTER TABLE chain_attempts
      ADD CONSTRAINT chain_attempts_kind_check
        CHECK (kind IN ('deployment', 'transaction', 'cancellation', 'filler')),
      ALTER COLUMN organization_id DROP NOT NULL,
      ALTER COLUMN proposal_id DROP NOT NULL,
      ALTER COLUMN account_id DROP NOT NULL,
      ADD COLUMN transaction_id text REFERENCES transactions,
      ADD COLUMN value numeric(78, 0) NOT NULL DEFAULT 0,
      ADD COLUMN safe_nonce bigint,
      ADD COLUMN safe_tx_gas numeric(78, 0),
      ADD COLUMN safe_tx_hash text UNIQUE,
      ADD COLUMN signature text,
      -- head of the chain when it was signed: its outcome is in no earlier block
      ADD COLUMN from_block bigint,
      -- what became of it, once the network's confirmations are there
      ADD COLUMN outcome text CHECK (outcome IN ('executed', 'reverted', 'cancelled')),
      ADD COLUMN outcome_hash text,
      ADD COLUMN block_number bigint,
      ADD COLUMN block_hash text,
      ADD COLUMN block_at timestamptz(3),
      ADD COLUMN confirmations integer NOT NULL DEFAULT 0,
      ADD COLUMN decided_at timestamptz(3),
      ADD CHECK (kind NOT IN ('transaction', 'cancellation') OR (transaction_id IS NOT NULL AND safe_nonce IS NOT NULL
        AND safe_tx_gas IS NOT NULL AND safe_tx_hash IS NOT NULL AND signature IS NOT NULL AND from_block IS NOT NULL
        AND account_id IS NOT NULL AND organization_id IS NOT NULL)),
      ADD CHECK ((outcome IS NULL) = (decided_at IS NULL));
    CREATE UNIQUE INDEX chain_attempts_live ON chain_attempts (transaction_id)
      WHERE kind = 'transaction' AND outcome IS NULL;
    CREATE UNIQUE INDEX chain_attempts_safe_nonce ON chain_attempts (account_id, network_id, safe_nonce, kind)
      WHERE safe_nonce IS NOT NULL;
    CREATE INDEX chain_attempts_transaction ON chain_attempts (transaction_id) WHERE transaction_id IS NOT NULL;
    CREATE INDEX chain_attempts_block ON chain_attempts (network_id, block_number) WHERE block_number IS NOT NULL;

    GRANT SELECT ON transactions, transaction_votes, transaction_messages TO orgwallet_service, orgwallet_signer;
    GRANT INSERT, UPDATE ON transactions TO orgwallet_service;
    GRANT INSERT ON transaction_votes, transaction_messages TO orgwallet_service;
    GRANT UPDATE (outcome, outcome_hash, block_number, block_hash, block_at, confirmations, decided_at)
      ON chain_attempts TO orgwallet_service;
  `);
}
