/**
 * A small model of an organization: who is in it, what is proposed, and what becomes of that. It is written from the
 * rules of the product, with plain lists and no database, and shares nothing with the code that it is compared with.
 */

import {
  type Change,
  type Judgement,
  namedBy,
  type Place,
  type ProposedState,
  type Refusal,
  rulesFor,
} from './operations.rules';
import { type Account, type Kind, type Member, Organization, type Request } from './organization.model';

export type VoteType = 'approve' | 'reject';

/** How the votes of a proposal stand, or stood. */
interface Tally {
  readonly signatureStatus: string;
  readonly threshold: number;
  readonly approvals: readonly Member[];
  readonly rejections: readonly Member[];
}

interface Deployment extends Place {
  status: 'pending' | 'completed' | 'failed';
}

/** What the signer has sealed and the tables do not show yet. */
interface Sealed {
  readonly proposalId: string;
  /** What it has made of the organization. */
  readonly after: Organization;
  /** Absent for a rejection. */
  readonly change?: Change;
}

export interface Proposal {
  readonly id: string;
  readonly kind: Kind;
  readonly request: Request;
  /** Ids of what it creates, fixed when it is proposed. */
  readonly newIds: readonly string[];
  /** The revisions of what it changes, by its id. */
  readonly revisions: ReadonlyMap<string, number>;
  /** What is signed and has to come true. */
  readonly data: ProposedState;
  /** What it says about others. */
  readonly says: string;
  /** What it is about. */
  readonly names: ReadonlySet<string>;
  /** What nobody else may touch while it is open. */
  claims: readonly string[];
  readonly votes: { readonly memberId: string; readonly type: VoteType; readonly wallet: string }[];
  status: 'processing' | 'completed' | 'rejected' | 'failed' | 'blocked' | null;
  attempts: number;
  /** What is executed now, or was last. */
  decision: VoteType | undefined;
  /** Sealed, and shown by the tables. */
  applied: boolean;
  /** Others can see a part of it already. */
  effective: boolean;
  /** Its time is over, whether that has been noted or not. */
  aged: boolean;
  expired: boolean;
  closed: boolean;
  closedByOperator: boolean;
  frozen: Tally | undefined;
  executedWith: Tally | undefined;
  deployments: Deployment[];
  /** What was decided by whom since this was last emptied: rows of evidence. */
  readonly resolutions: { readonly resolution: 'approved' | 'rejected'; readonly voterIds: string[] }[];
}

/** The organization as the tables show it, and as it is sealed. */
export class OrganizationModel extends Organization {
  readonly proposals: Proposal[] = [];
  /** What the admins have decided so far. */
  readonly sealed: Organization;
  /** How many decisions are sealed. */
  sequence = 0;
  private unshown: Sealed[] = [];
  /** Members whom somebody put into the tables, and nobody decided about. */
  intruders: Member[] = [];
  /** What the tables show of what was sealed, by the proposal. */
  private readonly shown = new Map<string, Change | undefined>();
  /** `action id` of the audit entries that should have been written since this was last emptied. */
  audit: string[] = [];
  /** `proposalId code` of the notes that should have been made since this was last emptied. */
  notes = new Set<string>();

  constructor(first: Organization) {
    super(first.adminsId, first.networkIds);
    this.takeAfter(first);
    this.sealed = first.snapshot();
  }

  /** The same organization, to try something out on. */
  copy(): OrganizationModel {
    const copy = new OrganizationModel(this);
    copy.sealed.takeAfter(this.sealed);
    copy.sequence = this.sequence;
    copy.unshown = [...this.unshown];
    copy.intruders = [...this.intruders];
    for (const [id, change] of this.shown) copy.shown.set(id, change);
    for (const proposal of this.proposals) {
      copy.proposals.push({
        ...proposal,
        votes: [...proposal.votes],
        deployments: proposal.deployments.map((deployment) => ({ ...deployment })),
        resolutions: [...proposal.resolutions],
      });
    }
    copy.audit = [...this.audit];
    copy.notes = new Set(this.notes);
    return copy;
  }

