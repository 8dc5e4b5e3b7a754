import fc from 'fast-check';
import { getAddress } from 'viem';
import type {
  AdminSet,
  Deployment,
  ExecutionStatus,
  Failure,
  MemberSummary,
  Note,
  Now,
  ProposalAction,
  ProposalRecord,
  ResourceType,
  Standing,
  Vote,
  VoteType,
} from '../../src/domain/proposal';

/** What every invented value of this test file comes from; the same seed makes the same values again. */
export const SEED = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));

fc.configureGlobal({ seed: SEED });
process.stderr.write(`test data from seed ${SEED}; TEST_SEED=${SEED} makes it again\n`);

let randomState = SEED >>> 0;

/** The next whole number in 0..below-1. Source: mulberry32. */
function random(below: number): number {
  randomState = (randomState + 0x6d2b79f5) >>> 0;
  let mixed = Math.imul(randomState ^ (randomState >>> 15), randomState | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
}

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

/** A 32-byte value as 0x hex: a transaction hash or a domain salt. */
export function aHash(): `0x${string}` {
  return `0x${pick('0123456789abcdef', 64)}`;
}

const NAMES = ['Ada', 'Bo', 'Chidi', 'Dörte', 'Eve "the" O\'Neil', '李雷', 'Zoë'];

/** Builds a member. */
export class MemberBuilder {
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

  bot(): MemberBuilder {
    return new MemberBuilder({ ...this.member, type: 'api' });
  }

  build(): MemberSummary {
    return this.member;
  }
}

/** A person with an id, a name and a wallet of their own. */
export function aMember(): MemberBuilder {
  const name = NAMES[random(NAMES.length)] ?? 'Ada';
  return new MemberBuilder({ id: anId('mem'), name, type: 'user', walletAddress: anAddress() });
}

/** Builds a set of admins. */
export class AdminSetBuilder {
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

  /** The world with these admins at that time. */
  at(time: Date): Now {
    return { admins: this.admins, time };
  }
}

/** The admins of an organization, with a threshold of 2 unless it is told otherwise. */
export function adminsOf(...members: readonly MemberSummary[]): AdminSetBuilder {
  return new AdminSetBuilder({ threshold: 2, members });
}

/** Goes on from an existing set of admins. */
export function adminsFrom(admins: AdminSet): AdminSetBuilder {
  return new AdminSetBuilder(admins);
}

/** Why an execution did not succeed: an unreachable network, unless it is told otherwise. */
export function aFailure(change: Partial<Failure> = {}): Failure {
  return {
    code: 'rpc',
    message: 'the network does not answer',
    at: '2025-06-02T00:00:00.000Z',
    attempt: 1,
    ...change,
  };
}

/** One deployment of an account, pending unless it is told otherwise. */
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
export class ProposalRecordBuilder {
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
    const votes = members.map(
      ({ id, walletAddress }): Vote => ({ memberId: id, type, signerAddress: walletAddress }),
    );
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

  failedWith(failure: Failure): ProposalRecordBuilder {
    return this.having({ failure });
  }

  deploying(...deployments: readonly Deployment[]): ProposalRecordBuilder {
    return this.having({ deployments: [...this.record.deployments, ...deployments] });
  }

  noted(note: Note): ProposalRecordBuilder {
    return this.having({ notes: [...this.record.notes, note] });
  }

  frozenAs(frozen: Standing): ProposalRecordBuilder {
    return this.having({ frozen });
  }

  closedAs(frozen: Standing): ProposalRecordBuilder {
    return this.having({ frozen, closed: true });
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
    applied: false,
    effective: false,
    failure: null,
    notes: [],
    result: null,
    closed: false,
    frozen: null,
    votes: [],
    deployments: [],
  });
}
