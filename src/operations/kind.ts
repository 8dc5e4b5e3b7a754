import type { NetworkConfig } from '../config';
import type { ProposeRequest } from '../contract/proposalContract';
import type { AuditInput } from '../db/audit';
import type { Db, Tx } from '../db/database';
import type { Failure } from '../domain/approval';
import type { JsonValue } from '../domain/canonicalJson';
import type { OrganizationState } from '../domain/governance';
import type { Result } from '../domain/refusal';
import type { Wallet } from '../domain/wallet';
import type { OperationRule, Rule, SummaryContext } from './rule';

/** The context of a plan: the database besides. */
export interface PlanContext extends SummaryContext {
  readonly db: Db | Tx;
}

/** What a token reports about itself, and its logo in the configured token list. */
export interface Token {
  readonly symbol: string;
  readonly name: string | null;
  readonly decimals: number | null;
  readonly logoUrl: string | null;
}

/** What is read of chains before a creation is planned. */
export interface ExternalReads {
  readonly networks: readonly NetworkConfig[];
  /**
   * Reads an ERC-20 token; `reason` says why it cannot be read, `unavailable` that its chain does not answer now. Never
   * throws.
   */
  readonly readToken: (
    networkId: number,
    tokenAddress: string,
  ) => Promise<
    | { readonly ok: true; readonly token: Token }
    | { readonly ok: false; readonly reason: string; readonly unavailable?: true }
  >;
}

/** The proposal that a request becomes. */
export interface Plan<Data> {
  /**
   * The proposed state, with the ids of what is new and the revisions of what changes: it is signed, shown and carried
   * out.
   */
  readonly data: Data;
  /** What this proposal changes, and no other open proposal may claim, such as `member:mem_…` or `wallet:0x…`. */
  readonly claims: readonly string[];
  /** What it is about, whether it changes it or not; `network:<id>` too. A change of these is noted on it. */
  readonly mentions: readonly string[];
}

/** A change of records, and the audit entries that belong to it. */
export interface RecordedChange {
  readonly audit: readonly Omit<AuditInput, 'actor'>[];
  /** Called after the audit entries are written, with their positions in the chain, in the order of `audit`. */
  readonly setPositions?: (positions: readonly bigint[]) => Promise<void>;
}

/** One account on one network. */
interface Deployment {
  readonly accountId: string;
  readonly networkId: number;
}

/** A deployment that the chain has confirmed. Hash and block are null when the account was already deployed. */
export interface CompletedDeployment extends Deployment {
  readonly transactionHash: string | null;
  /** Decimal digits. */
  readonly blockNumber: string | null;
}

/** A deployment that did not succeed. The proposal can be executed again. */
export interface FailedDeployment extends Deployment {
  readonly failure: Failure;
}

/** What an operation deploys after its change, and how each deployment is recorded. */
interface Deployments<Data> {
  /**
   * Every deployment that the proposal asks for. The proposal is complete when all of them are; the signer signs for
   * no other.
   */
  of(data: Data): readonly Deployment[];
  /** Records a completed deployment. Called once for each, in the transaction that records it on the proposal. */
  completed(
    context: { readonly tx: Tx; readonly organizationId: string },
    proposalId: string,
    deployment: CompletedDeployment,
  ): Promise<RecordedChange>;
  /** The audit entries of a failed deployment. */
  failed(proposalId: string, deployment: FailedDeployment): RecordedChange['audit'];
}

/** How a kind of organization operation is proposed and deployed: its requests, its checks and its claims. */
interface Request<Body, Data, Facts> {
  readonly requests: readonly ProposeRequest<Body>[];
  /** Reads what the plan needs from chains. Refuses with validationError. */
  observe?(reads: ExternalReads, body: Body): Promise<Result<Facts>>;
  /** Checks a request against the current state. Refuses with validationError or conflict. */
  plan(context: PlanContext, body: Body, facts: Facts): Promise<Result<Plan<Data>>>;
  /** The wallets that it gives members: what the chain says against their stated kinds is noted on the proposal. */
  wallets?(state: OrganizationState, body: Body): readonly Wallet[];
  /** Only kinds that deploy accounts have it. */
  readonly deployments?: Deployments<Data>;
}

/** One kind of organization operation, whole: its rule and its request, with their types erased. */
export type ProposalKind = OperationRule & Request<JsonValue, JsonValue, unknown>;

/** Declares an operation: the rule, and the request beside it. The schemas of its requests and its data type its functions. */
export function defineOperation<Body, Data, Facts = undefined>(
  rule: Rule<Data>,
  request: Request<Body, NoInfer<Data>, Facts>,
): ProposalKind {
  return { ...rule, ...request } as unknown as ProposalKind;
}