  /** A proposal that is there. */
  proposal(id: string): Proposal {
    const proposal = this.proposals.find((one) => one.id === id);
    if (!proposal) throw new Error(`the model has no proposal ${id}`);
    return proposal;
  }

  /** What has been looked at is not news any more. */
  forgetNews(): void {
    this.audit = [];
    this.notes.clear();
    for (const proposal of this.proposals) proposal.resolutions.length = 0;
  }

  // --- proposing -------------------------------------------------------------------------------------------------

  /** What a request would mean now, and what is wrong with it. */
  judge(request: Request): Judgement {
    return rulesFor(request).judge(this.sealed, request);
  }

  /**
   * Stores a proposal. What is in its way and past its time is expired first; answers `conflict` when something else
   * is in its way.
   */
  propose(id: string, request: Request, newIds: readonly string[]): Proposal | 'conflict' {
    const { data, claims, names } = this.judge(request);
    // An account that is being created is changed by nobody else.
    const own = request.kind === 'accounts/create' ? newIds.map((accountId) => `account:${accountId}`) : [];
    if (this.isInTheWay(request)) return 'conflict';
    const proposal: Proposal = {
      id,
      kind: request.kind,
      request,
      newIds,
      revisions: new Map(claims.flatMap((claim) => this.revisionOf(claim))),
      data,
      says: namedBy(this.sealed, request, data),
      names: new Set([...names, ...own]),
      claims: [...claims, ...own].sort(),
      votes: [],
      status: null,
      attempts: 0,
      decision: undefined,
      applied: false,
      effective: false,
      aged: false,
      expired: false,
      closed: false,
      closedByOperator: false,
      frozen: undefined,
      executedWith: undefined,
      deployments: [],
      resolutions: [],
    };
    this.proposals.push(proposal);
    this.audit.push(`proposal.created ${id}`);
    return proposal;
  }

  /** What a claim is on, if it is there, and its revision. */
  private revisionOf(claim: string): [string, number][] {
    const id = claim === 'admins' ? this.adminsId : claim.slice(claim.indexOf(':') + 1);
    const revision = this.sealed.revisions.get(id);
    return revision === undefined ? [] : [[id, revision]];
  }

  /** True when an open proposal has what this one would claim. Those past their time are expired on the way. */
  isInTheWay(request: Request): boolean {
    const holderOf = (claim: string) => this.proposals.find((other) => other.claims.includes(claim));
    for (const claim of [...this.judge(request).claims].sort()) {
      const holder = holderOf(claim);
      if (holder) this.expire(holder);
      if (holderOf(claim)) return true;
    }
    return false;
  }

  // --- signing ---------------------------------------------------------------------------------------------------

  /** All votes are of keys: they count while the wallet is one. */
  private counted({ votes }: Proposal, type: VoteType, organization: Organization = this): Member[] {
    return organization
      .admins()
      .filter(
        (admin) =>
          admin.walletKind === 'key' &&
          votes.some(
            (vote) => vote.type === type && vote.memberId === admin.id && vote.wallet === admin.walletAddress,
          ),
      );
  }

  /** The tally now; that of the beginning while it is executed, and of the end once nothing can change any more. */
  tally(proposal: Proposal): Tally {
    if (proposal.frozen) return proposal.frozen;
    if (proposal.status === 'processing' && proposal.executedWith) return proposal.executedWith;
    const approvals = this.counted(proposal, 'approve');
    const rejections = this.counted(proposal, 'reject');
    const approved = approvals.length >= this.threshold;
    const rejected = rejections.length >= this.threshold;
    let signatureStatus = 'pendingReviewSignatures';
    if (approved) signatureStatus = 'approvalReady';
    if (rejected) signatureStatus = 'rejectionReady';
    if (approved && rejected) signatureStatus = 'approvalAndRejectionReady';
    if (proposal.aged) signatureStatus = 'expired';
    return { signatureStatus, threshold: this.threshold, approvals, rejections };
  }

  /** What can still change. */
  isOpen(proposal: Proposal): boolean {
    const { closed, aged, status } = proposal;
    return !closed && (!aged || status === 'processing' || (status === 'failed' && hasBegun(proposal)));
  }

