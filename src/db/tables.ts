import type { Knex } from 'knex';
import type { Actor } from '../domain/actor';
import type { AccountRescue, AdminsSafeStatus } from '../domain/adminsSafe';
import type {
  Decision,
  ExecutionStatus,
  Failure,
  MemberSummary,
  Note,
  Subject,
  Tally,
  VoteType,
} from '../domain/approval';
import type { JsonValue } from '../domain/canonicalJson';
import type { DeliveryReason, DestinationKind, DisabledFor, PausedFor } from '../domain/delivery';
import type { KeyRights } from '../domain/keyRights';
import type { Movement, MovementKind, MovementStatus } from '../domain/movement';
import type { Deployment, ProposalAction, ProposalRecord, ResourceType } from '../domain/proposal';
import type { TransactionRecord } from '../domain/transaction';
import type { SignatureScheme, WalletKind } from '../domain/wallet';

/** `numeric`: decimal digits. */
type Numeric = string;
/** `jsonb`: parsed when it is read, JSON text when it is written. */
type Json<T = JsonValue> = NonNullable<T>;
/** `timestamptz` that may be infinite. */
type Time = Date | number;
/** `tsvector`: written, and never read. */
type Terms = string;

interface SchemaMigrationRow {
  name: string;
  hash: string;
  applied_at: Date;
}

export interface InstallationRow {
  singleton: boolean;
  id: string;
  cursor_secret: Buffer;
  delivery_seed: Buffer;
  production: boolean;
  created_at: Date;
}

export interface OrganizationRow {
  id: string;
  name: string;
  domain_salt: string;
  signing_key: string;
  projected_sequence: bigint;
  created_at: Date;
}

export interface MemberRow {
  id: string;
  organization_id: string;
  name: string;
  type: MemberSummary['type'];
  wallet_address: string;
  wallet_kind: WalletKind;
  registered_at: Date | null;
  position: bigint;
  created_at: Date;
  updated_at: Date;
  removed_at: Date | null;
}

export interface AdminSetRow {
  id: string;
  organization_id: string;
  threshold: number;
  on_chain: boolean;
}

interface AdminSetMemberRow {
  organization_id: string;
  member_id: string;
}

export interface AccountRow {
  id: string;
  organization_id: string;
  name: string;
  address: string;
  owner_address: string;
  singleton: string;
  factory: string;
  fallback_handler: string;
  initializer: string;
  salt_nonce: string;
  position: bigint;
  created_at: Date;
  updated_at: Date;
}

interface AccountNetworkRow {
  account_id: string;
  network_id: bigint;
  transaction_hash: string | null;
  block_number: bigint | null;
  deployed_at: Date;
}

export interface GroupRow {
  id: string;
  organization_id: string;
  name: string;
  position: bigint;
  created_at: Date;
  updated_at: Date;
  deleted_at: Date | null;
}

interface GroupMemberRow {
  group_id: string;
  member_id: string;
}

export interface PolicyRow {
  id: string;
  organization_id: string;
  name: string;
  definition: Json;
  position: bigint;
  created_at: Date;
  updated_at: Date;
  removed_at: Date | null;
}

export interface RegistrationChallengeRow {
  nonce: string;
  organization_id: string;
  member_id: string;
  wallet_address: string;
  wallet_kind: WalletKind;
  message: string;
  created_at: Date;
  expires_at: Date;
  used_at: Date | null;
  used_by: string | null;
}

export interface ApprovalRow {
  id: string;
  subject: Subject;
  organization_id: string;
  summary: string;
  names: readonly string[];
  created_at: Date;
  updated_at: Date;
  expires_at: Date;
  position: bigint;
  version: number;
  created_by: string | null;
  execution_status: ExecutionStatus | null;
  execution_attempt: number;
  decision: Decision | null;
  decided_by: Json<Actor> | null;
  executed_with: Json<Tally> | null;
  waiting_for: string | null;
  failure: Json<Failure> | null;
  notes: Json<readonly Note[]>;
  result: Json<ProposalRecord['result'] | TransactionRecord['result']> | null;
  expired_at: Date | null;
  closed_at: Date | null;
  frozen: Json<Tally> | null;
}

/** Which request an approval was created by: no reading of its record needs it. */
export interface CreationColumns {
  idempotency_key: string | null;
  request_hash: Buffer | null;
}

export interface VoteRow {
  id: bigint;
  approval_id: string;
  member_id: string;
  type: VoteType;
  signer_address: string;
  scheme: SignatureScheme;
  signature: string;
  signature_hash: string;
  initiator_signature_hash: string | null;
  reason: string | null;
  credential_id: string | null;
  created_at: Date;
}

