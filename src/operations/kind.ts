import type { z } from 'zod';
import type { NetworkConfig } from '../config';
import type { ProposeRequest } from '../contract/proposals';
import type { AuditInput } from '../db/audit';
import type { Tx } from '../db/database';
import type { StoredProposal } from '../db/proposals';
import type { AccountDerivation } from '../domain/account';
import type { Failure, MemberSummary, Note } from '../domain/approval';
import type { JsonValue } from '../domain/canonicalJson';
import type { ProposalAction, ResourceType, ResultResource } from '../domain/proposal';
import type { Outcome } from '../domain/refusal';
import type { WalletCode } from '../domain/wallet';

/** The context of a kind: the transaction of the request, its organization, and the configured networks. */
export interface KindContext {
  readonly tx: Tx;
  readonly organizationId: string;
  readonly networks: readonly NetworkConfig[];
  /** Computes an account from its owner key and its id. */
  readonly deriveAccount: (ownerAddress: string, accountId: string) => AccountDerivation;
}

/** What a token reports about itself, and its logo in the configured token list. */
export interface Token {
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
  readonly logoUrl: string | null;
}

/** What is read before the transaction of the creation, most of it outside the database. */
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
export interface Plan<Data, Details> {
  /** The proposed state: it is signed, shown and carried out. */
  readonly data: Data;
  /** What else the change needs, fixed now: ids of the resources that it will create. */
  readonly plan: Details;
  /** One line in plain words. It is signed. */
  readonly summary: string;
  /** What this proposal changes, and no other open proposal may claim, such as `member:mem_…` or `wallet:0x…`. */
  readonly claims: readonly string[];
  /** What it is about, whether it changes it or not; `network:<id>` too. A change of these is noted on it. */
  readonly names: readonly string[];
  /** What its readers should know from the beginning. It is not signed. */
  readonly notes?: readonly Omit<Note, 'at'>[];
}

/** A note on other open proposals that name a subject, about its change. */
export interface Notice {
  /** As in `names`. */
  readonly subject: string;
  /** Such as `memberRemoved`. */
  readonly code: string;
  /** As text, for the readers of those proposals. */
  readonly message: string;
}

/** A change of records, and the audit entries that belong to it. */
export interface Recorded {
  readonly audit: readonly Omit<AuditInput, 'actor'>[];
  /** Called after the audit entries are written, with their positions in the chain, in the order of `audit`. */
  readonly setPositions?: (positions: readonly bigint[]) => Promise<void>;
}

/** The off-chain part of a change that was carried out in the transaction. */
export interface Applied extends Recorded {
  readonly resources: readonly ResultResource[];
  /** True when others can see a change while deployments are missing, so that it can no longer be rejected. */
  readonly effective?: boolean;
  readonly notices?: readonly Notice[];
}

/** One account on one network. */
export interface Deployment {
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

/** What an operation deploys after `apply`, and how each deployment is recorded. */
export interface Deployments<Data, Details> {
  /**
   * Every deployment that the proposal asks for. The proposal is complete when all of them are; the signer signs for
   * no other.
   */
  of(proposal: { readonly data: Data; readonly plan: Details }): readonly Deployment[];
  /** Records a completed deployment. Called once for each, in the transaction that records it on the proposal. */
  completed(
    context: Pick<KindContext, 'tx' | 'organizationId'>,
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
export interface Operation<Body, Data, Details, Facts> {
  readonly resourceType: ResourceType;
  readonly action: ProposalAction;
  /** True when it can only be carried out with the organization's signing key. */
  readonly needsSigningKey?: true;
  readonly requests: readonly ProposeRequest<Body>[];
  /** Shape of `data` in the proposal. */
  readonly data: z.ZodType<Data>;
  /** Reads what the plan needs from chains. Refuses with validationError. */
  observe?(outside: Outside, body: Body): Promise<Outcome<Facts>>;
  /** Checks a request against the current state. Refuses with validationError or conflict. */
  plan(context: KindContext, body: Body, facts: Facts): Promise<Outcome<Plan<Data, Details>>>;
  /**
   * Carries the change out, or refuses: exactly this change can no longer be made. Nothing else changes the
   * organization meanwhile.
   */
  apply(
    context: KindContext,
    proposal: Pick<StoredProposal, 'id'> & { readonly data: Data; readonly plan: Details },
  ): Promise<Outcome<Applied>>;
  /** Only kinds that deploy accounts have it. */
  readonly deployments?: Deployments<Data, Details>;
}

/** An operation with its types erased. */
export type ProposalKind = Operation<JsonValue, JsonValue, JsonValue, unknown>;

/** Declares an operation. The schemas of its requests and its data type its functions. */
export function defineOperation<Body, Data, Details, Facts = undefined>(
  operation: Operation<Body, Data, Details, Facts>,
): ProposalKind {
  return operation as unknown as ProposalKind;
}
