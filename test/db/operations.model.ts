/**
 * A small model of an organization: who is in it, what is proposed, and what becomes of that. It is written from the
 * rules of the product, with plain lists and no database, and shares nothing with the code that it is compared with.
 */

export type VoteType = 'approve' | 'reject';

/** How something is refused. */
export type Refusal =
  | 'validationError'
  | 'conflict'
  | 'forbidden'
  | 'invalidSignature'
  | 'thresholdNotMet'
  | 'proposalExpired';

export interface Member {
  readonly id: string;
  readonly name: string;
  readonly type: 'user' | 'api';
  readonly walletAddress: string;
}

export interface Group {
  readonly id: string;
  readonly name: string;
  /** Ascending. */
  readonly memberIds: readonly string[];
}

export interface Account {
  readonly id: string;
  readonly name: string;
  /** Ascending. Nobody sees an account before it is on one. */
  readonly networkIds: readonly number[];
}

type Setting =
  | { readonly type: 'user'; readonly memberId: string }
  | { readonly type: 'group'; readonly groupId: string };

/** The part of a policy that organization operations care about: what it names. */
export interface PolicyContent {
  readonly name: string;
  readonly networkId: number;
  readonly accountIds: readonly string[] | null;
  readonly initiator: Setting | null;
  readonly approver: (Setting & { readonly threshold: number }) | null;
}

export interface Policy extends PolicyContent {
  readonly id: string;
}

export interface MemberUpdate {
  readonly action: 'addMember' | 'removeMember';
  readonly id: string;
}

/** A request to change the organization. */
export type Request =
  | { readonly kind: 'members/create'; readonly items: readonly Omit<Member, 'id'>[] }
  | {
      readonly kind: 'members/update';
      readonly items: readonly {
        readonly id: string;
        readonly name?: string;
        readonly walletAddress?: string;
      }[];
    }
  | { readonly kind: 'members/remove'; readonly ids: readonly string[] }
  | { readonly kind: 'groups/create'; readonly items: readonly Omit<Group, 'id'>[] }
  | {
      readonly kind: 'groups/update';
      readonly items: readonly {
        readonly id: string;
        readonly name?: string;
        readonly memberUpdates?: readonly MemberUpdate[];
      }[];
    }
  | { readonly kind: 'groups/delete'; readonly items: readonly { readonly id: string }[] }
  | {
      readonly kind: 'policies/create' | 'policies/update';
      readonly policies: readonly (PolicyContent & { readonly id?: string })[];
    }
  | { readonly kind: 'policies/remove'; readonly policyIds: readonly string[] }
  | {
      readonly kind: 'admins/update';
      readonly updates: readonly MemberUpdate[];
      readonly threshold: number;
    }
  | {
      readonly kind: 'accounts/create';
      readonly items: readonly { readonly name: string; readonly networkIds: readonly number[] }[];
    }
  | {
      readonly kind: 'accounts/update';
      readonly items: readonly {
        readonly id: string;
        readonly name?: string;
        readonly networkIds?: readonly number[];
      }[];
    };

export type Kind = Request['kind'];

/** How the votes of a proposal stand, or stood. */
export interface Tally {
  readonly signatureStatus: string;
  readonly threshold: number;
  readonly approvals: readonly Member[];
  readonly rejections: readonly Member[];
}

export interface Deployment {
  readonly accountId: string;
  readonly networkId: number;
  status: 'pending' | 'completed' | 'failed';
}

export interface Proposal {
  readonly id: string;
  readonly kind: Kind;
  readonly request: Request;
  /** Ids of what it creates, fixed when it is proposed. */
  readonly newIds: readonly string[];
  /** What is signed and has to come true. */
  readonly data: ProposedState;
  /** What it is about. */
  readonly names: ReadonlySet<string>;
  /** What nobody else may touch while it is open. */
  claims: readonly string[];
  readonly votes: { readonly memberId: string; readonly type: VoteType; readonly wallet: string }[];
  status: 'processing' | 'completed' | 'rejected' | 'failed' | 'blocked' | null;
  attempts: number;
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
  /** How it was decided since this was last emptied: rows of evidence. */
  readonly resolutions: ('approved' | 'rejected')[];
}

