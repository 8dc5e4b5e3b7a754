
    CREATE TABLE installation (
      singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
      id uuid NOT NULL DEFAULT gen_random_uuid(),
      cursor_secret bytea NOT NULL DEFAULT decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'),
      -- what secrets of webhooks are derived from, and the key that signs them all
      delivery_seed bytea NOT NULL DEFAULT decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'),
      -- set by db migrate --production, for ever: well-known keys and defaults of development are refused
      production boolean NOT NULL DEFAULT false,
      created_at timestamptz(3) NOT NULL DEFAULT now()
    );
    INSERT INTO installation DEFAULT VALUES;

    CREATE TABLE organizations (
      id text PRIMARY KEY,
      name text NOT NULL,
      -- EIP-712 domain salt of organization operations: keccak256 of installation id and organization id
      domain_salt text NOT NULL,
      -- address of the key that owns its accounts
      signing_key text NOT NULL,
      -- how many of its sealed decisions the tables show
      projected_sequence bigint NOT NULL DEFAULT 0,
      created_at timestamptz(3) NOT NULL DEFAULT now()
    );

    CREATE TABLE members (
      id text PRIMARY KEY,
      organization_id text NOT NULL REFERENCES organizations,
      name text NOT NULL,
      type text NOT NULL CHECK (type IN ('user', 'api')),
      -- checksummed (EIP-55), like every address in this database; compared by lower()
      wallet_address text NOT NULL CHECK (wallet_address ~ '^0x[0-9a-fA-F]{40}$'),
      -- what verifies its signatures: the key of the address, or the contract at it
      wallet_kind text NOT NULL DEFAULT 'key' CHECK (wallet_kind IN ('key', 'contract')),
      registered_at timestamptz(3),
      position bigint NOT NULL,
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      updated_at timestamptz(3) NOT NULL DEFAULT now(),
      removed_at timestamptz(3)
    );
    CREATE UNIQUE INDEX members_wallet_address ON members (organization_id, lower(wallet_address))
      WHERE removed_at IS NULL;
    -- who signs in: a wallet, in whatever organization
    CREATE INDEX members_people ON members (lower(wallet_address)) WHERE removed_at IS NULL AND type = 'user';
    CREATE INDEX members_position ON members (organization_id, position);

    CREATE TABLE admin_sets (
      id text PRIMARY KEY,
      organization_id text NOT NULL UNIQUE REFERENCES organizations,
      threshold integer NOT NULL CHECK (threshold >= 1),
      -- the admins' Safe is kept equal to them
      on_chain boolean NOT NULL DEFAULT false
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

    -- names of addresses, for people to read: no part of what is signed, and no rule depends on one
    CREATE TABLE address_book_entries (
      id text PRIMARY KEY,
      organization_id text NOT NULL REFERENCES organizations,
      name text NOT NULL,
      -- as names are compared
      folded_name text NOT NULL,
      address text NOT NULL CHECK (address ~ '^0x[0-9a-fA-F]{40}$'),
      -- null: on every network
      network_id bigint,
      position bigint NOT NULL,
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      updated_at timestamptz(3) NOT NULL DEFAULT now(),
      -- an import may swap names
      UNIQUE (organization_id, folded_name) DEFERRABLE INITIALLY DEFERRED
    );
    CREATE UNIQUE INDEX address_book_entries_address
      ON address_book_entries (organization_id, address, coalesce(network_id, 0));
    CREATE INDEX address_book_entries_position ON address_book_entries (organization_id, position);

    -- texts to be signed by the wallet of a member: each proves once, and not for long
    CREATE TABLE registration_challenges (
      nonce text PRIMARY KEY,
      organization_id text NOT NULL REFERENCES organizations,
      member_id text NOT NULL REFERENCES members,
      wallet_address text NOT NULL,
      wallet_kind text NOT NULL,
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

    -- the lifecycle of what is decided by signatures: organization operations (prop_…) and transactions (txn_…)
    CREATE TABLE approvals (
      id text PRIMARY KEY,
      subject text NOT NULL CHECK (subject IN ('proposal', 'transaction')),
      organization_id text NOT NULL REFERENCES organizations,
      -- one line of plain words; it is signed
      summary text NOT NULL,
      -- members, groups, accounts, policies and networks that it names, such as member:mem_…
      names text[] NOT NULL DEFAULT '{}',
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      updated_at timestamptz(3) NOT NULL DEFAULT now(),
      -- whole seconds: this is the expiry that is signed
      expires_at timestamptz(3) NOT NULL,
      position bigint NOT NULL,
      version integer NOT NULL DEFAULT 1,
      -- the API key, or the member in a session: what MAX_OPEN_PER_KEY counts for
      created_by text,
      -- the X-Idempotency-Key of the request that created it, and SHA-256 of the method, path and body: both are its for ever
      idempotency_key uuid,
      request_hash bytea,
      execution_status text CHECK (execution_status IN ('processing', 'completed', 'rejected', 'failed', 'blocked')),
      execution_attempt integer NOT NULL DEFAULT 0,
      -- the decision whose execution was begun last, who began it, and the tally then
      decision text CHECK (decision IN ('approve', 'reject')),
      decided_by jsonb,
      executed_with jsonb,
      -- what an execution waits for, in words
      waiting_for text,
      failure jsonb,
      notes jsonb NOT NULL DEFAULT '[]',
      result jsonb,
      expired_at timestamptz(3),
      closed_at timestamptz(3),
      -- the tally when nothing could change any more
      frozen jsonb,
      CHECK ((idempotency_key IS NULL) = (request_hash IS NULL))
    );
    CREATE UNIQUE INDEX approvals_idempotency_key ON approvals (organization_id, idempotency_key)
      WHERE idempotency_key IS NOT NULL;
    CREATE INDEX approvals_position ON approvals (organization_id, subject, position);
    CREATE INDEX approvals_created ON approvals (organization_id, subject, created_at);
    -- in the order of a list: what has failed, has expired, or is open
    CREATE INDEX approvals_undone ON approvals (organization_id, subject, position)
      WHERE execution_status IS NULL OR execution_status IN ('failed', 'blocked');
    CREATE INDEX approvals_open_created_by ON approvals (organization_id, created_by) WHERE closed_at IS NULL;
    CREATE INDEX approvals_open_names ON approvals USING gin (names) WHERE closed_at IS NULL;
    -- the reconciler counts and reads the open ones of all organizations, by ranges of their expiry
    CREATE INDEX approvals_open_expiry ON approvals (expires_at) INCLUDE (created_at) WHERE closed_at IS NULL;
    CREATE INDEX approvals_processing ON approvals (id) WHERE closed_at IS NULL AND execution_status = 'processing';

    CREATE TABLE votes (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      approval_id text NOT NULL REFERENCES approvals,
      member_id text NOT NULL REFERENCES members,
      type text NOT NULL CHECK (type IN ('initiator', 'approve', 'reject')),
      signer_address text NOT NULL,
      scheme text NOT NULL CHECK (scheme IN ('eoa', 'eip1271', 'erc6492')),
      signature text NOT NULL,
      -- keccak256 of the signature as it was sent
      signature_hash text NOT NULL,
      -- the initiator's signature that an approval or rejection of a transaction is bound to
      initiator_signature_hash text,
      reason text,
      -- what delivered it: key_…, ses_…
      credential_id text,
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      CHECK (type <> 'initiator' OR initiator_signature_hash IS NULL)
    );
    CREATE UNIQUE INDEX votes_once ON votes
      -- the kind of wallet that it was given under: another kind votes anew; and the signature: a contract wallet that does
      -- not accept one any more gives another
      (approval_id, member_id, type, signer_address, (scheme = 'eoa'), coalesce(initiator_signature_hash, ''), signature_hash);

    -- what each message did: the same message, sent again, finds its own outcome
    CREATE TABLE received_messages (
      approval_id text NOT NULL REFERENCES approvals,
      message_id text NOT NULL,
      kind text NOT NULL,
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      PRIMARY KEY (approval_id, message_id)
    );

    -- what an open approval changes: no other open one may
    CREATE TABLE claims (
      organization_id text NOT NULL,
      claim text NOT NULL,
      approval_id text NOT NULL REFERENCES approvals,
      PRIMARY KEY (organization_id, claim)
    );
    CREATE INDEX claims_approval ON claims (approval_id);

    -- one row per outcome: the payload, the signatures, and who was eligible when they were counted
    CREATE TABLE evidence (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      organization_id text NOT NULL REFERENCES organizations,
      approval_id text NOT NULL REFERENCES approvals,
      resolution text NOT NULL CHECK (resolution IN ('approved', 'rejected')),
      payload text NOT NULL,
      signatures jsonb NOT NULL,
      threshold integer NOT NULL,
      -- the admins, or the policy with its members and groups
      electorate jsonb NOT NULL,
      created_at timestamptz(3) NOT NULL DEFAULT now()
    );
    CREATE INDEX evidence_approval ON evidence (approval_id);

    -- organization operations
    CREATE TABLE proposals (
      id text PRIMARY KEY REFERENCES approvals,
      resource_type text NOT NULL CHECK (resource_type IN ('members', 'groups', 'policies', 'accounts', 'admins')),
      action text NOT NULL CHECK (action IN ('create', 'update', 'remove', 'delete')),
      data jsonb NOT NULL,
      -- the tables show its sealed change; only deployments may be missing
      applied_at timestamptz(3),
      -- something that others can see has been changed: it can no longer be rejected
      effective boolean NOT NULL DEFAULT false,
      -- what a search finds it by
      terms tsvector NOT NULL DEFAULT ''
    );
    CREATE INDEX proposals_terms ON proposals USING gin (terms) WITH (gin_pending_list_limit = 128);
    CREATE TABLE deployments (
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

    -- transactions of accounts
    CREATE TABLE transactions (
      id text PRIMARY KEY REFERENCES approvals,
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
      -- the failed transaction that it replaces
      replaces text REFERENCES transactions,
      -- balance of the relayer in wei at which the execution continues by itself
      awaits_relayer_wei numeric(78, 0),
      -- an operator wants the in-flight attempt cancelled
      cancelling boolean NOT NULL DEFAULT false,
      -- how often it was reopened, because the chain had lost its block
      reopenings integer NOT NULL DEFAULT 0,
      -- that of its approval: in this order lists are read by account, policy and initiator
      position bigint NOT NULL,
      -- what a search finds it by; not in approvals, each change of which would write its index anew
      terms tsvector NOT NULL DEFAULT '',
      -- that of its approval
      organization_id text NOT NULL REFERENCES organizations,
      -- references to the records of others, for people and programs to find it by: no part of what is signed
      external_id text,
      metadata jsonb NOT NULL DEFAULT '{}',
      tags text[] NOT NULL DEFAULT '{}'
    );
    CREATE UNIQUE INDEX transactions_external_id ON transactions (organization_id, external_id)
      WHERE external_id IS NOT NULL;
    CREATE INDEX transactions_network ON transactions (organization_id, network_id, position);
    CREATE INDEX transactions_type ON transactions (organization_id, type, position);
    CREATE INDEX transactions_account ON transactions (account_id, position);
    CREATE INDEX transactions_policy ON transactions (policy_id, position);
    CREATE INDEX transactions_initiator ON transactions (initiator_id, position);
    -- kB that a search reads one by one, until they are in the index
    CREATE INDEX transactions_terms ON transactions USING gin (terms) WITH (gin_pending_list_limit = 128);
    CREATE INDEX transactions_replaces ON transactions (replaces) WHERE replaces IS NOT NULL;
    -- the tokens that an account has to do with
    CREATE INDEX transactions_tokens ON transactions (account_id, (content->'asset'->>'id'), id)
      WHERE type = 'TOKEN_TRANSFER';

    CREATE TABLE audit_heads (
      organization_id text PRIMARY KEY REFERENCES organizations,
      position bigint NOT NULL,
      hash text NOT NULL,
      -- of the last entry: the next one is not before it, whatever the clock says
      created_at timestamptz(3) NOT NULL DEFAULT now()
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

    -- one row per execution of a transaction, from the moment it starts; never removed
    CREATE TABLE policy_usage (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      organization_id text NOT NULL REFERENCES organizations,
      policy_id text NOT NULL REFERENCES policies,
      transaction_id text NOT NULL REFERENCES transactions DEFERRABLE INITIALLY DEFERRED,
      network_id bigint NOT NULL,
      -- the zero address is the native currency, which contract calls carry as well
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
      decided_at timestamptz(3) CHECK ((decided_at IS NULL) = (status = 'reserved')),
      -- the time from which the hours of a window count: in no block yet, it has not begun; released, it is long over
      counted_from timestamptz(3) GENERATED ALWAYS AS (
        CASE status WHEN 'released' THEN '-infinity' ELSE coalesce(block_at, 'infinity') END) STORED
    );
    -- a transaction spends once, however often its execution is tried
    CREATE UNIQUE INDEX policy_usage_transaction ON policy_usage (transaction_id) WHERE status <> 'released';
    CREATE INDEX policy_usage_window ON policy_usage (policy_id, counted_from);
    CREATE INDEX policy_usage_reserved ON policy_usage (reserved_at) WHERE status = 'reserved';
    -- whom an organization has paid, with whom looks like them: the same first and last three digits
    CREATE INDEX policy_usage_recipient ON policy_usage
      (organization_id, (lower(substr(destination, 3, 3) || right(destination, 3))), destination, block_at)
      WHERE status = 'committed';
    CREATE TRIGGER policy_usage_kept BEFORE DELETE OR TRUNCATE ON policy_usage
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

    -- how far the movements of a network are read, by one process at a time
    CREATE TABLE movement_scans (
      network_id bigint PRIMARY KEY,
      -- every account is read up to this block; null: none is yet
      block_number bigint,
      block_hash text,
      block_at timestamptz(3),
      lease_owner uuid,
      lease_until timestamptz(3)
    );
    -- blocks that were on the chain when a reading ended there: where one is lost, the readings after it are made again
    CREATE TABLE movement_scan_blocks (
      network_id bigint NOT NULL REFERENCES movement_scans,
      block_number bigint NOT NULL,
      block_hash text NOT NULL,
      PRIMARY KEY (network_id, block_number)
    );
    -- from which block the movements of an account are read
    CREATE TABLE account_scans (
      account_id text NOT NULL REFERENCES accounts,
      network_id bigint NOT NULL,
      from_block bigint NOT NULL,
      -- the next one to read of those before until_block; from that one on the account is read with all others
      next_block bigint NOT NULL,
      until_block bigint NOT NULL,
      -- its movements before until_block are events as well: it is new, and not only new to this table
      announced boolean NOT NULL,
      PRIMARY KEY (account_id, network_id)
    );
    CREATE INDEX account_scans_network ON account_scans (network_id);
    CREATE INDEX account_scans_behind ON account_scans (network_id, next_block) WHERE next_block < until_block;
    -- what tokens say of themselves
    CREATE TABLE seen_tokens (
      network_id bigint NOT NULL,
      address text NOT NULL,
      symbol text,
      name text,
      decimals integer,
      -- null: not asked yet
      read_at timestamptz(3),
      PRIMARY KEY (network_id, address)
    );
    CREATE INDEX seen_tokens_unread ON seen_tokens (network_id) WHERE read_at IS NULL;
    -- each change of what an account holds, as logs show it
    CREATE TABLE movements (
      -- derived from what it is, so that it is the same whoever reads it, and in whatever block
      id text PRIMARY KEY,
      sequence bigint GENERATED ALWAYS AS IDENTITY,
      organization_id text NOT NULL REFERENCES organizations,
      account_id text NOT NULL REFERENCES accounts,
      network_id bigint NOT NULL,
      direction text NOT NULL CHECK (direction IN ('in', 'out')),
      kind text NOT NULL CHECK (kind IN ('native', 'erc20', 'erc721', 'erc1155')),
      cause text NOT NULL CHECK (cause IN ('transfer', 'fee')),
      -- the zero address is the native currency
      token_address text NOT NULL,
      token_id numeric(78, 0),
      amount numeric(78, 0) NOT NULL CHECK (amount >= 0),
      counterparty text NOT NULL,
      transaction_hash text NOT NULL,
      log_index bigint NOT NULL,
      block_number bigint NOT NULL,
      block_hash text NOT NULL,
      block_at timestamptz(3) NOT NULL,
      status text NOT NULL CHECK (status IN ('pending', 'confirmed', 'reversed')),
      -- ours, during which it was
      transaction_id text REFERENCES transactions,
      -- the native currency, a token of the token list, or one that a policy names or has named
      verified boolean NOT NULL,
      -- what came in: the entries of the audit log that say so, and that it is no longer so; of several the last one
      confirmed_position bigint,
      reversed_position bigint,
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      updated_at timestamptz(3) NOT NULL DEFAULT now()
    );
    CREATE INDEX movements_organization ON movements (organization_id, block_at, sequence);
    CREATE INDEX movements_account ON movements (account_id, block_at, sequence);
    CREATE INDEX movements_block ON movements (network_id, block_number);
    -- sums
    CREATE INDEX movements_asset ON movements (account_id, network_id, token_address, block_number, log_index)
      INCLUDE (direction, amount) WHERE status = 'confirmed';
    CREATE INDEX movements_unverified ON movements (network_id, token_address) WHERE NOT verified;
    CREATE INDEX movements_transaction ON movements (transaction_id) WHERE transaction_id IS NOT NULL;
    CREATE INDEX movements_confirmed ON movements (organization_id, confirmed_position) WHERE confirmed_position IS NOT NULL;
    CREATE INDEX movements_reversed ON movements (organization_id, reversed_position) WHERE reversed_position IS NOT NULL;
    -- up to which block the movements of an account were compared with its balances
    CREATE TABLE account_proofs (
      account_id text NOT NULL REFERENCES accounts,
      network_id bigint NOT NULL,
      block_number bigint NOT NULL,
      proved_at timestamptz(3) NOT NULL,
      PRIMARY KEY (account_id, network_id)
    );
    -- changes of balances that no movement explains
    CREATE TABLE unexplained_changes (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      account_id text NOT NULL REFERENCES accounts,
      network_id bigint NOT NULL,
      token_address text NOT NULL,
      from_block bigint NOT NULL,
      to_block bigint NOT NULL,
      -- a sum: tokens log what they like, and many times
      amount numeric NOT NULL,
      found_at timestamptz(3) NOT NULL DEFAULT now()
    );
    CREATE INDEX unexplained_changes_account ON unexplained_changes (account_id, network_id);

    CREATE TABLE api_keys (
      id text PRIMARY KEY,
      organization_id text NOT NULL REFERENCES organizations,
      -- SHA-256 of the key; the key itself is stored nowhere
      key_hash bytea NOT NULL UNIQUE,
      -- its first characters, to recognize it by
      prefix text NOT NULL,
      -- null: an operator has issued it without one
      name text,
      -- scopes and limits (KeyRights)
      rights jsonb NOT NULL,
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      -- written once a minute
      last_used_at timestamptz(3),
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

    -- sessions of people, each begun with a signed text; valid while its member has the wallet that signed
    CREATE TABLE sessions (
      id text PRIMARY KEY,
      organization_id text NOT NULL REFERENCES organizations,
      member_id text NOT NULL REFERENCES members,
      wallet_address text NOT NULL,
      wallet_kind text NOT NULL,
      -- SHA-256 of the token; the token itself is stored nowhere
      token_hash bytea NOT NULL UNIQUE,
      user_agent text,
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      -- written once a minute at most
      last_used_at timestamptz(3) NOT NULL DEFAULT now(),
      expires_at timestamptz(3) NOT NULL,
      ended_at timestamptz(3)
    );
    CREATE INDEX sessions_open ON sessions (member_id) WHERE ended_at IS NULL;
    CREATE INDEX sessions_ended ON sessions (ended_at) WHERE ended_at IS NOT NULL;
    -- browsers in which a member has signed in: people are told of a new one
    CREATE TABLE known_browsers (
      member_id text NOT NULL REFERENCES members,
      -- SHA-256 of the cookie by which it is recognized
      browser_hash bytea NOT NULL,
      last_used_at timestamptz(3) NOT NULL DEFAULT now(),
      PRIMARY KEY (member_id, browser_hash)
    );
    CREATE INDEX known_browsers_last_used ON known_browsers (last_used_at);
    -- each begins one session: its row is deleted with it
    CREATE TABLE session_nonces (
      nonce text PRIMARY KEY,
      -- to sign in with it
      attempts integer NOT NULL DEFAULT 0,
      expires_at timestamptz(3) NOT NULL
    );
    CREATE INDEX session_nonces_expiry ON session_nonces (expires_at);

    -- where events are sent to, each by one workflow, in their order
    CREATE TABLE destinations (
      id text PRIMARY KEY,
      organization_id text NOT NULL REFERENCES organizations,
      -- how an event is written and sent
      kind text NOT NULL CHECK (kind IN ('webhook', 'slack', 'discord', 'telegram', 'email')),
      url text NOT NULL,
      -- null: every one
      types text[],
      description text NOT NULL,
      -- of its secret; the one before it is used beside it for a day
      generation integer NOT NULL DEFAULT 1,
      rotated_at timestamptz(3),
      -- why nothing is sent: somebody wants it so, 5 days of failure, or the receiver is gone for good (410)
      disabled_for text CHECK (disabled_for IN ('request', 'failing', 'gone')),
      -- why an operator has to resume it: it was paused, or the database was restored
      paused_for text CHECK (paused_for IN ('operator', 'restored')),
      -- the last event that it has, or that is not for it
      position bigint NOT NULL,
      hash text NOT NULL,
      -- attempts at the next one, none of which was taken
      attempts integer NOT NULL DEFAULT 0,
      next_attempt_at timestamptz(3),
      last_failure text,
      -- since when nothing was taken
      failing_since timestamptz(3),
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      updated_at timestamptz(3) NOT NULL DEFAULT now()
    );
    CREATE INDEX destinations_organization ON destinations (organization_id);
    -- what a destination that people read has besides
    CREATE TABLE channels (
      destination_id text PRIMARY KEY REFERENCES destinations ON DELETE CASCADE,
      -- whose own address it is; null: one of the organization
      member_id text UNIQUE REFERENCES members,
      occasions text[] NOT NULL,
      -- of Telegram
      chat_id text,
      -- mail only: nothing is sent before but a code, of which only a hash is stored
      confirmed_at timestamptz(3),
      code_hash bytea,
      code_expires_at timestamptz(3),
      code_attempts integer NOT NULL DEFAULT 0
    );
    -- events that are to be sent once more
    CREATE TABLE resends (
      destination_id text NOT NULL REFERENCES destinations ON DELETE CASCADE,
      position bigint NOT NULL,
      PRIMARY KEY (destination_id, position)
    );
    -- each attempt, for 30 days
    CREATE TABLE delivery_attempts (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      destination_id text NOT NULL REFERENCES destinations ON DELETE CASCADE,
      reason text NOT NULL CHECK (reason IN ('event', 'resend', 'test')),
      event_id text NOT NULL,
      event_type text NOT NULL,
      position bigint NOT NULL,
      attempt integer NOT NULL,
      -- it will not be tried again by itself
      is_last boolean NOT NULL,
      -- of the answer, or why there was none
      status integer,
      fault text,
      message text,
      -- its first KB
      answer text,
      duration_ms integer NOT NULL,
      created_at timestamptz(3) NOT NULL DEFAULT now()
    );
    CREATE INDEX delivery_attempts_destination ON delivery_attempts (destination_id, id);
    CREATE INDEX delivery_attempts_created ON delivery_attempts (created_at);

    CREATE TABLE idempotency_requests (
      -- id of the request everywhere: first update id in Temporal, message id in received_messages
      id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
      organization_id text NOT NULL REFERENCES organizations,
      -- X-Idempotency-Key
      key uuid NOT NULL,
      -- of an API key or a session: key_…, ses_…
      credential_id text NOT NULL,
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

    -- when each process has last polled each task queue; losing it in a crash only forgets for how long one was silent
    CREATE UNLOGGED TABLE heartbeats (
      process uuid NOT NULL,
      task_queue text NOT NULL,
      seen_at timestamptz NOT NULL,
      -- it has stopped in order
      ended boolean NOT NULL DEFAULT false,
      PRIMARY KEY (process, task_queue)
    );

    -- notifies every process that its cache of API keys and sessions may be outdated; commits that notify wait for each other, and these
    -- are rare
    CREATE FUNCTION announce_access_changed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM pg_notify('access_changed', '');
      RETURN NULL;
    END $$;
    CREATE TRIGGER api_keys_access_changed AFTER UPDATE OF revoked_at, expires_at ON api_keys
      FOR EACH STATEMENT EXECUTE FUNCTION announce_access_changed();
    CREATE TRIGGER sessions_access_changed AFTER UPDATE OF ended_at ON sessions
      FOR EACH STATEMENT EXECUTE FUNCTION announce_access_changed();
    CREATE TRIGGER members_access_changed AFTER UPDATE ON members
      FOR EACH STATEMENT EXECUTE FUNCTION announce_access_changed();
    CREATE TRIGGER admin_set_members_access_changed AFTER INSERT OR DELETE ON admin_set_members
      FOR EACH STATEMENT EXECUTE FUNCTION announce_access_changed();

    -- what the founders sign: the state that an organization begins with
    CREATE TABLE genesis (
      organization_id text PRIMARY KEY REFERENCES organizations,
      -- canonical JSON
      state text NOT NULL,
      created_at timestamptz(3) NOT NULL DEFAULT now()
    );
    CREATE TABLE genesis_signatures (
      organization_id text NOT NULL REFERENCES genesis,
      member_id text NOT NULL REFERENCES members,
      signature text NOT NULL,
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      PRIMARY KEY (organization_id, member_id)
    );
    -- the decisions of an organization in their order, each sealed by the signer: written by its login alone
    CREATE TABLE seals (
      organization_id text NOT NULL REFERENCES organizations,
      sequence bigint NOT NULL,
      -- null: the genesis
      proposal_id text UNIQUE REFERENCES proposals,
      -- canonical JSON: the decision with its votes, and what it changed
      body text NOT NULL,
      hash text NOT NULL,
      signature text NOT NULL,
      sealed_at timestamptz(3) NOT NULL,
      PRIMARY KEY (organization_id, sequence),
      CHECK ((sequence = 0) = (proposal_id IS NULL))
    );
    CREATE TRIGGER seals_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON seals
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
    -- what the decisions have come to
    CREATE TABLE sealed_states (
      organization_id text PRIMARY KEY REFERENCES organizations,
      sequence bigint NOT NULL,
      -- JSON
      state text NOT NULL,
      signature text NOT NULL
    );
    CREATE TRIGGER sealed_states_kept BEFORE DELETE OR TRUNCATE ON sealed_states
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

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

    -- refuses a statement that was decided upon what has changed since
    CREATE FUNCTION require_unchanged(unchanged boolean) RETURNS boolean LANGUAGE plpgsql AS $$
      BEGIN
        IF unchanged THEN RETURN true; END IF;
        RAISE serialization_failure USING MESSAGE = 'what was decided upon has changed';
      END
    $$;

    -- Locks names, in the order in which they are given, until the end of the transaction. Whoever shares one waits behind whoever waits
    -- to have it alone, which a lock of a row does not do: overlapping share locks of a row keep out its update for ever.
    CREATE FUNCTION queue_shared(VARIADIC names text[]) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
      BEGIN
        FOR i IN 1 .. cardinality(names) LOOP PERFORM pg_advisory_xact_lock_shared(hashtextextended(names[i], 1)); END LOOP;
      END
    $$;
    CREATE FUNCTION queue_alone(VARIADIC names text[]) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
      BEGIN
        FOR i IN 1 .. cardinality(names) LOOP PERFORM pg_advisory_xact_lock(hashtextextended(names[i], 1)); END LOOP;
      END
    $$;

    -- refuses the creation of an approval by whom has as many open ones as may be; each waits for those that are being created
    CREATE FUNCTION require_open_below(most integer, organization text, creator text, created text) RETURNS boolean
    LANGUAGE plpgsql VOLATILE AS $$
      BEGIN
        PERFORM pg_advisory_xact_lock(hashtextextended(creator, 0));
        -- a statement of its own, which sees what was committed meanwhile
        IF (SELECT count(*) FROM approvals a WHERE a.organization_id = organization AND a.created_by = creator
            AND a.closed_at IS NULL AND a.id <> created) < most THEN RETURN true; END IF;
        RAISE EXCEPTION 'too many open approvals' USING ERRCODE = 'OW001';
      END
    $$;

    -- refuses a reservation where others have used more of its window than it leaves; null: any. Called with the budget locked
    CREATE FUNCTION require_room(policy text, hours integer, network bigint, token text, initiator text, account text,
      recipient text, most_amount numeric, most_executions integer) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
      DECLARE used numeric; executions bigint;
      BEGIN
        -- a statement of its own, which sees what was committed meanwhile
        SELECT coalesce(sum(u.amount), 0), count(*) INTO used, executions FROM policy_usage u
          WHERE u.policy_id = policy AND u.counted_from >= date_trunc('milliseconds', now()) - make_interval(hours => hours)
            AND (network IS NULL OR u.network_id = network)
            AND (token IS NULL OR lower(u.token_address) = lower(token))
            AND (initiator IS NULL OR u.initiator_id = initiator)
            AND (account IS NULL OR u.account_id = account)
            AND (recipient IS NULL OR lower(u.destination) = lower(recipient));
        IF used <= coalesce(most_amount, used) AND executions <= coalesce(most_executions, executions) THEN RETURN true; END IF;
        RAISE EXCEPTION 'the budget has no room' USING ERRCODE = 'OW002';
      END
    $$;

    -- Keeps a proposal or transaction from being changed until the end of the transaction, and returns its version: for the signer,
    -- which may change nothing of it.
    CREATE FUNCTION hold_approval(approval text) RETURNS bigint LANGUAGE plpgsql VOLATILE
    SECURITY DEFINER SET search_path = public, pg_temp AS $$
      DECLARE held bigint;
      BEGIN
        SELECT version INTO held FROM approvals WHERE id = approval FOR KEY SHARE;
        RETURN held;
      END
    $$;

    -- one need for an effect on chain, made once; its content never changes. A deployment; a transaction of an account;
    -- the empty call that takes its nonce; a transfer of nothing that takes a relayer's nonce; what keeps the admins' Safe: a
    -- transaction of its keeper, or of an account whose module it becomes
    CREATE TABLE chain_attempts (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      kind text NOT NULL CHECK (kind IN ('deployment', 'transaction', 'cancellation', 'filler', 'upkeep')),
      organization_id text REFERENCES organizations,
      -- these reference the row that the lifecycle locks: whoever ends an execution waits for what is being signed
      proposal_id text REFERENCES approvals,
      transaction_id text REFERENCES approvals,
      account_id text REFERENCES accounts,
      network_id bigint NOT NULL,
      to_address text NOT NULL,
      value numeric(78, 0) NOT NULL DEFAULT 0,
      data text NOT NULL,
      safe_nonce bigint,
      safe_tx_gas numeric(78, 0),
      safe_tx_hash text UNIQUE,
      -- of an upkeep: the sealed decision whose admins it writes
      sealed_sequence bigint,
      -- head of the chain when it was stored: its outcome is in no earlier block
      from_block bigint,
      -- the outcome, once it has the network's confirmations
      outcome text CHECK (outcome IN ('executed', 'reverted', 'cancelled')),
      outcome_hash text,
      block_number bigint,
      block_hash text,
      block_at timestamptz(3),
      confirmations integer NOT NULL DEFAULT 0,
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      decided_at timestamptz(3),
      CHECK (kind NOT IN ('transaction', 'cancellation') OR (transaction_id IS NOT NULL AND safe_nonce IS NOT NULL
        AND safe_tx_gas IS NOT NULL AND safe_tx_hash IS NOT NULL AND from_block IS NOT NULL AND account_id IS NOT NULL
        AND organization_id IS NOT NULL)),
      CHECK (kind <> 'upkeep' OR (organization_id IS NOT NULL AND safe_nonce IS NOT NULL AND safe_tx_gas IS NOT NULL
        AND safe_tx_hash IS NOT NULL AND sealed_sequence IS NOT NULL)),
      CHECK ((outcome IS NULL) = (decided_at IS NULL))
    );
    CREATE UNIQUE INDEX chain_attempts_deployment ON chain_attempts (account_id, network_id) WHERE kind = 'deployment';
    -- one authorization has one Safe nonce, for ever
    CREATE UNIQUE INDEX chain_attempts_once ON chain_attempts (transaction_id, kind)
      WHERE kind IN ('transaction', 'cancellation');
    CREATE UNIQUE INDEX chain_attempts_safe_nonce ON chain_attempts (account_id, network_id, safe_nonce, kind)
      WHERE safe_nonce IS NOT NULL;
    CREATE INDEX chain_attempts_transaction ON chain_attempts (transaction_id) WHERE transaction_id IS NOT NULL;
    CREATE INDEX chain_attempts_undecided ON chain_attempts (account_id, network_id, safe_nonce)
      WHERE outcome IS NULL AND safe_nonce IS NOT NULL;
    CREATE INDEX chain_attempts_block ON chain_attempts (network_id, block_number) WHERE block_number IS NOT NULL;
    CREATE INDEX chain_attempts_decided ON chain_attempts (network_id, decided_at) WHERE block_number IS NOT NULL;

    -- the signature of the account's owner, made after the attempt is stored
    CREATE TABLE chain_signatures (
      attempt_id bigint PRIMARY KEY REFERENCES chain_attempts,
      signature text NOT NULL
    );

    -- what the signer has authorized, or never will, once per transaction: written by the signer alone, and the only thing that it
    -- believes about what was spent
    CREATE TABLE authorizations (
      transaction_id text PRIMARY KEY REFERENCES transactions,
      organization_id text NOT NULL REFERENCES organizations,
      policy_id text NOT NULL REFERENCES policies,
      initiator_id text NOT NULL REFERENCES members,
      account_id text NOT NULL REFERENCES accounts,
      network_id bigint NOT NULL,
      safe_nonce bigint,
      safe_tx_hash text UNIQUE,
      -- as in policy_usage
      token_address text NOT NULL,
      amount numeric(78, 0) NOT NULL CHECK (amount >= 0),
      destination text NOT NULL,
      authorized_at timestamptz(3) NOT NULL DEFAULT now(),
      -- what the signer has read from its own endpoints, with the network's confirmations; rejected: it signs nothing of it,
      -- for ever, because nobody may change the nonce that such a row does not have
      outcome text CHECK (outcome IN ('executed', 'reverted', 'cancelled', 'rejected')),
      block_at timestamptz(3),
      -- undecided, and its nonce is used, and nothing shows by what: when the signer has seen that first
      used_at timestamptz(3),
      -- the time from which the hours of a window count: undecided, they have not begun; not executed, they are long over
      counted_from timestamptz(3) GENERATED ALWAYS AS (CASE
        WHEN outcome IS NULL AND used_at IS NULL THEN 'infinity'
        WHEN outcome IS NULL THEN greatest(authorized_at, used_at) WHEN outcome = 'executed' THEN greatest(authorized_at, block_at)
        ELSE '-infinity' END) STORED,
      UNIQUE (account_id, network_id, safe_nonce),
      CHECK ((outcome IS NOT DISTINCT FROM 'rejected') = (safe_nonce IS NULL) AND (safe_nonce IS NULL) = (safe_tx_hash IS NULL)),
      CHECK ((block_at IS NULL) = (outcome IS NULL OR outcome = 'rejected'))
    );
    CREATE INDEX authorizations_window ON authorizations (policy_id, counted_from);
    CREATE TRIGGER authorizations_kept BEFORE DELETE OR TRUNCATE ON authorizations
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

    -- nonces of accounts that were used by executions that nobody here has authorized: written by the signer, or by the
    -- owner of the tables after a restore
    CREATE TABLE unknown_executions (
      account_id text NOT NULL REFERENCES accounts,
      network_id bigint NOT NULL,
      safe_nonce bigint NOT NULL,
      organization_id text NOT NULL REFERENCES organizations,
      safe_tx_hash text NOT NULL,
      transaction_hash text NOT NULL,
      found_at timestamptz(3) NOT NULL DEFAULT now(),
      PRIMARY KEY (account_id, network_id, safe_nonce)
    );

    -- a nonce of a relayer, taken for an envelope that is being signed; after 60 s without one it is free again
    CREATE TABLE relayer_reservations (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      attempt_id bigint NOT NULL REFERENCES chain_attempts,
      network_id bigint NOT NULL,
      relayer_address text NOT NULL,
      relayer_nonce bigint NOT NULL,
      gas numeric(78, 0) NOT NULL,
      max_fee_per_gas numeric(78, 0) NOT NULL,
      max_priority_fee_per_gas numeric(78, 0) NOT NULL,
      reserved_at timestamptz(3) NOT NULL DEFAULT now()
    );
    CREATE INDEX relayer_reservations_attempt ON relayer_reservations (attempt_id);
    CREATE INDEX relayer_reservations_live ON relayer_reservations (network_id, relayer_address, reserved_at);

    -- signed transactions of a relayer that carry an attempt to the chain; stored before they are sent
    CREATE TABLE chain_envelopes (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      attempt_id bigint NOT NULL REFERENCES chain_attempts,
      -- each is signed once
      reservation_id bigint UNIQUE REFERENCES relayer_reservations,
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

    -- the admins' Safe of an organization on a network, as the signer has read it last from its own endpoints: written by the
    -- signer alone, for people to see, and read by it for nothing
    CREATE TABLE admins_safes (
      organization_id text NOT NULL REFERENCES organizations,
      network_id bigint NOT NULL,
      status text NOT NULL
        CHECK (status IN ('missing', 'behind', 'current', 'diverged', 'independent', 'impossible', 'unknown')),
      -- on chain; null where it was not read
      owners jsonb,
      threshold integer,
      -- the sealed decision that its keeper has written last; null: none
      sequence bigint,
      reason text,
      -- when it got this status
      since timestamptz(3) NOT NULL,
      observed_at timestamptz(3) NOT NULL,
      PRIMARY KEY (organization_id, network_id)
    );
    -- whether it is the module of an account on a network: then the admins can take the account over
    CREATE TABLE account_rescues (
      -- sealed; its row may come later
      account_id text NOT NULL,
      network_id bigint NOT NULL,
      rescue text NOT NULL CHECK (rescue IN ('ready', 'pending', 'none', 'takenOver')),
      since timestamptz(3) NOT NULL,
      PRIMARY KEY (account_id, network_id)
    );

    -- What became of what keeps the admins' Safe, and of its envelopes, which the signer sends and follows itself: for the signer, which
    -- may change nothing of other attempts. null: undecided again.
    CREATE FUNCTION decide_upkeep(attempt bigint, decided text) RETURNS void LANGUAGE sql VOLATILE
    SECURITY DEFINER SET search_path = public, pg_temp AS $$
      UPDATE chain_attempts SET outcome = decided, decided_at = CASE WHEN decided IS NULL THEN NULL ELSE now() END
        WHERE id = attempt AND kind = 'upkeep' AND outcome IS DISTINCT FROM decided
    $$;
    -- what each envelope cost that was included in a block, also where it reverted; written with its outcome
    CREATE TABLE relayer_fees (
      envelope_id bigint PRIMARY KEY REFERENCES chain_envelopes ON DELETE CASCADE,
      -- null for a filler, which is of no organization
      organization_id text REFERENCES organizations,
      kind text NOT NULL,
      account_id text REFERENCES accounts,
      transaction_id text REFERENCES approvals,
      policy_id text REFERENCES policies,
      network_id bigint NOT NULL,
      relayer_address text NOT NULL,
      block_number bigint NOT NULL,
      block_at timestamptz(3) NOT NULL,
      -- gas, and wei; null: the node does not say it, or says what cannot be
      gas_used numeric(78, 0) CHECK (gas_used >= 0),
      gas_price numeric(78, 0) CHECK (gas_price >= 0),
      data_fee numeric(78, 0) CHECK (data_fee >= 0),
      fee numeric(78, 0) GENERATED ALWAYS AS (gas_used * gas_price + data_fee) STORED
    );
    CREATE INDEX relayer_fees_period ON relayer_fees (organization_id, block_at);
    CREATE INDEX relayer_fees_transaction ON relayer_fees (transaction_id) WHERE transaction_id IS NOT NULL;

    -- what the signer knows of the envelopes of an upkeep: nobody else follows them
    CREATE FUNCTION decide_upkeep_envelope(envelope bigint, decided text, fee_block bigint, fee_at timestamptz, fee_gas numeric,
      fee_price numeric, fee_data numeric) RETURNS void LANGUAGE sql VOLATILE
    SECURITY DEFINER SET search_path = public, pg_temp AS $$
      UPDATE chain_envelopes e SET outcome = decided, decided_at = CASE WHEN decided IS NULL THEN NULL ELSE now() END
        FROM chain_attempts c WHERE e.id = envelope AND c.id = e.attempt_id AND c.kind = 'upkeep'
          AND e.outcome IS DISTINCT FROM decided;
      DELETE FROM relayer_fees WHERE envelope_id = envelope AND kind = 'upkeep' AND fee_block IS NULL;
      INSERT INTO relayer_fees (envelope_id, organization_id, kind, account_id, network_id, relayer_address, block_number, block_at,
          gas_used, gas_price, data_fee)
        SELECT e.id, c.organization_id, c.kind, c.account_id, c.network_id, e.relayer_address, fee_block, fee_at, fee_gas, fee_price, fee_data
          FROM chain_envelopes e JOIN chain_attempts c ON c.id = e.attempt_id
          WHERE e.id = envelope AND c.kind = 'upkeep' AND fee_block IS NOT NULL
        ON CONFLICT (envelope_id) DO UPDATE SET block_number = excluded.block_number, block_at = excluded.block_at,
          gas_used = excluded.gas_used, gas_price = excluded.gas_price, data_fee = excluded.data_fee;
    $$;

    -- the one signer, and how far its journal goes: written by the signer alone, and read by it only to stop
    CREATE TABLE signer_lease (
      singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
      -- one more with each signer that takes it
      fencing bigint NOT NULL DEFAULT 0,
      -- null: released
      holder text,
      host text,
      process bigint,
      held_since timestamptz(3),
      held_until timestamptz(3),
      -- lines of the journal, and the hash of the last one; by default unknown (UNKNOWN_POSITION), which admits no journal: whoever
      -- deletes the row and inserts another one does not have the signer begin anew
      journal_lines bigint NOT NULL DEFAULT 9007199254740991,
      journal_hash text NOT NULL DEFAULT 'unknown',
      -- what the last signer was started with: SharedSettings as JSON, without secrets
      settings text
    );
    -- a new installation: its journal has no line
    INSERT INTO signer_lease (journal_lines, journal_hash) VALUES (0, repeat('0', 64));

    -- freezes of an organization (null: of all) and their ends, as the signer has recorded them in its journal
    CREATE TABLE freezes (
      id uuid PRIMARY KEY,
      position bigint GENERATED ALWAYS AS IDENTITY,
      type text NOT NULL CHECK (type IN ('freeze', 'unfreeze')),
      organization_id text REFERENCES organizations,
      created_at timestamptz(3) NOT NULL DEFAULT now()
    );
    -- those that are in the audit log
    CREATE TABLE freeze_audits (
      freeze_id uuid PRIMARY KEY REFERENCES freezes
    );

    -- whether this database has all that the signer has authorized: the signer compares it with its journal, once for each
    -- start of the server and each copy of the table; the API answers nothing before
    CREATE TABLE journal_comparison (
      singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
      -- of which start and copy; null before a signer has ever compared
      server text,
      -- what it lacks; null: nothing
      missing text,
      compared_at timestamptz(3)
    );
    INSERT INTO journal_comparison DEFAULT VALUES;

    DO $$
    BEGIN
      EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
      EXECUTE format('GRANT CONNECT ON DATABASE %I TO orgwallet_service, orgwallet_signer', current_database());
    END $$;
    REVOKE ALL ON SCHEMA public FROM PUBLIC;
    REVOKE ALL ON ALL FUNCTIONS IN SCHEMA public FROM PUBLIC;
    GRANT USAGE ON SCHEMA public TO orgwallet_service, orgwallet_signer;
    GRANT SELECT ON ALL TABLES IN SCHEMA public TO orgwallet_service, orgwallet_signer;
    -- what the signer has no use for
    REVOKE SELECT ON installation, received_messages, claims, audit_heads, audit_log, api_keys,
      api_key_members, idempotency_requests, rate_limit_buckets, registration_challenges,
      sessions, session_nonces, known_browsers, address_book_entries, destinations, channels, resends, delivery_attempts, relayer_fees,
      movements, movement_scans, movement_scan_blocks, account_scans, seen_tokens, account_proofs, unexplained_changes
      FROM orgwallet_signer;
    GRANT SELECT (id, production) ON installation TO orgwallet_signer;
    GRANT EXECUTE ON FUNCTION require_unchanged, require_open_below, require_room TO orgwallet_service;
    GRANT EXECUTE ON FUNCTION queue_shared, queue_alone TO orgwallet_service, orgwallet_signer;
    GRANT EXECUTE ON FUNCTION hold_approval, decide_upkeep, decide_upkeep_envelope TO orgwallet_signer;
    GRANT INSERT, UPDATE ON members, groups, policies TO orgwallet_service;
    -- what is signed, or derived once, never changes
    GRANT INSERT ON organizations, genesis, genesis_signatures, admin_sets, accounts, account_networks, approvals, proposals, deployments,
      transactions, audit_heads, api_keys TO orgwallet_service;
    GRANT UPDATE (threshold, on_chain) ON admin_sets TO orgwallet_service;
    GRANT UPDATE (projected_sequence) ON organizations TO orgwallet_service;
    GRANT UPDATE (name, position, updated_at) ON accounts TO orgwallet_service;
    GRANT UPDATE (updated_at, position, version, execution_status, execution_attempt, decision,
      decided_by, executed_with, waiting_for, failure,
      notes, result, expired_at, closed_at, frozen) ON approvals TO orgwallet_service;
    GRANT UPDATE (applied_at, effective) ON proposals TO orgwallet_service;
    GRANT UPDATE (status, transaction_hash, failure, waiting_for, updated_at) ON deployments TO orgwallet_service;
    GRANT UPDATE (awaits_relayer_wei, cancelling, reopenings, position, terms, metadata, tags)
      ON transactions TO orgwallet_service;
    GRANT UPDATE (position, hash, created_at) ON audit_heads TO orgwallet_service;
    GRANT UPDATE (revoked_at, rotated_to, last_used_at) ON api_keys TO orgwallet_service;
    GRANT INSERT, DELETE ON admin_set_members, group_members, claims TO orgwallet_service;
    GRANT INSERT ON votes, received_messages, evidence, audit_log, api_key_members TO orgwallet_service;
    GRANT INSERT, UPDATE, DELETE ON idempotency_requests, rate_limit_buckets, registration_challenges, heartbeats
      TO orgwallet_service;
    GRANT INSERT, DELETE, UPDATE (last_used_at, ended_at) ON sessions TO orgwallet_service;
    GRANT INSERT, DELETE, UPDATE (last_used_at) ON known_browsers TO orgwallet_service;
    GRANT INSERT, DELETE, UPDATE (name, folded_name, address, network_id, position, updated_at)
      ON address_book_entries TO orgwallet_service;
    GRANT INSERT, DELETE, UPDATE (url, types, description, generation, rotated_at, disabled_for, paused_for, position, hash, attempts,
      next_attempt_at, last_failure, failing_since, updated_at) ON destinations TO orgwallet_service;
    GRANT INSERT, DELETE ON resends, delivery_attempts TO orgwallet_service;
    GRANT INSERT, DELETE, UPDATE (occasions, confirmed_at, code_hash, code_expires_at, code_attempts) ON channels TO orgwallet_service;
    GRANT INSERT, UPDATE (attempts), DELETE ON session_nonces TO orgwallet_service;
    GRANT INSERT, UPDATE (log_index, block_number, block_hash, block_at, status, transaction_id, verified, confirmed_position,
      reversed_position, updated_at) ON movements TO orgwallet_service;
    GRANT INSERT, UPDATE ON movement_scans, account_scans, seen_tokens, account_proofs TO orgwallet_service;
    GRANT INSERT ON unexplained_changes TO orgwallet_service;
    GRANT INSERT, DELETE ON movement_scan_blocks TO orgwallet_service;
    GRANT INSERT, UPDATE (status, block_at, decided_at) ON policy_usage TO orgwallet_service;
    GRANT INSERT ON seals, sealed_states, signing_keys, chain_attempts, chain_signatures, relayer_reservations,
      chain_envelopes, authorizations, freezes, unknown_executions TO orgwallet_signer;
    GRANT INSERT, UPDATE ON admins_safes, account_rescues TO orgwallet_signer;
    GRANT UPDATE (sequence, state, signature) ON sealed_states TO orgwallet_signer;
    GRANT UPDATE (fencing, holder, host, process, held_since, held_until, journal_lines, journal_hash, settings)
      ON signer_lease TO orgwallet_signer;
    GRANT UPDATE (server, missing, compared_at) ON journal_comparison TO orgwallet_signer;
    GRANT INSERT ON freeze_audits TO orgwallet_service;
    GRANT UPDATE (outcome, block_at, used_at) ON authorizations TO orgwallet_signer;
    GRANT INSERT, UPDATE ON relayers TO orgwallet_signer;
    GRANT UPDATE (sent_at, outcome, decided_at) ON chain_envelopes TO orgwallet_service;
    GRANT INSERT, DELETE, UPDATE (block_number, block_at, gas_used, gas_price, data_fee)
      ON relayer_fees TO orgwallet_service;
    GRANT UPDATE (outcome, outcome_hash, block_number, block_hash, block_at, confirmations, decided_at)
      ON chain_attempts TO orgwallet_service;
  