interface ReceivedMessageRow {
  approval_id: string;
  message_id: string;
  kind: string;
  created_at: Date;
}

interface ClaimRow {
  organization_id: string;
  claim: string;
  approval_id: string;
}

export interface EvidenceRow {
  id: bigint;
  organization_id: string;
  approval_id: string;
  resolution: 'approved' | 'rejected';
  payload: string;
  signatures: Json;
  threshold: number;
  electorate: Json;
  created_at: Date;
}

export interface ProposalRow {
  id: string;
  resource_type: ResourceType;
  action: ProposalAction;
  data: Json;
  applied_at: Date | null;
  effective: boolean;
}

/** What a search finds a request by: no reading of its record needs it. */
interface SearchColumn {
  terms: Terms;
}

interface DeploymentRow {
  proposal_id: string;
  account_id: string;
  network_id: bigint;
  status: Deployment['status'];
  transaction_hash: string | null;
  failure: Json<Failure> | null;
  waiting_for: string | null;
  updated_at: Date;
}

export interface TransactionRow {
  id: string;
  account_id: string;
  network_id: bigint;
  policy_id: string;
  initiator_id: string;
  description: string;
  type: TransactionRecord['type'];
  to_address: string;
  value: Numeric;
  calldata: string;
  content: Json;
  replaces: string | null;
  awaits_relayer_wei: Numeric | null;
  cancelling: boolean;
  reopenings: number;
}

/** What transactions are listed and found by: no reading of their records needs it. */
interface ListColumns {
  position: bigint;
  terms: Terms;
  organization_id: string;
}

/** The references of a transaction: nothing that is signed depends on them. */
export interface ReferenceColumns {
  external_id: string | null;
  metadata: Json;
  tags: readonly string[];
}

interface AuditHeadRow {
  organization_id: string;
  position: bigint;
  hash: string;
  created_at: Date;
}

export interface AuditLogRow {
  organization_id: string;
  position: bigint;
  id: string;
  action: string;
  actor: Json<Actor>;
  resource_type: string;
  resource_id: string;
  details: Json<{ readonly [key: string]: JsonValue }>;
  created_at: Date;
  previous_hash: string;
  hash: string;
}

export interface AddressBookEntryRow {
  id: string;
  organization_id: string;
  name: string;
  folded_name: string;
  address: string;
  network_id: bigint | null;
  position: bigint;
  created_at: Date;
  updated_at: Date;
}

export interface DestinationRow {
  id: string;
  organization_id: string;
  kind: DestinationKind;
  url: string;
  types: readonly string[] | null;
  description: string;
  generation: number;
  rotated_at: Date | null;
  disabled_for: DisabledFor | null;
  paused_for: PausedFor | null;
  position: bigint;
  hash: string;
  attempts: number;
  next_attempt_at: Date | null;
  last_failure: string | null;
  failing_since: Date | null;
  created_at: Date;
  updated_at: Date;
}

export interface ChannelRow {
  destination_id: string;
  member_id: string | null;
  occasions: readonly string[];
  chat_id: string | null;
  confirmed_at: Date | null;
  code_hash: Buffer | null;
  code_expires_at: Date | null;
  code_attempts: number;
}

interface ResendRow {
  destination_id: string;
  position: bigint;
}

export interface DeliveryAttemptRow {
  id: bigint;
  destination_id: string;
  reason: DeliveryReason;
  event_id: string;
  event_type: string;
  position: bigint;
  attempt: number;
  is_last: boolean;
  status: number | null;
  fault: string | null;
  message: string | null;
  answer: string | null;
  duration_ms: number;
  created_at: Date;
}

export interface PolicyUsageRow {
  id: bigint;
  organization_id: string;
  policy_id: string;
  transaction_id: string;
  network_id: bigint;
  token_address: string;
  amount: Numeric;
  initiator_id: string;
  account_id: string;
  destination: string;
  status: 'reserved' | 'committed' | 'released';
  reserved_at: Date;
  block_at: Date | null;
  decided_at: Date | null;
  counted_from: Time | null;
}

export interface AuthorizationRow {
  transaction_id: string;
  organization_id: string;
  policy_id: string;
  initiator_id: string;
  account_id: string;
  network_id: bigint;
  safe_nonce: bigint | null;
  safe_tx_hash: string | null;
  token_address: string;
  amount: Numeric;
  destination: string;
  authorized_at: Date;
  outcome: 'executed' | 'reverted' | 'cancelled' | 'rejected' | null;
  block_at: Date | null;
  used_at: Date | null;
  counted_from: Time | null;
}