  private isDecided({ status, closedByOperator }: Proposal): boolean {
    return closedByOperator || status === 'processing' || status === 'completed' || status === 'rejected';
  }

  /** A valid signature of a wallet. Given again with `execute`, it is accepted while its decision can be executed. */
  vote(proposal: Proposal, type: VoteType, wallet: string, execute = false): Refusal | undefined {
    const voter = this.admins().find(({ walletAddress }) => walletAddress === wallet);
    // There are no endpoints here that could be asked about a contract.
    if (voter?.walletKind !== 'key') return 'forbidden';
    if (this.isDecided(proposal)) return 'conflict';
    if (proposal.closed || proposal.aged) return 'proposalExpired';
    const same = (vote: Proposal['votes'][number]) =>
      vote.memberId === voter.id && vote.type === type && vote.wallet === wallet;
    if (proposal.votes.some(same)) {
      return execute && this.refusesExecution(proposal, type, false) === undefined ? undefined : 'conflict';
    }
    proposal.votes.push({ memberId: voter.id, type, wallet });
    this.audit.push(`proposal.signed ${proposal.id}`);
    return undefined;
  }

  // --- executing -------------------------------------------------------------------------------------------------

  /** Why an outcome cannot be executed now; undefined when it can. */
  refusesExecution(proposal: Proposal, type: VoteType, byOperator: boolean): Refusal | undefined {
    if (this.isDecided(proposal)) return 'conflict';
    if (proposal.closed) return 'proposalExpired';
    const refusal = proposal.aged
      ? this.refusesLateExecution(proposal, type)
      : this.refusesTimelyExecution(proposal, type);
    if (refusal) return refusal;
    const hasFailed = proposal.status === 'failed' || proposal.status === 'blocked';
    return byOperator && !hasFailed ? 'conflict' : undefined;
  }

  /** Past its time only what has begun on chain is finished. */
  private refusesLateExecution(proposal: Proposal, type: VoteType): Refusal | undefined {
    const finishes = type === 'approve' && proposal.status === 'failed' && hasBegun(proposal);
    return finishes ? undefined : 'proposalExpired';
  }

  private refusesTimelyExecution(proposal: Proposal, type: VoteType): Refusal | undefined {
    if (this.counted(proposal, type).length < this.threshold) return 'thresholdNotMet';
    return type === 'reject' && (proposal.effective || hasBegun(proposal)) ? 'conflict' : undefined;
  }

  /** Executes an outcome that `refusesExecution` does not refuse, from its beginning to what the tables show. */
  execute(proposal: Proposal, type: VoteType): void {
    this.begin(proposal, type);
    this.seal(proposal);
    this.show(proposal);
  }

  /** Begins to execute an outcome that `refusesExecution` does not refuse. */
  begin(proposal: Proposal, type: VoteType): void {
    const tally = this.tally(proposal);
    if (type === 'approve' && proposal.applied) {
      this.deployAgain(proposal, tally);
      return;
    }
    const [resolution, voters] =
      type === 'approve'
        ? (['approved', tally.approvals] as const)
        : (['rejected', tally.rejections] as const);
    proposal.resolutions.push({ resolution, voterIds: voters.map(({ id }) => id) });
    // What is sealed only gives its deployments up.
    if (proposal.applied) {
      this.reject(proposal, tally);
      return;
    }
    proposal.attempts += 1;
    proposal.status = 'processing';
    proposal.decision = type;
    proposal.executedWith = tally;
    this.log(proposal, 'executionStarted');
  }

  /** The signer seals what is executed, if it finds the decision in what is sealed. */
  seal(proposal: Proposal): void {
    const { id, decision, applied, status } = proposal;
    if (status !== 'processing' || applied || decision === undefined) return;
    if (this.isSealed(proposal)) return;
    if (this.counted(proposal, decision, this.sealed).length < this.sealed.threshold) return;
    if (decision === 'reject') {
      this.sequence += 1;
      this.unshown.push({ proposalId: id, after: this.sealed.snapshot() });
      return;
    }
    const { request, data, revisions, says } = proposal;
    if (!this.sealed.isUnchanged(revisions) || namedBy(this.sealed, request, data) !== says) return;
    const before = this.sealed.snapshot();
    const change = rulesFor(request).carryOut(this.sealed, proposal);
    if (change === 'blocked') return;
    this.sequence += 1;
    this.sealed.revise(before, this.sequence);
    this.unshown.push({ proposalId: id, after: this.sealed.snapshot(), change });
  }

