import type { Address } from 'viem';
import { signedTransaction } from '../../approvals/signedTransaction';
import { verifyDecision, withVotes } from '../../approvals/verifiedVotes';
import { EndpointsMissing } from '../../chain/signatures';
import type { IdentifyVoter } from '../../chain/voter';
import type { NetworkConfig } from '../../config';
import type { Attempt } from '../../db/attempts';
import type { UnsealedTransaction } from '../../db/storedTransactions';
import type { OrganizationState } from '../../domain/governance';
import { replacedIn } from '../../domain/transactionText';
import { evaluated } from '../../transactions/policy';
import type { AuthorizationEntry } from '../journal/entries';
import {
  canBeSigned,
  evidenceOf,
  isAttemptOf,
  missingVotes,
  underSealedState,
} from '../transaction/sealedTransaction';

/** What votes say about an authorization. */
export type Voted = Pick<
  AuthorizationEntry,
  'accountId' | 'networkId' | 'policyId' | 'initiatorId' | 'replaces' | 'evidence'
>;

/** What votes are verified with. */
interface Deps {
  readonly identifyVoter: IdentifyVoter;
  readonly networks: readonly NetworkConfig[];
}

/**
 * What initiator and approvers have signed, where their votes suffice for exactly the call of an attempt, under a state that
 * the admins had decided, whose policy permits it; undefined: they do not. What its budget had left at that time, nobody
 * knows. Throws ChainUnavailable.
 */
async function votedUnder(
  { identifyVoter, networks }: Deps,
  { found, attempt, account, at }: Asked,
  state: OrganizationState,
): Promise<Voted | undefined> {
  const seen = underSealedState(found, state, at);
  if (!seen || seen.record.accountAddress !== account || !isAttemptOf(seen.record, attempt)) return undefined;
  if (!canBeSigned(seen)) return undefined;
  const votes = await verifyDecision(identifyVoter, signedTransaction, seen, 'approve');
  if (missingVotes(withVotes(seen, votes)) !== undefined) return undefined;
  if (seen.now.policyRemoved || !evaluated(seen, { networks, usage: null }).allowed) return undefined;
  const { accountId, networkId, policyId, initiator, summary } = seen.record;
  return {
    ...{ accountId, networkId, policyId, initiatorId: initiator.id },
    replaces: replacedIn(summary),
    evidence: evidenceOf(seen, votes),
  };
}

/** An authorization whose votes are to be verified. */
interface Asked {
  /** The record that its row names. */
  readonly found: UnsealedTransaction;
  readonly attempt: Attempt;
  readonly account: Address;
  readonly at: Date;
}

/** The same under one of several states. Where no endpoint can be asked about a contract wallet, its vote does not count. */
export async function provedByVotes(
  deps: Deps,
  asked: Asked,
  states: readonly OrganizationState[],
): Promise<Voted | undefined> {
  for (const state of states) {
    try {
      const voted = await votedUnder(deps, asked, state);
      if (voted) return voted;
    } catch (error) {
      if (!(error instanceof EndpointsMissing)) throw error;
    }
  }
  return undefined;
}
