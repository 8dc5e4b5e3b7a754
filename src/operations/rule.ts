import type { z } from 'zod';
import type { NetworkConfig } from '../config';
import type { JsonValue } from '../domain/canonicalJson';
import type { Edit, OrganizationState } from '../domain/governance';
import type { PolicyToken } from '../domain/policy';
import type { ProposalAction, ResourceType } from '../domain/proposal';
import type { Result } from '../domain/refusal';

/** What a summary is made of, besides the data: what the admins have decided before, and the configured networks. */
export interface SummaryContext {
  readonly state: OrganizationState;
  readonly networks: readonly NetworkConfig[];
}

/** A token or native currency as the data of a proposal shows it. */
export interface ShownToken extends Omit<PolicyToken, 'logoUrl'> {
  readonly networkId: number;
  /** Checksummed; the zero address for the native currency. */
  readonly tokenAddress: string;
}

/**
 * What the data of a kind of organization operation is and does: all that the signer reads of it before it seals a
 * decision. The request that proposes it is in the file beside it.
 */
export interface Rule<Data> {
  readonly resourceType: ResourceType;
  readonly action: ProposalAction;
  /** Shape of `data` in the proposal. */
  readonly data: z.ZodType<Data>;
  /**
   * What the signed `data` makes of the state. It depends on nothing else: planning, the signer and whoever checks the
   * proof get the same. Refuses with conflict when exactly this change can no longer be made.
   */
  change(state: OrganizationState, data: Data): Result<readonly Edit[]>;
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
}

/** A rule with the type of its data erased. */
export type OperationRule = Rule<JsonValue>;

/** Declares a rule. The schema of its data types its functions. */
export function defineRule<Data>(rule: Rule<Data>): Rule<Data> {
  return rule;
}