  private isSealed({ id }: Proposal): boolean {
    return this.unshown.some(({ proposalId }) => proposalId === id) || this.shown.has(id);
  }

  /** The tables show what is sealed, up to this proposal; one that the signer has not sealed is blocked. */
  show(proposal: Proposal): void {
    if (proposal.status !== 'processing' || proposal.applied) return;
    if (!this.isSealed(proposal)) {
      proposal.status = 'blocked';
      this.log(proposal, 'blocked');
      return;
    }
    while (!this.shown.has(proposal.id)) this.showNext();
    const change = this.shown.get(proposal.id);
    const tally = proposal.executedWith ?? this.tally(proposal);
    if (change) this.apply(proposal, tally, change);
    else this.reject(proposal, tally);
  }

  private showNext(): void {
    const next = this.unshown.shift();
    if (!next) throw new Error('nothing is sealed that is not shown');
    const { proposalId, after, change } = next;
    const before = { admins: this.admins(), threshold: this.threshold };
    const changed = [...after.members.values()].filter((member) => this.members.get(member.id) !== member);
    this.takeAfter(after);
    // Whoever only a row gives a wallet loses it to the one whom the admins give it.
    const inTheWay = this.intruders.filter(({ walletAddress }) =>
      changed.some((member) => member.walletAddress === walletAddress),
    );
    this.intruders = this.intruders.filter((intruder) => !inTheWay.includes(intruder));
    this.audit.push(...inTheWay.map(({ id }) => `member.differed ${id}`));
    this.audit.push(...(change?.audit ?? []));
    this.tellOthers(this.proposal(proposalId), before, change?.events ?? []);
    this.shown.set(proposalId, change);
  }

  private log({ id }: Proposal, verb: string): void {
    this.audit.push(`proposal.${verb} ${id}`);
  }

  private reject(proposal: Proposal, tally: Tally): void {
    proposal.status = 'rejected';
    this.close(proposal, tally);
    this.log(proposal, 'rejected');
  }

  private deployAgain(proposal: Proposal, tally: Tally): void {
    proposal.attempts += 1;
    proposal.status = 'processing';
    proposal.decision = 'approve';
    proposal.executedWith = tally;
    for (const deployment of proposal.deployments) {
      if (deployment.status === 'failed') deployment.status = 'pending';
    }
    this.log(proposal, 'executionRetried');
  }

  /** Completes what was sealed; only deployments may be left to do. */
  private apply(proposal: Proposal, tally: Tally, change: Change): void {
    proposal.applied = true;
    proposal.effective = change.effective === true;
    proposal.deployments = (change.deployments ?? [])
      .map((deployment): Deployment => ({ ...deployment, status: 'pending' }))
      .sort(byPlace);
    if (proposal.deployments.length > 0) return;
    proposal.status = 'completed';
    this.close(proposal, tally);
    this.log(proposal, 'executed');
  }

  private close(proposal: Proposal, frozen: Tally): void {
    proposal.closed = true;
    proposal.claims = [];
    proposal.frozen ??= frozen;
  }

  /** Every other open proposal learns what it is concerned by. */
  private tellOthers(proposal: Proposal, before: Electorate, events: readonly string[]): void {
    const after = { admins: this.admins(), threshold: this.threshold };
    for (const other of this.proposals.filter((one) => one !== proposal && !one.closed)) {
      for (const event of events) {
        const [subject = '', code = ''] = event.split(' ');
        if (other.names.has(subject)) this.notes.add(`${other.id} ${code}`);
      }
      const concerning = electorateChanges(before, after).filter(
        ({ adminId }) => adminId === undefined || other.votes.some(({ memberId }) => memberId === adminId),
      );
      for (const { code } of concerning) this.notes.add(`${other.id} ${code}`);
    }
  }