/** The state that a proposal shows, as far as its kind has one. */
export interface ProposedState {
  readonly members?: readonly (Pick<Member, 'id' | 'name' | 'walletAddress'> & { readonly type?: string })[];
  readonly groups?: readonly {
    readonly id: string;
    readonly name: string;
    readonly members: readonly Member[];
  }[];
  readonly policies?: readonly (PolicyContent & { readonly id?: string })[];
  readonly threshold?: number;
}

/** What a request would mean now. */
interface Judgement {
  /** Everything that is wrong with it. */
  readonly refusals: ReadonlySet<Refusal>;
  readonly data: ProposedState;
  readonly claims: readonly string[];
  readonly names: readonly string[];
}

/** What a change has done. */
interface Change {
  /** `action id` of the entries that it leaves in the audit log. */
  readonly audit: readonly string[];
  /** `subject code`: what becomes of things that others may name. */
  readonly events: readonly string[];
  readonly deployments?: readonly Omit<Deployment, 'status'>[];
  readonly effective?: boolean;
}

const byId = (one: { readonly id: string }, two: { readonly id: string }) => (one.id < two.id ? -1 : 1);
const unique = <T>(values: readonly T[]) => [...new Set(values)];
const repeats = (values: readonly unknown[]) => new Set(values).size !== values.length;
const walletClaim = (address: string) => `wallet:${address.toLowerCase()}`;

export class OrganizationModel {
  readonly members = new Map<string, Member>();
  readonly groups = new Map<string, Group>();
  readonly policies = new Map<string, Policy>();
  readonly accounts = new Map<string, Account>();
  readonly proposals: Proposal[] = [];
  /** `action id` of the audit entries that should have been written since this was last emptied. */
  audit: string[] = [];
  /** `proposalId code` of the notes that should have been made since this was last emptied. */
  notes = new Set<string>();
  adminIds: ReadonlySet<string> = new Set();
  threshold = 1;

  constructor(
    readonly adminsId: string,
    readonly networkIds: readonly number[],
  ) {}

  /** The same organization, to try something out on. */
  copy(): OrganizationModel {
    const copy = new OrganizationModel(this.adminsId, this.networkIds);
    for (const field of ['members', 'groups', 'policies', 'accounts'] as const) {
      for (const [id, thing] of this[field]) (copy[field] as Map<string, unknown>).set(id, thing);
    }
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
    copy.adminIds = this.adminIds;
    copy.threshold = this.threshold;
    return copy;
  }

  /** A proposal that is there. */
  proposal(id: string): Proposal {
    const proposal = this.proposals.find((one) => one.id === id);
    if (!proposal) throw new Error(`the model has no proposal ${id}`);
    return proposal;
  }

  /** What has been looked at is no news any more. */
  forgetNews(): void {
    this.audit = [];
    this.notes.clear();
    for (const proposal of this.proposals) proposal.resolutions.length = 0;
  }

  /** The admins of now, by id. */
  admins(): Member[] {
    return [...this.adminIds].flatMap((id) => this.members.get(id) ?? []).sort(byId);
  }

  holderOf(walletAddress: string): Member | undefined {
    const wanted = walletAddress.toLowerCase();
    return [...this.members.values()].find((member) => member.walletAddress.toLowerCase() === wanted);
  }

  /** Those accounts that can be seen. */
  visibleAccounts(): Account[] {
    return [...this.accounts.values()].filter(({ networkIds }) => networkIds.length > 0);
  }

  private account(id: string): Account | undefined {
    const account = this.accounts.get(id);
    return account && account.networkIds.length > 0 ? account : undefined;
  }

  private membersOf(ids: readonly string[]): Member[] {
    return ids.flatMap((id) => this.members.get(id) ?? []).sort(byId);
  }

  // --- proposing -------------------------------------------------------------------------------------------------