export interface ApiKeyRow {
  id: string;
  organization_id: string;
  key_hash: Buffer;
  prefix: string;
  name: string | null;
  rights: Json<KeyRights>;
  created_at: Date;
  last_used_at: Date | null;
  expires_at: Date | null;
  revoked_at: Date | null;
  rotated_to: string | null;
}

interface ApiKeyMemberRow {
  api_key_id: string;
  member_id: string;
  place: number;
}

export interface SessionRow {
  id: string;
  organization_id: string;
  member_id: string;
  wallet_address: string;
  wallet_kind: WalletKind;
  token_hash: Buffer;
  user_agent: string | null;
  created_at: Date;
  last_used_at: Date;
  expires_at: Date;
  ended_at: Date | null;
}

interface KnownBrowserRow {
  member_id: string;
  browser_hash: Buffer;
  last_used_at: Date;
}

export interface SessionNonceRow {
  nonce: string;
  attempts: number;
  expires_at: Date;
}

export interface IdempotencyRequestRow {
  id: string;
  organization_id: string;
  key: string;
  credential_id: string;
  method: string;
  path: string;
  request_hash: Buffer;
  body: Json;
  resource_id: string;
  lease_owner: string;
  lease_until: Date;
  created_at: Date;
  answered_at: Date | null;
  status: number | null;
  response_body: string | null;
  location: string | null;
}

interface RateLimitBucketRow {
  bucket: string;
  tokens: number;
  taken: number;
  updated_at: Date;
}

interface HeartbeatRow {
  process: string;
  task_queue: string;
  seen_at: Date;
  ended: boolean;
}

interface GenesisRow {
  organization_id: string;
  state: string;
  created_at: Date;
}

interface GenesisSignatureRow {
  organization_id: string;
  member_id: string;
  signature: string;
  created_at: Date;
}

export interface SealRow {
  organization_id: string;
  sequence: bigint;
  proposal_id: string | null;
  body: string;
  hash: string;
  signature: string;
  sealed_at: Date;
}

interface SealedStateRow {
  organization_id: string;
  sequence: bigint;
  state: string;
  signature: string;
}

interface SigningKeyRow {
  organization_id: string;
  address: string;
  created_at: Date;
}

/** The admins' Safe of an organization on a network, as the signer has read it last. */
interface AdminsSafeRow {
  organization_id: string;
  network_id: bigint;
  status: AdminsSafeStatus;
  owners: Json | null;
  threshold: number | null;
  sequence: bigint | null;
  reason: string | null;
  since: Date;
  observed_at: Date;
}

interface AccountRescueRow {
  account_id: string;
  network_id: bigint;
  rescue: AccountRescue;
  since: Date;
}

interface RelayerRow {
  network_id: bigint;
  index: number;
  address: string;
}

export interface ChainAttemptRow {
  id: bigint;
  kind: 'deployment' | 'transaction' | 'cancellation' | 'filler' | 'upkeep';
  organization_id: string | null;
  proposal_id: string | null;
  transaction_id: string | null;
  account_id: string | null;
  network_id: bigint;
  to_address: string;
  value: Numeric;
  data: string;
  safe_nonce: bigint | null;
  safe_tx_gas: Numeric | null;
  safe_tx_hash: string | null;
  sealed_sequence: bigint | null;
  from_block: bigint | null;
  outcome: 'executed' | 'reverted' | 'cancelled' | null;
  outcome_hash: string | null;
  block_number: bigint | null;
  block_hash: string | null;
  block_at: Date | null;
  confirmations: number;
  created_at: Date;
  decided_at: Date | null;
}

export interface UnknownExecutionRow {
  account_id: string;
  network_id: bigint;
  safe_nonce: bigint;
  organization_id: string;
  safe_tx_hash: string;
  transaction_hash: string;
  found_at: Date;
}

export interface FreezeRow {
  id: string;
  position: bigint;
  type: 'freeze' | 'unfreeze';
  organization_id: string | null;
  created_at: Date;
}

interface SignerLeaseRow {
  singleton: boolean;
  fencing: bigint;
  holder: string | null;
  host: string | null;
  process: bigint | null;
  held_since: Date | null;
  held_until: Date | null;
  journal_lines: bigint;
  journal_hash: string;
  settings: string | null;
}

interface JournalComparisonRow {
  singleton: boolean;
  server: string | null;
  missing: string | null;
  compared_at: Date | null;
}

