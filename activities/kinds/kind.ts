import type { NetworkConfig } from '../../src/config';
import type { AuditInput } from '../../src/db/audit';
import type { Tx } from '../../src/db/database';
import type { StoredProposal } from '../../src/db/proposals';
import type { AccountDerivation } from '../../src/domain/account';
import type { JsonValue } from '../../src/domain/canonicalJson';
import type { ProposalAction, ResourceType, ResultResource } from '../../src/domain/proposal';
import type { Outcome } from '../../src/domain/refusal';

/** What a kind works with: the transaction of the request, its organization, and what the deployment can reach. */
export interface KindContext {
  readonly tx: Tx;
  readonly organizationId: string;
  readonly networks: readonly NetworkConfig[];
  /** Computes an account from its owner key and its id. */
  readonly deriveAccount: (ownerAddress: string, accountId: string) => AccountDerivation;
}

/** A request made into a proposal. */
export interface Plan {
  /** The proposed state: what is signed, shown and carried out. */
  readonly data: JsonValue;
  /** What the change needs besides, fixed now. */
  readonly plan: JsonValue;
  /** One line in plain words. It is signed. */
  readonly summary: string;
  /** What no other open proposal may claim. */
  readonly claims: readonly string[];
}

/** A change that was carried out in the transaction, as far as it is off chain. */
export interface Applied {
  readonly resources: readonly ResultResource[];
  /** Where accounts are still to be deployed; the proposal is complete when they are. */
  readonly deployments: readonly { accountId: string; networkId: number }[];
  /** True when others can see a change already, so that the proposal can no longer be rejected. */
  readonly effective: boolean;
  readonly audit: readonly Omit<AuditInput, 'actor'>[];
}

/**
 * One kind of organization operation, whole: its claims, its checks and its change. Adding a kind is adding one
 * such object (and its body schema to the contract).
 */
export interface ProposalKind {
  readonly resourceType: ResourceType;
  readonly action: ProposalAction;
  /** True when it can only be carried out with the organization's signing key. */
  readonly needsSigningKey?: true;
  /** Paths of the requests that propose it. */
  readonly requestPaths: readonly string[];
  /** Checks a request against the world of now. Refuses with validationError or conflict. */
  plan(context: KindContext, body: JsonValue): Promise<Outcome<Plan>>;
  /** Carries the change out, or says in words why the world no longer allows exactly it. */
  apply(context: KindContext, proposal: StoredProposal): Promise<Outcome<Applied>>;
}
