import { getAddress } from 'viem';
import type {
  ExecutionStatus,
  Failure,
  MemberSummary,
  Note,
  Tally,
  Vote,
  VoteType,
} from '../../src/domain/approval';
import type { OrganizationState } from '../../src/domain/governance';
import type {
  AdminSet,
  Deployment,
  ProposalAction,
  ProposalContext,
  ProposalRecord,
  ResourceType,
} from '../../src/domain/proposal';
import { random } from './random';

function pick(alphabet: string, length: number): string {
  return Array.from({ length }, () => alphabet[random(alphabet.length)]).join('');
}

/** An id with the shape of a TypeID. */
export function anId(prefix: string): string {
  return `${prefix}_0${pick('0123456789abcdefghjkmnpqrstvwxyz', 25)}`;
}

/** A checksummed address (EIP-55). */
export function anAddress(): string {
  return getAddress(`0x${pick('0123456789abcdef', 40)}`);
}

/** An address in both cases whose checksum (EIP-55) is wrong. */
export const WRONG_CHECKSUM = `0x${'aA'.repeat(20)}`;

/** A 32-byte value as 0x hex: a transaction hash or a domain salt. */
export function aHash(): `0x${string}` {
  return `0x${pick('0123456789abcdef', 64)}`;
}

const NAMES = ['Ada', 'Bo', 'Chidi', 'Dörte', 'Eve "the" O\'Neil', '李雷', 'Zoë'];

/** The vote of a member with the wallet they have now, bound to nothing unless `change` says to what. */
export function aVote(
  { id, walletAddress, walletKind }: MemberSummary,
  type: VoteType,
  change: Partial<Pick<Vote, 'signatureHash' | 'initiatorSignatureHash'>> = {},
): Vote {
  return {
    memberId: id,
    type,
    signerAddress: walletAddress,
    scheme: walletKind === 'key' ? 'eoa' : 'eip1271',
    signatureHash: change.signatureHash ?? aHash(),
    initiatorSignatureHash: change.initiatorSignatureHash ?? null,
  };
}

/** Builds a member. */
class MemberBuilder {
  constructor(private readonly member: MemberSummary) {}

  withId(id: string): MemberBuilder {
    return new MemberBuilder({ ...this.member, id });
  }

  named(name: string): MemberBuilder {
    return new MemberBuilder({ ...this.member, name });
  }

  withWallet(walletAddress: string): MemberBuilder {
    return new MemberBuilder({ ...this.member, walletAddress });
  }

  /** Their wallet is a contract. */
  ofContract(): MemberBuilder {
    return new MemberBuilder({ ...this.member, walletKind: 'contract' });
  }

  bot(): MemberBuilder {
    return new MemberBuilder({ ...this.member, type: 'api' });
  }

  build(): MemberSummary {
    return this.member;
  }
}

let members = 0;

/** A person with an id, a name and a wallet of their own. */
export function aMember(): MemberBuilder {
  members += 1;
  const name = `${NAMES[random(NAMES.length)] ?? 'Ada'} ${members}`;
  return new MemberBuilder({
    id: anId('mem'),
    name,
    type: 'user',
    walletAddress: anAddress(),
    walletKind: 'key',
  });
}

/** Builds a set of admins. */
class AdminSetBuilder {
  constructor(private readonly admins: AdminSet) {}

  withThreshold(threshold: number): AdminSetBuilder {
    return new AdminSetBuilder({ ...this.admins, threshold });
  }

  with(...members: readonly MemberSummary[]): AdminSetBuilder {
    return new AdminSetBuilder({ ...this.admins, members: [...this.admins.members, ...members] });
  }

  without(member: MemberSummary): AdminSetBuilder {
    const members = this.admins.members.filter(({ id }) => id !== member.id);
    return new AdminSetBuilder({ ...this.admins, members });
  }

  replacing(member: MemberSummary): AdminSetBuilder {
    const members = this.admins.members.map((known) => (known.id === member.id ? member : known));
    return new AdminSetBuilder({ ...this.admins, members });
  }

  build(): AdminSet {
    return this.admins;
  }

  /** What a proposal is judged by: these admins, at that time. */
  at(time: Date): ProposalContext {
    return { admins: this.admins, time };
  }
}

/** The admins of an organization, with a threshold of 2 unless changed. */
export function adminsOf(...members: readonly MemberSummary[]): AdminSetBuilder {
  return new AdminSetBuilder({ threshold: 2, members });
}

/** Builds on an existing set of admins. */
export function adminsFrom(admins: AdminSet): AdminSetBuilder {
  return new AdminSetBuilder(admins);
}