interface FreezeAuditRow {
  freeze_id: string;
}

interface ChainSignatureRow {
  attempt_id: bigint;
  signature: string;
}

export interface RelayerReservationRow {
  id: bigint;
  attempt_id: bigint;
  network_id: bigint;
  relayer_address: string;
  relayer_nonce: bigint;
  gas: Numeric;
  max_fee_per_gas: Numeric;
  max_priority_fee_per_gas: Numeric;
  reserved_at: Date;
}

export interface ChainEnvelopeRow {
  id: bigint;
  attempt_id: bigint;
  reservation_id: bigint | null;
  network_id: bigint;
  relayer_address: string;
  relayer_nonce: bigint;
  gas: Numeric;
  max_fee_per_gas: Numeric;
  max_priority_fee_per_gas: Numeric;
  transaction_hash: string;
  raw_transaction: string;
  created_at: Date;
  sent_at: Date | null;
  outcome: 'mined' | 'reverted' | 'dropped' | null;
  decided_at: Date | null;
}

interface MovementScanRow {
  network_id: bigint;
  block_number: bigint | null;
  block_hash: string | null;
  block_at: Date | null;
  lease_owner: string | null;
  lease_until: Date | null;
}

interface MovementScanBlockRow {
  network_id: bigint;
  block_number: bigint;
  block_hash: string;
}

interface AccountScanRow {
  account_id: string;
  network_id: bigint;
  from_block: bigint;
  next_block: bigint;
  until_block: bigint;
  announced: boolean;
}

interface SeenTokenRow {
  network_id: bigint;
  address: string;
  symbol: string | null;
  name: string | null;
  decimals: number | null;
  read_at: Date | null;
}

export interface MovementRow {
  id: string;
  sequence: bigint;
  organization_id: string;
  account_id: string;
  network_id: bigint;
  direction: Movement['direction'];
  kind: MovementKind;
  cause: Movement['cause'];
  token_address: string;
  token_id: Numeric | null;
  amount: Numeric;
  counterparty: string;
  transaction_hash: string;
  log_index: bigint;
  block_number: bigint;
  block_hash: string;
  block_at: Date;
  status: MovementStatus;
  transaction_id: string | null;
  verified: boolean;
  confirmed_position: bigint | null;
  reversed_position: bigint | null;
  created_at: Date;
  updated_at: Date;
}

interface AccountProofRow {
  account_id: string;
  network_id: bigint;
  block_number: bigint;
  proved_at: Date;
}

interface UnexplainedChangeRow {
  id: bigint;
  account_id: string;
  network_id: bigint;
  token_address: string;
  from_block: bigint;
  to_block: bigint;
  amount: Numeric;
  found_at: Date;
}

/** What a column takes: its value or an expression; a bigint or a time also as text, JSON only as text. */
type Written<T> =
  | Knex.Raw
  | ([T] extends [bigint | null]
      ? T | number | string
      : [T] extends [Date | null]
        ? T | string
        : [T] extends [string | number | boolean | Buffer | readonly string[] | null]
          ? T
          : string | Extract<T, null>);

type NullableOf<Row> = { [C in keyof Row]: null extends Row[C] ? C : never }[keyof Row];
type Writable<Row> = { [C in keyof Row]: Written<Row[C]> };

/** A table. An insert may omit columns that have a default or may be null; generated columns are never written. */
type Table<
  Row extends {},
  Default extends keyof Row = never,
  Generated extends keyof Row = never,
> = Knex.CompositeTableType<
  Row,
  Omit<Writable<Row>, Default | Generated | NullableOf<Row>> &
    Partial<Pick<Writable<Row>, Exclude<Default | NullableOf<Row>, Generated>>>,
  Partial<Omit<Writable<Row>, Generated>>
>;

export interface RelayerFeeRow {
  envelope_id: bigint;
  organization_id: string | null;
  kind: ChainAttemptRow['kind'];
  account_id: string | null;
  transaction_id: string | null;
  policy_id: string | null;
  network_id: bigint;
  relayer_address: string;
  block_number: bigint;
  block_at: Date;
  gas_used: Numeric | null;
  gas_price: Numeric | null;
  data_fee: Numeric | null;
  fee: Numeric | null;
}