  /** What a request would mean now, and what is wrong with it. */
  judge(request: Request): Judgement {
    const refusals = new Set<Refusal>();
    const invalid = (condition: boolean) => condition && refusals.add('validationError');
    const inConflict = (condition: boolean) => condition && refusals.add('conflict');
    const noMember = (id: string) => !this.members.has(id);
    const done = (data: ProposedState, claims: readonly string[], names: readonly string[]): Judgement => ({
      refusals,
      data,
      claims: unique(claims),
      names: unique(names),
    });
    switch (request.kind) {
      case 'members/create': {
        const wallets = request.items.map(({ walletAddress }) => walletAddress.toLowerCase());
        invalid(repeats(wallets) || wallets.length === 0);
        inConflict(wallets.some((wallet) => this.holderOf(wallet) !== undefined));
        const claims = wallets.map(walletClaim);
        return done({}, claims, claims);
      }
      case 'members/update': {
        const { items } = request;
        const wallets = items.flatMap(({ walletAddress }) => walletAddress?.toLowerCase() ?? []);
        invalid(repeats(items.map(({ id }) => id)) || repeats(wallets) || items.length === 0);
        invalid(items.some(({ id }) => noMember(id)));
        const changed = items.flatMap((item) => {
          const before = this.members.get(item.id);
          return before ? [{ before, after: { ...before, ...item } }] : [];
        });
        inConflict(
          changed.some(({ after }) => {
            const holder = this.holderOf(after.walletAddress);
            if (holder === undefined || holder.id === after.id) return false;
            const next = changed.find(({ before }) => before.id === holder.id)?.after ?? holder;
            return next.walletAddress === holder.walletAddress;
          }),
        );
        invalid(
          changed.some(
            ({ before, after }) => before.name === after.name && before.walletAddress === after.walletAddress,
          ),
        );
        const claims = [
          ...items.map(({ id }) => `member:${id}`),
          ...changed
            .filter(({ before, after }) => before.walletAddress !== after.walletAddress)
            .map(({ after }) => walletClaim(after.walletAddress)),
        ];
        const members = changed.map(({ after: { id, name, walletAddress } }) => ({
          id,
          name,
          walletAddress,
        }));
        return done({ members }, claims, claims);
      }
      case 'members/remove': {
        const { ids } = request;
        invalid(repeats(ids) || ids.length === 0 || ids.some(noMember));
        inConflict(ids.some((id) => this.adminIds.has(id)));
        const claims = ids.map((id) => `member:${id}`);
        return done({ members: ids.flatMap((id) => this.members.get(id) ?? []) }, claims, claims);
      }
      case 'groups/create': {
        const { items } = request;
        const memberIds = items.flatMap((item) => item.memberIds);
        invalid(items.some((item) => repeats(item.memberIds)) || memberIds.some(noMember));
        invalid(repeats(items.map((item) => JSON.stringify([item.name, [...item.memberIds].sort()]))));
        return done(
          {},
          [],
          memberIds.map((id) => `member:${id}`),
        );
      }
      case 'groups/update': {
        const { items } = request;
        invalid(repeats(items.map(({ id }) => id)) || items.some(({ id }) => !this.groups.has(id)));
        const groups = items.flatMap(({ id, name, memberUpdates = [] }) => {
          const before = this.groups.get(id);
          const ids = memberUpdates.map((update) => update.id);
          invalid(repeats(ids) || ids.some(noMember));
          if (!before) return [];
          invalid(
            memberUpdates.some(
              (update) => before.memberIds.includes(update.id) === (update.action === 'addMember'),
            ),
          );
          invalid((name ?? before.name) === before.name && ids.length === 0);
          const members = this.membersOf(this.membershipAfter(before, memberUpdates));
          return [{ id, name: name ?? before.name, members }];
        });
        const claims = items.map(({ id }) => `group:${id}`);
        const concerned = [
          ...groups.flatMap(({ members }) => members.map(({ id }) => id)),
          ...items.flatMap(({ memberUpdates = [] }) => memberUpdates.map(({ id }) => id)),
        ];
        return done({ groups }, claims, [...claims, ...concerned.map((id) => `member:${id}`)]);
      }
      case 'groups/delete': {
        const ids = request.items.map(({ id }) => id);
        invalid(repeats(ids) || ids.length === 0 || ids.some((id) => !this.groups.has(id)));
        const claims = ids.map((id) => `group:${id}`);
        const groups = ids.flatMap((id) => {
          const group = this.groups.get(id);
          return group ? [{ id, name: group.name, members: this.membersOf(group.memberIds) }] : [];
        });
        return done({ groups }, claims, claims);
      }
      case 'policies/create':
      case 'policies/update': {
        const { policies } = request;
        const ids = policies.flatMap(({ id }) => id ?? []);
        invalid(policies.length === 0 || repeats(ids) || ids.some((id) => !this.policies.has(id)));
        for (const policy of policies) {
          invalid(!this.canBe(policy));
          const before = policy.id === undefined ? undefined : this.policies.get(policy.id);
          invalid(before !== undefined && samePolicy(before, policy));
        }
        invalid(
          repeats(policies.filter(({ id }) => id === undefined).map((policy) => JSON.stringify(policy))),
        );
        const claims = ids.map((id) => `policy:${id}`);
        return done({ policies }, claims, [...claims, ...policies.flatMap(subjectsOf)]);
      }
      case 'policies/remove': {
        const { policyIds } = request;
        invalid(
          repeats(policyIds) || policyIds.length === 0 || policyIds.some((id) => !this.policies.has(id)),
        );
        const claims = policyIds.map((id) => `policy:${id}`);
        return done({ policies: policyIds.flatMap((id) => this.policies.get(id) ?? []) }, claims, claims);
      }
      case 'admins/update': {
        const { updates, threshold } = request;
        const ids = updates.map(({ id }) => id);
        invalid(repeats(ids) || ids.some(noMember));
        invalid(updates.some(({ action, id }) => this.adminIds.has(id) === (action === 'addMember')));
        const members = this.membersOf(this.adminsAfter(updates));
        invalid(!members.some(({ type }) => type === 'api'));
        invalid(threshold < 1 || threshold > members.length);
        invalid(updates.length === 0 && threshold === this.threshold);
        return done(
          { members, threshold },
          ['admins'],
          [...members.map(({ id }) => `member:${id}`), ...ids.map((id) => `member:${id}`)],
        );
      }
      case 'accounts/create': {
        const networkIds = request.items.flatMap((item) => item.networkIds);
        invalid(networkIds.some((id) => !this.networkIds.includes(id)));
        invalid(request.items.some((item) => item.networkIds.length === 0 || repeats(item.networkIds)));
        invalid(
          repeats(request.items.map((item) => JSON.stringify([item.name, [...item.networkIds].sort()]))),
        );
        return done(
          {},
          [],
          networkIds.map((id) => `network:${id}`),
        );
      }
      case 'accounts/update': {
        const { items } = request;
        invalid(repeats(items.map(({ id }) => id)));
        for (const { id, name, networkIds } of items) {
          const account = this.account(id);
          invalid(account === undefined);
          invalid(networkIds !== undefined && (networkIds.length === 0 || repeats(networkIds)));
          for (const networkId of networkIds ?? []) {
            invalid(!this.networkIds.includes(networkId));
            invalid(account?.networkIds.includes(networkId) === true);
          }
          invalid((name ?? account?.name) === account?.name && (networkIds ?? []).length === 0);
        }
        const claims = items.map(({ id }) => `account:${id}`);
        const networks = items.flatMap(({ networkIds }) => networkIds ?? []);
        return done({}, claims, [...claims, ...networks.map((id) => `network:${id}`)]);
      }
    }
  }