/** Why an execution did not succeed: an unreachable network, unless changed. */
export function aFailure(change: Partial<Failure> = {}): Failure {
  return {
    code: 'rpc',
    message: 'the network does not answer',
    at: '2025-06-02T00:00:00.000Z',
    attempt: 1,
    ...change,
  };
}

/** One deployment of an account, pending unless changed. */
export function aDeployment(change: Partial<Deployment> = {}): Deployment {
  return {
    accountId: anId('acc'),
    networkId: 31_337,
    status: 'pending',
    transactionHash: null,
    failure: null,
    waitingFor: null,
    ...change,
  };
}

/** Builds a stored proposal. */
class ProposalRecordBuilder {
  constructor(private readonly record: ProposalRecord) {}

  /** Changes any fields at once. */
  having(change: Partial<ProposalRecord>): ProposalRecordBuilder {
    return new ProposalRecordBuilder({ ...this.record, ...change });
  }

  about(resourceType: ResourceType, action: ProposalAction): ProposalRecordBuilder {
    return this.having({ resourceType, action });
  }

  expiringAt(expiresAt: Date): ProposalRecordBuilder {
    return this.having({ expiresAt });
  }

  /** Adds votes that each member cast with the wallet they have now. */
  votedBy(type: VoteType, ...members: readonly MemberSummary[]): ProposalRecordBuilder {
    const votes = members.map((member) => aVote(member, type));
    return this.having({ votes: [...this.record.votes, ...votes] });
  }

  approvedBy(...members: readonly MemberSummary[]): ProposalRecordBuilder {
    return this.votedBy('approve', ...members);
  }

  rejectedBy(...members: readonly MemberSummary[]): ProposalRecordBuilder {
    return this.votedBy('reject', ...members);
  }

  inState(executionStatus: ExecutionStatus | null): ProposalRecordBuilder {
    return this.having({ executionStatus });
  }

  applied(): ProposalRecordBuilder {
    return this.having({ applied: true });
  }

  effective(): ProposalRecordBuilder {
    return this.having({ effective: true });
  }

  /** Records the tally when its execution began. */
  executedWith(executedWith: Tally): ProposalRecordBuilder {
    return this.having({ executedWith });
  }

  failedWith(failure: Failure): ProposalRecordBuilder {
    return this.having({ failure });
  }

  deploying(...deployments: readonly Deployment[]): ProposalRecordBuilder {
    return this.having({ deployments: [...this.record.deployments, ...deployments] });
  }

  noted(note: Note): ProposalRecordBuilder {
    return this.having({ notes: [...this.record.notes, note] });
  }

  frozenAs(frozen: Tally): ProposalRecordBuilder {
    return this.having({ finalTally: frozen });
  }

  closedAs(frozen: Tally): ProposalRecordBuilder {
    return this.having({ finalTally: frozen, closed: true });
  }

  build(): ProposalRecord {
    return this.record;
  }
}

/** A proposal to create an account on one network: new, without votes, open for seven days from 1 June 2025. */
export function aProposal(): ProposalRecordBuilder {
  return new ProposalRecordBuilder({
    id: anId('prop'),
    organizationId: anId('org'),
    resourceType: 'accounts',
    action: 'create',
    data: { items: [{ name: 'Treasury', networkIds: [31_337] }] },
    summary: 'Create the account "Treasury" on network 31337',
    createdAt: new Date('2025-06-01T12:00:00.000Z'),
    expiresAt: new Date('2025-06-08T12:00:00.000Z'),
    version: 1,
    executionStatus: null,
    executionAttempt: 0,
    decision: null,
    executedWith: null,
    applied: false,
    effective: false,
    failure: null,
    notes: [],
    result: null,
    closed: false,
    finalTally: null,
    votes: [],
    deployments: [],
  });
}

/** An organization that has decided nothing since it began; its first member alone is admin, and decides. */
export function aState(
  members: readonly MemberSummary[] = [aMember().build()],
  change: Partial<OrganizationState> = {},
): OrganizationState {
  return {
    id: anId('org'),
    name: 'Acme',
    domainSalt: aHash(),
    signingKey: anAddress(),
    sealKey: anAddress(),
    sequence: 0,
    members: Object.fromEntries(members.map((member) => [member.id, { ...member, revision: 0 }])),
    groups: {},
    policies: {},
    accounts: {},
    admins: {
      id: anId('adm'),
      memberIds: members.slice(0, 1).map(({ id }) => id),
      threshold: 1,
      revision: 0,
    },
    ...change,
  };
}
