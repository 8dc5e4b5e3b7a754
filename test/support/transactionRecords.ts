import type { ExecutionStatus, Failure, MemberSummary, Note, Tally, Vote } from '../../src/domain/approval';
import { NATIVE_CURRENCY, type Policy } from '../../src/domain/policy';
import { NO_REFERENCES } from '../../src/domain/references';
import type { EvaluationContext, TransactionRecord } from '../../src/domain/transaction';
import { aHash, aMember, anAddress, anId, aVote } from './builders';
import { aPolicy, NETWORK_ID } from './transactions';

/** Builds a stored transaction. */
export class TransactionRecordBuilder {
  constructor(private readonly record: TransactionRecord) {}

  /** Changes any fields at once. */
  having(change: Partial<TransactionRecord>): TransactionRecordBuilder {
    return new TransactionRecordBuilder({ ...this.record, ...change });
  }

  by(initiator: MemberSummary): TransactionRecordBuilder {
    return this.having({ initiator });
  }

  under({ id }: Pick<Policy, 'id'>): TransactionRecordBuilder {
    return this.having({ policyId: id });
  }

  expiringAt(expiresAt: Date): TransactionRecordBuilder {
    return this.having({ expiresAt });
  }

  /** Adds the initiator's signature, with the wallet that the record says they have. */
  initiated(signatureHash: string = aHash()): TransactionRecordBuilder {
    return this.voted(aVote(this.record.initiator, 'initiator', { signatureHash }));
  }

  /** Adds votes that each member cast with the wallet they have now, bound to the newest signature of the initiator. */
  votedBy(type: 'approve' | 'reject', ...members: readonly MemberSummary[]): TransactionRecordBuilder {
    const initiated = this.record.votes.findLast((vote) => vote.type === 'initiator');
    if (!initiated) throw new Error('nobody can approve or reject before the initiator has signed');
    const { signatureHash: initiatorSignatureHash } = initiated;
    return this.voted(...members.map((member) => aVote(member, type, { initiatorSignatureHash })));
  }

  approvedBy(...members: readonly MemberSummary[]): TransactionRecordBuilder {
    return this.votedBy('approve', ...members);
  }

  rejectedBy(...members: readonly MemberSummary[]): TransactionRecordBuilder {
    return this.votedBy('reject', ...members);
  }

  /** Adds votes as they are. */
  voted(...votes: readonly Vote[]): TransactionRecordBuilder {
    return this.having({ votes: [...this.record.votes, ...votes] });
  }

  inState(executionStatus: ExecutionStatus | null): TransactionRecordBuilder {
    return this.having({ executionStatus });
  }

  /** Records the tally when its execution began. */
  executedWith(executedWith: Tally): TransactionRecordBuilder {
    return this.having({ executedWith });
  }

  failedWith(failure: Failure): TransactionRecordBuilder {
    return this.having({ failure });
  }

  noted(note: Note): TransactionRecordBuilder {
    return this.having({ notes: [...this.record.notes, note] });
  }

  closedAs(frozen: Tally): TransactionRecordBuilder {
    return this.having({ finalTally: frozen, closed: true });
  }

  build(): TransactionRecord {
    return this.record;
  }
}

/** A transfer of 1 wei under some policy: new, without signatures, open for seven days from 1 June 2025. */
export function aTransaction(): TransactionRecordBuilder {
  const [destination, accountAddress] = [anAddress(), anAddress()];
  const asset = {
    id: `${NETWORK_ID}:${NATIVE_CURRENCY}`,
    symbol: 'ETH',
    name: 'Ether',
    logoUrl: null,
    decimals: 18,
    tokenAddress: NATIVE_CURRENCY,
  };
  return new TransactionRecordBuilder({
    id: anId('txn'),
    organizationId: anId('org'),
    accountId: anId('acc'),
    accountAddress,
    networkId: NETWORK_ID,
    policyId: anId('pol'),
    initiator: aMember().build(),
    description: '',
    type: 'TOKEN_TRANSFER',
    to: destination,
    value: 1n,
    calldata: '0x',
    content: {
      destination,
      asset,
      rawAmount: '1',
      displayAmount: '0.000000000000000001',
      networkId: NETWORK_ID,
    },
    summary: `Send 0.000000000000000001 "ETH" ("Ether", native currency) to ${destination}\nFrom the account "Treasury" (${accountAddress}) on "Local" (${NETWORK_ID})`,
    createdAt: new Date('2025-06-01T12:00:00.000Z'),
    updatedAt: new Date('2025-06-01T12:00:00.000Z'),
    expiresAt: new Date('2025-06-08T12:00:00.000Z'),
    version: 1,
    executionStatus: null,
    executionAttempt: 0,
    decision: null,
    failure: null,
    notes: [],
    result: null,
    chain: null,
    waitingFor: null,
    awaitsRelayerWei: null,
    replaces: null,
    references: NO_REFERENCES,
    fees: null,
    cancelling: false,
    signerOutcome: null,
    reopenings: 0,
    closed: false,
    executedWith: null,
    finalTally: null,
    votes: [],
  });
}

/** Builds what a transaction is judged by. */
class TransactionNowBuilder {
  constructor(private readonly now: EvaluationContext) {}

  private having(change: Partial<EvaluationContext>): TransactionNowBuilder {
    return new TransactionNowBuilder({ ...this.now, ...change });
  }

  at(time: Date): TransactionNowBuilder {
    return this.having({ time });
  }

  under(policy: Policy): TransactionNowBuilder {
    return this.having({ policy });
  }

  /** The policy was removed; its last definition is kept. */
  withoutPolicy(): TransactionNowBuilder {
    return this.having({ policyRemoved: true });
  }

  /** Adds members, or changes those who are there already, in their groups too. */
  with(...members: readonly MemberSummary[]): TransactionNowBuilder {
    const changed = new Map(members.map((member) => [member.id, member]));
    const groups = [...this.now.groups].map(
      ([id, group]) => [id, group.map((member) => changed.get(member.id) ?? member)] as const,
    );
    return this.having({ members: new Map([...this.now.members, ...changed]), groups: new Map(groups) });
  }

  /** Takes a member away, and out of every group. */
  without({ id: left }: Pick<MemberSummary, 'id'>): TransactionNowBuilder {
    const groups = [...this.now.groups].map(
      ([id, group]) => [id, group.filter((member) => member.id !== left)] as const,
    );
    const members = [...this.now.members].filter(([id]) => id !== left);
    return this.having({ members: new Map(members), groups: new Map(groups) });
  }

  /** Says who is in a group. They become members too. */
  grouped(groupId: string, ...members: readonly MemberSummary[]): TransactionNowBuilder {
    return this.having({ groups: new Map([...this.now.groups, [groupId, members]]) }).with(...members);
  }

  build(): EvaluationContext {
    return this.now;
  }
}

/** These members on 2 June 2025, under a policy of everything without approval. */
export function aTransactionNow(...members: readonly MemberSummary[]): TransactionNowBuilder {
  return new TransactionNowBuilder({
    time: new Date('2025-06-02T12:00:00.000Z'),
    policy: aPolicy(),
    policyRemoved: false,
    members: new Map(),
    groups: new Map(),
  }).with(...members);
}