  private membershipAfter(group: Group, updates: readonly MemberUpdate[]): string[] {
    return changed(group.memberIds, updates);
  }

  private adminsAfter(updates: readonly MemberUpdate[]): string[] {
    return changed([...this.adminIds], updates);
  }

  /** True when all that a policy names is there, and its approvers are enough. */
  private canBe(policy: PolicyContent): boolean {
    const { approver } = policy;
    const isThere = (subject: string): boolean => {
      const [type, id = ''] = subject.split(':');
      if (type === 'account') return this.account(id) !== undefined;
      if (type === 'member') return this.members.has(id);
      if (type === 'group') return this.groups.has(id);
      return this.networkIds.includes(Number(id));
    };
    if (!subjectsOf(policy).every(isThere)) return false;
    if (approver?.type !== 'group') return true;
    return approver.threshold <= (this.groups.get(approver.groupId)?.memberIds.length ?? 0);
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
      data,
      names: new Set([...names, ...own]),
      claims: [...claims, ...own].sort(),
      votes: [],
      status: null,
      attempts: 0,
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

  private counted({ votes }: Proposal, type: VoteType): Member[] {
    return this.admins().filter((admin) =>
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
  isOpen({ closed, aged, status, deployments }: Proposal): boolean {
    const begun = deployments.some((deployment) => deployment.status === 'completed');
    return !closed && (!aged || status === 'processing' || (status === 'failed' && begun));
  }

  private isDecided({ status, closedByOperator }: Proposal): boolean {
    return closedByOperator || status === 'processing' || status === 'completed' || status === 'rejected';
  }

  /** A valid signature of a wallet. Given again with `execute`, it is accepted while its decision can be executed. */
  vote(proposal: Proposal, type: VoteType, wallet: string, execute = false): Refusal | undefined {
    const voter = this.admins().find(({ walletAddress }) => walletAddress === wallet);
    if (!voter) return 'forbidden';
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
    const begun = proposal.deployments.some(({ status }) => status === 'completed');
    if (this.isDecided(proposal)) return 'conflict';
    if (proposal.closed) return 'proposalExpired';
    if (proposal.aged) {
      const finishes = type === 'approve' && proposal.status === 'failed' && begun;
      if (!finishes) return 'proposalExpired';
    } else {
      if (this.counted(proposal, type).length < this.threshold) return 'thresholdNotMet';
      if (type === 'reject' && (proposal.effective || begun)) return 'conflict';
    }
    const hasFailed = proposal.status === 'failed' || proposal.status === 'blocked';
    return byOperator && !hasFailed ? 'conflict' : undefined;
  }

  /** Executes an outcome that `refusesExecution` does not refuse. */
  execute(proposal: Proposal, type: VoteType): void {
    const tally = this.tally(proposal);
    const log = (verb: string) => this.audit.push(`proposal.${verb} ${proposal.id}`);
    if (type === 'reject') {
      proposal.status = 'rejected';
      proposal.resolutions.push('rejected');
      this.close(proposal, tally);
      log('rejected');
      return;
    }
    proposal.attempts += 1;
    if (proposal.applied) {
      proposal.status = 'processing';
      proposal.executedWith = tally;
      for (const deployment of proposal.deployments) {
        if (deployment.status === 'failed') deployment.status = 'pending';
      }
      log('executionRetried');
      return;
    }
    const before = { admins: this.admins(), threshold: this.threshold };
    const change = this.carryOut(proposal);
    if (change === 'blocked') {
      proposal.status = 'blocked';
      log('blocked');
      return;
    }
    proposal.applied = true;
    proposal.executedWith = tally;
    proposal.effective = change.effective === true;
    proposal.resolutions.push('approved');
    proposal.deployments = (change.deployments ?? [])
      .map((deployment): Deployment => ({ ...deployment, status: 'pending' }))
      .sort(byPlace);
    this.audit.push(...change.audit);
    if (proposal.deployments.length > 0) {
      proposal.status = 'processing';
      log('executionStarted');
    } else {
      proposal.status = 'completed';
      this.close(proposal, tally);
      log('executed');
    }
    this.tellOthers(proposal, before, change.events);
  }

  private close(proposal: Proposal, frozen: Tally): void {
    proposal.closed = true;
    proposal.claims = [];
    proposal.frozen ??= frozen;
  }

  /** Every other open proposal learns what it is concerned by. */
  private tellOthers(
    proposal: Proposal,
    before: { readonly admins: readonly Member[]; readonly threshold: number },
    events: readonly string[],
  ): void {
    const after = this.admins();
    for (const other of this.proposals.filter((one) => one !== proposal && !one.closed)) {
      const tell = (code: string) => this.notes.add(`${other.id} ${code}`);
      const signed = (id: string) => other.votes.some(({ memberId }) => memberId === id);
      if (before.threshold !== this.threshold) tell('thresholdChanged');
      for (const admin of before.admins) {
        const now = after.find(({ id }) => id === admin.id);
        if (!now && signed(admin.id)) tell('adminRemoved');
        if (now && now.walletAddress !== admin.walletAddress && signed(admin.id)) tell('walletChanged');
      }
      for (const admin of after) {
        if (!before.admins.some(({ id }) => id === admin.id) && signed(admin.id)) tell('adminAdded');
      }
      for (const event of events) {
        const [subject = '', code = ''] = event.split(' ');
        if (other.names.has(subject)) tell(code);
      }
    }
  }

  /** Makes the change, if it would come out exactly as it was shown. */
  private carryOut({ request, data, newIds }: Proposal): Change | 'blocked' {
    const stands = ({ id, walletAddress }: { readonly id: string; readonly walletAddress: string }) =>
      this.members.get(id)?.walletAddress === walletAddress;
    switch (request.kind) {
      case 'members/create': {
        if (request.items.some(({ walletAddress }) => this.holderOf(walletAddress))) return 'blocked';
        const created = request.items.map((item, i) => ({ ...item, id: newIds[i] ?? '' }));
        for (const member of created) this.members.set(member.id, member);
        return {
          audit: newIds.map((id) => `member.created ${id}`),
          events: created.map(({ walletAddress }) => `${walletClaim(walletAddress)} walletTaken`),
        };
      }
      case 'members/update': {
        const members = data.members ?? [];
        const possible = members.every(({ id, walletAddress }) => {
          const holder = this.holderOf(walletAddress);
          const next = members.find((member) => member.id === holder?.id) ?? holder;
          const free =
            holder === undefined || holder.id === id || next?.walletAddress !== holder.walletAddress;
          return this.members.has(id) && free;
        });
        if (!possible) return 'blocked';
        const events: string[] = [];
        for (const { id, name, walletAddress } of members) {
          const before = this.members.get(id) as Member;
          if (before.walletAddress !== walletAddress) {
            events.push(`member:${id} walletChanged`, `${walletClaim(walletAddress)} walletTaken`);
          }
          this.members.set(id, { ...before, name, walletAddress });
        }
        return { audit: members.map(({ id }) => `member.updated ${id}`), events };
      }
      case 'members/remove': {
        const members = data.members ?? [];
        if (!members.every(stands) || members.some(({ id }) => this.adminIds.has(id))) return 'blocked';
        const ids = members.map(({ id }) => id);
        const groups = [...this.groups.values()].filter((group) =>
          group.memberIds.some((id) => ids.includes(id)),
        );
        for (const id of ids) this.members.delete(id);
        for (const group of groups) {
          const memberIds = group.memberIds.filter((id) => !ids.includes(id));
          this.groups.set(group.id, { ...group, memberIds });
        }
        return {
          audit: [
            ...ids.map((id) => `member.removed ${id}`),
            ...groups.map(({ id }) => `group.updated ${id}`),
          ],
          events: [
            ...ids.map((id) => `member:${id} memberRemoved`),
            ...groups.map(({ id }) => `group:${id} groupChanged`),
          ],
        };
      }
      case 'groups/create': {
        if (request.items.some(({ memberIds }) => memberIds.some((id) => !this.members.has(id)))) {
          return 'blocked';
        }
        for (const [i, { name, memberIds }] of request.items.entries()) {
          const id = newIds[i] ?? '';
          this.groups.set(id, { id, name, memberIds: [...memberIds].sort() });
        }
        return { audit: newIds.map((id) => `group.created ${id}`), events: [] };
      }
      case 'groups/update': {
        const shown = data.groups ?? [];
        for (const [i, { id, members }] of shown.entries()) {
          const group = this.groups.get(id);
          if (!group || !members.every(stands)) return 'blocked';
          const after = this.membershipAfter(group, request.items[i]?.memberUpdates ?? []);
          if (after.join() !== members.map((member) => member.id).join()) return 'blocked';
        }
        for (const { id, name, members } of shown) {
          this.groups.set(id, { id, name, memberIds: members.map((member) => member.id) });
        }
        return {
          audit: shown.map(({ id }) => `group.updated ${id}`),
          events: shown.map(({ id }) => `group:${id} groupChanged`),
        };
      }
      case 'groups/delete': {
        const shown = data.groups ?? [];
        for (const { id, members } of shown) {
          const group = this.groups.get(id);
          // Whoever has left it since is no loss; whoever came was never shown.
          const known = members.map((member) => member.id);
          if (!group || group.memberIds.some((memberId) => !known.includes(memberId))) return 'blocked';
        }
        for (const { id } of shown) this.groups.delete(id);
        return {
          audit: shown.map(({ id }) => `group.deleted ${id}`),
          events: shown.map(({ id }) => `group:${id} groupDeleted`),
        };
      }
      case 'policies/create':
      case 'policies/update': {
        const { policies } = request;
        if (!policies.every((policy) => this.canBe(policy))) return 'blocked';
        if (policies.some(({ id }) => id !== undefined && !this.policies.has(id))) return 'blocked';
        const fresh = [...newIds];
        const audit: string[] = [];
        const events: string[] = [];
        for (const policy of policies) {
          const id = policy.id ?? fresh.shift() ?? '';
          this.policies.set(id, { ...policy, id });
          audit.push(`policy.${policy.id === undefined ? 'created' : 'updated'} ${id}`);
          if (policy.id !== undefined) events.push(`policy:${id} policyChanged`);
        }
        return { audit, events };
      }
      case 'policies/remove': {
        const { policyIds } = request;
        if (policyIds.some((id) => !this.policies.has(id))) return 'blocked';
        for (const id of policyIds) this.policies.delete(id);
        return {
          audit: policyIds.map((id) => `policy.removed ${id}`),
          events: policyIds.map((id) => `policy:${id} policyRemoved`),
        };
      }
      case 'admins/update': {
        const members = data.members ?? [];
        if (!members.every(stands)) return 'blocked';
        if (this.adminsAfter(request.updates).join() !== members.map(({ id }) => id).join()) return 'blocked';
        this.adminIds = new Set(members.map(({ id }) => id));
        this.threshold = request.threshold;
        return { audit: [`admins.updated ${this.adminsId}`], events: [] };
      }
      case 'accounts/create': {
        for (const [i, { name }] of request.items.entries()) {
          const id = newIds[i] ?? '';
          this.accounts.set(id, { id, name, networkIds: [] });
        }
        return {
          audit: [],
          events: [],
          deployments: request.items.flatMap(({ networkIds }, i) =>
            networkIds.map((networkId) => ({ accountId: newIds[i] ?? '', networkId })),
          ),
        };
      }
      case 'accounts/update': {
        const present = request.items.some(({ id, networkIds = [] }) =>
          networkIds.some((networkId) => this.account(id)?.networkIds.includes(networkId)),
        );
        if (present) return 'blocked';
        const audit: string[] = [];
        for (const { id, name } of request.items) {
          const account = this.accounts.get(id) as Account;
          if (name === undefined || name === account.name) continue;
          this.accounts.set(id, { ...account, name });
          audit.push(`account.updated ${id}`);
        }
        return {
          audit,
          events: [],
          effective: audit.length > 0,
          deployments: request.items.flatMap(({ id, networkIds = [] }) =>
            networkIds.map((networkId) => ({ accountId: id, networkId })),
          ),
        };
      }
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
    const networkIds = unique([...account.networkIds, networkId]).sort((one, two) => one - two);
    this.accounts.set(accountId, { ...account, networkIds });
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
    const begun = proposal.deployments.some(({ status }) => status === 'completed');
    if (!begun) this.close(proposal, frozen);
    this.audit.push(`proposal.expired ${proposal.id}`);
  }

  /** An operator closes it; what is done, or on its way, stays. */
  closeByOperator(proposal: Proposal): boolean {
    const begun = proposal.deployments.some(({ status }) => status === 'completed');
    if (proposal.closed || proposal.status === 'processing' || proposal.effective || begun) return false;
    const tally = this.tally(proposal);
    proposal.status = 'failed';
    proposal.closedByOperator = true;
    this.close(proposal, tally);
    this.audit.push(`proposal.closed ${proposal.id}`);
    return true;
  }
}

function changed(ids: readonly string[], updates: readonly MemberUpdate[]): string[] {
  const after = new Set(ids);
  for (const { action, id } of updates) {
    if (action === 'addMember') after.add(id);
    else after.delete(id);
  }
  return [...after].sort();
}

function byPlace(one: Deployment, two: Deployment): number {
  if (one.accountId !== two.accountId) return one.accountId < two.accountId ? -1 : 1;
  return one.networkId - two.networkId;
}

/** What a policy is about. */
function subjectsOf({ networkId, accountIds, initiator, approver }: PolicyContent): string[] {
  return [
    `network:${networkId}`,
    ...(accountIds ?? []).map((id) => `account:${id}`),
    ...[initiator, approver].flatMap((setting) => {
      if (setting === null) return [];
      return setting.type === 'user' ? `member:${setting.memberId}` : `group:${setting.groupId}`;
    }),
  ];
}

function samePolicy(one: PolicyContent, two: PolicyContent): boolean {
  const text = ({ name, networkId, accountIds, initiator, approver }: PolicyContent) =>
    JSON.stringify([name, networkId, accountIds, initiator, approver]);
  return text(one) === text(two);
}
