import type { z } from 'zod';
import type { NetworkConfig } from '../config';
import type { ProposeRequest } from '../contract/proposals';
import type { AuditInput } from '../db/audit';
import type { Db, Tx } from '../db/database';
import type { Failure, MemberSummary, Note } from '../domain/approval';
import type { JsonValue } from '../domain/canonicalJson';
import type { Edit, OrganizationState } from '../domain/governance';
import type { ProposalAction, ResourceType } from '../domain/proposal';
import type { Outcome } from '../domain/refusal';
import type { WalletCode } from '../domain/wallet';

/** What a summary is made of, besides the data: what the admins have decided before, and the configured networks. */
export interface SummaryContext {
  readonly state: OrganizationState;
  readonly networks: readonly NetworkConfig[];
}

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

/** A token or native currency as the data of a proposal shows it. */
export interface ShownToken extends Omit<Token, 'logoUrl'> {
  readonly networkId: number;
  /** Checksummed; the zero address for the native currency. */
  readonly tokenAddress: string;
}

/** What is read before a creation is planned, most of it outside the database. */
export interface Outside {
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
  /** What is at the address of a wallet, on the network of contract wallets. Never throws. */
  readonly readWalletCode: (address: string) => Promise<WalletCode>;
  /** Those members of the organization, as they are now. */
  readonly findMembers: (ids: readonly string[]) => Promise<readonly MemberSummary[]>;
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
  readonly names: readonly string[];
  /** What its readers should know from the beginning. It is not signed. */
  readonly notes?: readonly Omit<Note, 'at'>[];
}

/** A change of records, and the audit entries that belong to it. */
export interface Recorded {
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
  ): Promise<Recorded>;
  /** The audit entries of a failed deployment. */
  failed(proposalId: string, deployment: FailedDeployment): Recorded['audit'];
}

/**
 * One kind of organization operation, whole: the requests that propose it, the shape of its data, its claims, its
 * checks and its change.
 */
interface Operation<Body, Data, Facts> {
  readonly resourceType: ResourceType;
  readonly action: ProposalAction;
  readonly requests: readonly ProposeRequest<Body>[];
  /** Shape of `data` in the proposal. */
  readonly data: z.ZodType<Data>;
  /** Reads what the plan needs from chains. Refuses with validationError. */
  observe?(outside: Outside, body: Body): Promise<Outcome<Facts>>;
  /** Checks a request against the current state. Refuses with validationError or conflict. */
  plan(context: PlanContext, body: Body, facts: Facts): Promise<Outcome<Plan<Data>>>;
  /**
   * What the signed `data` makes of the state. It depends on nothing else: planning, the signer and whoever checks the
   * proof get the same. Refuses with conflict when exactly this change can no longer be made.
   */
  change(state: OrganizationState, data: Data): Outcome<readonly Edit[]>;
  /**
   * The change of `data` in lines of plain words, made with `operationSummary`: what is dangerous first, each line short
   * enough for a hardware wallet. They are signed, and the signer makes them again: they depend on nothing but the
   * context and the data. Called only with data that `change` accepts.
   */
  summary(context: SummaryContext, data: Data): string;
  /** The networks that must be configured when it is carried out. */
  networkIds?(data: Data): readonly number[];
  /** The tokens that it names, as those who sign see them: the signer reads them again. */
  tokens?(data: Data): readonly ShownToken[];
  /** Only kinds that deploy accounts have it. */
  readonly deployments?: Deployments<Data>;
}

/** An operation with its types erased. */
export type ProposalKind = Operation<JsonValue, JsonValue, unknown>;

/** Declares an operation. The schemas of its requests and its data type its functions. */
export function defineOperation<Body, Data, Facts = undefined>(
  operation: Operation<Body, Data, Facts>,
): ProposalKind {
  return operation as unknown as ProposalKind;
}