  // --- what comes from outside -----------------------------------------------------------------------------------

  /** A network has decided about one of its accounts. */
  deployed(deployment: Deployment, ok: boolean): void {
    if (deployment.status !== 'pending') return;
    const { accountId, networkId } = deployment;
    deployment.status = ok ? 'completed' : 'failed';
    if (!ok) {
      this.audit.push(`account.deploymentFailed ${accountId}`);
      return;
    }
    const account = this.accounts.get(accountId) as Account;
    if (account.networkIds.length === 0) this.audit.push(`account.created ${accountId}`);
    this.audit.push(`account.deployed ${accountId}`);
    const networkIds = [...new Set([...account.networkIds, networkId])].sort((one, two) => one - two);
    this.accounts.set(accountId, { ...account, networkIds });
    const sealed = this.sealed.accounts.get(accountId) as Account;
    this.sealed.accounts.set(accountId, { ...sealed, networkIds });
  }

  /** Every network has decided, if it has. */
  finish(proposal: Proposal): void {
    if (proposal.status !== 'processing') return;
    if (proposal.deployments.some(({ status }) => status === 'pending')) return;
    if (proposal.deployments.some(({ status }) => status === 'failed')) {
      proposal.status = 'failed';
      this.audit.push(`proposal.executionFailed ${proposal.id}`);
      return;
    }
    proposal.status = 'completed';
    this.close(proposal, proposal.executedWith ?? this.tally(proposal));
    this.audit.push(`proposal.executed ${proposal.id}`);
  }

  /** Its time is noted as over, if it is. */
  expire(proposal: Proposal): void {
    if (!proposal.aged || proposal.closed || proposal.expired || proposal.status === 'processing') return;
    const frozen = this.tally(proposal);
    proposal.expired = true;
    proposal.frozen = frozen;
    proposal.claims = [];
    if (!hasBegun(proposal)) this.close(proposal, frozen);
    this.audit.push(`proposal.expired ${proposal.id}`);
  }

  /** An operator closes it; what is done, or on its way, stays. */
  closeByOperator(proposal: Proposal): boolean {
    if (proposal.closed || proposal.status === 'processing') return false;
    if (proposal.effective || hasBegun(proposal)) return false;
    const tally = this.tally(proposal);
    proposal.status = 'failed';
    proposal.closedByOperator = true;
    this.close(proposal, tally);
    this.audit.push(`proposal.closed ${proposal.id}`);
    return true;
  }
}

/** Something of it is on chain. */
function hasBegun({ deployments }: Proposal): boolean {
  return deployments.some(({ status }) => status === 'completed');
}

/** Who decides, and how many of them it takes. */
interface Electorate {
  readonly admins: readonly Member[];
  readonly threshold: number;
}

/** What has changed in who decides; what is about an admin concerns only what that admin has signed. */
function electorateChanges(before: Electorate, after: Electorate): { code: string; adminId?: string }[] {
  const nowOf = ({ id }: Member) => after.admins.find((admin) => admin.id === id);
  const removed = before.admins.filter((admin) => nowOf(admin) === undefined);
  const moved = before.admins.filter((admin) => {
    const now = nowOf(admin);
    return (
      now !== undefined && (now.walletAddress !== admin.walletAddress || now.walletKind !== admin.walletKind)
    );
  });
  const added = after.admins.filter(({ id }) => !before.admins.some((admin) => admin.id === id));
  return [
    ...(before.threshold === after.threshold ? [] : [{ code: 'thresholdChanged' }]),
    ...removed.map(({ id }) => ({ code: 'adminRemoved', adminId: id })),
    ...moved.map(({ id }) => ({ code: 'walletChanged', adminId: id })),
    ...added.map(({ id }) => ({ code: 'adminAdded', adminId: id })),
  ];
}

function byPlace(one: Deployment, two: Deployment): number {
  if (one.accountId !== two.accountId) return one.accountId < two.accountId ? -1 : 1;
  return one.networkId - two.networkId;
}