declare module 'knex/types/tables' {
  interface Tables {
    schema_migrations: Table<SchemaMigrationRow, 'applied_at'>;
    installation: Table<
      InstallationRow,
      'singleton' | 'id' | 'cursor_secret' | 'delivery_seed' | 'production' | 'created_at'
    >;
    organizations: Table<OrganizationRow, 'projected_sequence' | 'created_at'>;
    members: Table<MemberRow, 'wallet_kind' | 'created_at' | 'updated_at'>;
    admin_sets: Table<AdminSetRow, 'on_chain'>;
    admin_set_members: Table<AdminSetMemberRow>;
    accounts: Table<AccountRow, 'created_at' | 'updated_at'>;
    account_networks: Table<AccountNetworkRow, 'deployed_at'>;
    groups: Table<GroupRow, 'created_at' | 'updated_at'>;
    group_members: Table<GroupMemberRow>;
    policies: Table<PolicyRow, 'created_at' | 'updated_at'>;
    address_book_entries: Table<AddressBookEntryRow, 'created_at' | 'updated_at'>;
    destinations: Table<DestinationRow, 'generation' | 'attempts' | 'created_at' | 'updated_at'>;
    channels: Table<ChannelRow, 'code_attempts'>;
    resends: Table<ResendRow>;
    delivery_attempts: Table<DeliveryAttemptRow, 'created_at', 'id'>;
    registration_challenges: Table<RegistrationChallengeRow, 'created_at'>;
    approvals: Table<
      ApprovalRow & CreationColumns,
      'names' | 'created_at' | 'updated_at' | 'version' | 'execution_attempt' | 'notes'
    >;
    votes: Table<VoteRow, 'created_at', 'id'>;
    received_messages: Table<ReceivedMessageRow, 'created_at'>;
    claims: Table<ClaimRow>;
    evidence: Table<EvidenceRow, 'created_at', 'id'>;
    proposals: Table<ProposalRow & SearchColumn, 'effective' | 'terms'>;
    deployments: Table<DeploymentRow, 'updated_at'>;
    transactions: Table<
      TransactionRow & ListColumns & ReferenceColumns,
      'cancelling' | 'reopenings' | 'terms' | 'metadata' | 'tags'
    >;
    audit_heads: Table<AuditHeadRow, 'created_at'>;
    audit_log: Table<AuditLogRow>;
    movement_scans: Table<MovementScanRow>;
    movement_scan_blocks: Table<MovementScanBlockRow>;
    account_scans: Table<AccountScanRow>;
    seen_tokens: Table<SeenTokenRow>;
    account_proofs: Table<AccountProofRow>;
    unexplained_changes: Table<UnexplainedChangeRow, 'found_at', 'id'>;
    movements: Table<MovementRow, 'created_at' | 'updated_at', 'sequence'>;
    policy_usage: Table<PolicyUsageRow, 'status' | 'reserved_at', 'id' | 'counted_from'>;
    authorizations: Table<AuthorizationRow, 'authorized_at', 'counted_from'>;
    api_keys: Table<ApiKeyRow, 'created_at'>;
    api_key_members: Table<ApiKeyMemberRow>;
    sessions: Table<SessionRow, 'created_at' | 'last_used_at'>;
    known_browsers: Table<KnownBrowserRow, 'last_used_at'>;
    session_nonces: Table<SessionNonceRow, 'attempts'>;
    idempotency_requests: Table<IdempotencyRequestRow, 'id' | 'created_at'>;
    rate_limit_buckets: Table<RateLimitBucketRow>;
    heartbeats: Table<HeartbeatRow, 'ended'>;
    genesis: Table<GenesisRow, 'created_at'>;
    genesis_signatures: Table<GenesisSignatureRow, 'created_at'>;
    seals: Table<SealRow>;
    sealed_states: Table<SealedStateRow>;
    signing_keys: Table<SigningKeyRow, 'created_at'>;
    relayers: Table<RelayerRow>;
    chain_attempts: Table<ChainAttemptRow, 'value' | 'confirmations' | 'created_at', 'id'>;
    admins_safes: Table<AdminsSafeRow>;
    account_rescues: Table<AccountRescueRow>;
    journal_comparison: Table<JournalComparisonRow, 'singleton'>;
    freezes: Table<FreezeRow, 'created_at', 'position'>;
    signer_lease: Table<SignerLeaseRow, 'singleton' | 'fencing' | 'journal_lines' | 'journal_hash'>;
    unknown_executions: Table<UnknownExecutionRow, 'found_at'>;
    freeze_audits: Table<FreezeAuditRow>;
    chain_signatures: Table<ChainSignatureRow>;
    relayer_reservations: Table<RelayerReservationRow, 'reserved_at', 'id'>;
    chain_envelopes: Table<ChainEnvelopeRow, 'created_at', 'id'>;
    relayer_fees: Table<RelayerFeeRow, never, 'fee'>;
  }
}
