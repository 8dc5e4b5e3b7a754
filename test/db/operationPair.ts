import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Address } from 'viem';
import { newId } from '../../src/db/ids';
import type { StoredProposal } from '../../src/db/storedProposals';
import { type PolicyView, policyOfView } from '../../src/domain/policy';
import type { ProposalState } from '../../src/domain/proposal';
import { findProposal } from '../../src/signer/store/proposalsToSeal';
import { policyDefinition, sorted } from './operationBodies';
import { keyOf, NOBODY, WALLET_KEYS } from './operationKeys';
import {
  ANY_PROPOSAL,
  LAST_NAME,
  LAST_PERSON,
  type PolicyWish,
  type Signing,
  type Step,
  type Toggle,
  type Wish,
} from './operationSteps';
import { OrganizationModel, type Proposal, type VoteType } from './operations.model';
import type { Refusal } from './operations.rules';
import { viewOfDatabase, viewOfModel } from './operationViews';
import {
  type Counts,
  expectSame,
  FIRST_POLICY,
  INTRUDER,
  NETWORK_IDS,
  NO_NETWORK,
  type Snapshot,
  type Stage,
  World,
} from './operationWorld';
import { type Member, Organization, type PolicyContent, type Request } from './organization.model';

/** So many wallets are somebody's from the first. */
const FAMILY_WALLETS = 6;
/** Numbers from here on pick members whom open proposals name. */
const FIRST_NAMED = 8;
/** Which of the founders the key belongs to that requests everything. */
const REQUESTING_BOT = 3;

/** One of several things done at the same time. */
interface Act {
  /** Does it; answers what it was told. */
  run(): Promise<Told>;
  /** Does the same to a model; false when the model would have been told something else. */
  play(model: OrganizationModel, told: Told, now: Snapshot): boolean;
  /** What follows where it was not refused; something else may happen before each. */
  readonly next?: readonly ((model: OrganizationModel) => void)[];
}

interface Told {
  readonly refusal: string | undefined;
  /** Of a proposal that was made. */
  readonly id?: string;
}

/** A step of one of several acts; false when the model would have been told something else. */
type Played = (model: OrganizationModel) => boolean;

/** The models that all orders of these steps come to; those of one act stay in their order. */
function* outcomesOf(
  model: OrganizationModel,
  acts: readonly (readonly Played[])[],
): Generator<OrganizationModel> {
  if (acts.every((steps) => steps.length === 0)) yield model;
  for (const [i, [step, ...later]] of acts.entries()) {
    if (!step) continue;
    const after = model.copy();
    if (step(after)) yield* outcomesOf(after, acts.with(i, later));
  }
}

/** An organization in the database and as a model, changed together and compared after every step. */
export class Pair {
  private readonly people: string[];
  private readonly walletsOf = new Map<string, Address[]>();
  private lastMessage = new Map<string, string>();
  readonly model: OrganizationModel;

  private constructor(readonly world: World) {
    const { last } = world;
    const first = new Organization(last.adminsId, NETWORK_IDS);
    for (const member of last.members) first.members.set(member.id, member);
    for (const group of last.groups) first.groups.set(group.id, group);
    for (const { id, name, networkIds } of last.accounts) first.accounts.set(id, { id, name, networkIds });
    for (const { id } of last.policies) first.policies.set(id, { id, ...FIRST_POLICY });
    first.adminIds = new Set(last.adminIds);
    first.threshold = last.threshold;
    first.revise(new Organization(last.adminsId, NETWORK_IDS), 0);
    this.model = new OrganizationModel(first);
    this.people = [...last.members]
      .sort((one, two) => walletNumber(one.walletAddress) - walletNumber(two.walletAddress))
      .map(({ id }) => id);
    this.rememberWallets();
  }

  static async make(stage: Stage): Promise<Pair> {
    return new Pair(await World.make(stage));
  }

  private get counts(): Counts {
    return this.world.stage.counts;
  }

  /** Who is a member, and with which wallets they ever were one. */
  private rememberWallets(): void {
    for (const { id, walletAddress } of this.model.members.values()) {
      if (!this.people.includes(id)) this.people.push(id);
      const wallets = this.walletsOf.get(id) ?? [];
      if (wallets.at(-1) !== walletAddress) wallets.push(walletAddress as Address);
      this.walletsOf.set(id, wallets);
    }
  }

  // --- picking ---------------------------------------------------------------------------------------------------

  /** One of all who ever were members, or a stranger; the last numbers pick those whom open proposals are about. */
  private person(index: number): string {
    const named = index < FIRST_NAMED ? [] : this.named();
    if (named.length > 0) return named[(index - FIRST_NAMED) % named.length] ?? '';
    return this.people[index % (this.people.length + 1)] ?? this.world.stage.foreignId;
  }

  /** Mostly one who is not an admin; the first numbers pick those whom open proposals are about. */
  private removable(index: number): string {
    const isAdmin = (id: string) => this.model.adminIds.has(id);
    const members = this.people.filter((id) => this.model.members.has(id) && !isAdmin(id));
    const named = this.named().filter((id) => members.includes(id));
    const among = index < FIRST_NAMED - 2 && named.length > 0 ? named : members;
    return among.length === 0 || index === LAST_PERSON
      ? this.person(index)
      : (among[index % among.length] ?? '');
  }

  private named(): string[] {
    const names = this.model.proposals.filter(({ closed }) => !closed).flatMap((open) => [...open.names]);
    const ids = names.flatMap((name) => (name.startsWith('member:') ? name.slice('member:'.length) : []));
    return this.people.filter((id) => ids.includes(id));
  }

  private walletAt(index: number): Address {
    return WALLET_KEYS[index % WALLET_KEYS.length]?.address ?? NOBODY.address;
  }

  private one<T extends { readonly id: string }>(
    things: Iterable<T>,
    prefix: Parameters<typeof newId>[0],
    index: number,
  ): string {
    const all = [...things];
    return all.length === 0 ? newId(prefix) : (all[index % all.length]?.id ?? '');
  }

  proposal(on: number): Proposal | undefined {
    const { proposals } = this.model;
    const open = proposals.filter((proposal) => this.model.isOpen(proposal));
    if (on === ANY_PROPOSAL || open.length === 0) return proposals.at(-1);
    return open[open.length - 1 - (on % open.length)];
  }

  private updates(toggles: readonly Toggle[], isIn: (id: string) => boolean) {
    return toggles.map(({ who, idle }) => {
      const id = this.person(who);
      return { action: isIn(id) === idle ? ('addMember' as const) : ('removeMember' as const), id };
    });
  }

  private policyOf(wish: PolicyWish): PolicyContent {
    const setting = (of: PolicyWish['initiator']) => {
      if (!of) return null;
      return of.group
        ? { type: 'group' as const, groupId: this.one(this.model.groups.values(), 'grp', of.of) }
        : { type: 'user' as const, memberId: this.person(of.of) };
    };
    const approver = setting(wish.approver);
    return {
      name: nameOf(wish.name),
      networkId: NETWORK_IDS[wish.network] ?? NO_NETWORK,
      accountIds:
        wish.account === null ? null : [this.one(this.model.visibleAccounts(), 'acc', wish.account)],
      initiator: setting(wish.initiator),
      approver: approver && { ...approver, threshold: approver.type === 'group' ? wish.threshold : 1 },
    };
  }

  /** The request that a wish comes to in the world of now. */
  requestOf(wish: Wish): Request {
    const { model } = this;
    switch (wish.kind) {
      case 'members/create':
        return {
          kind: wish.kind,
          items: wish.items.map(({ wallet, name, bot }) => ({
            name: nameOf(name),
            // Those that nobody had at first come first.
            walletAddress: this.walletAt(wallet + FAMILY_WALLETS),
            type: bot ? 'api' : 'user',
            walletKind: 'key',
          })),
        };
      case 'members/update':
        return {
          kind: wish.kind,
          items: wish.items.map(({ who, name, wallet, kind }) => ({
            id: this.person(who),
            ...(name === null ? {} : { name: nameOf(name) }),
            ...(wallet === null ? {} : { walletAddress: this.walletAt(wallet + FAMILY_WALLETS) }),
            ...(kind ? { walletKind: kind } : {}),
          })),
        };
      case 'members/remove':
        return { kind: wish.kind, ids: wish.whos.map((who) => this.removable(who)) };
      case 'groups/create':
        return {
          kind: wish.kind,
          items: wish.items.map(({ name, whos }) => ({
            name: nameOf(name),
            memberIds: whos.map((who) => this.person(who)),
          })),
        };
      case 'groups/update':
        return {
          kind: wish.kind,
          items: wish.items.map(({ group, name, toggles }) => {
            const id = this.one(model.groups.values(), 'grp', group);
            const memberIds = model.groups.get(id)?.memberIds ?? [];
            return {
              id,
              ...(name === null ? {} : { name: nameOf(name) }),
              ...(toggles.length === 0
                ? {}
                : { memberUpdates: this.updates(toggles, (memberId) => memberIds.includes(memberId)) }),
            };
          }),
        };
      case 'groups/delete':
        return {
          kind: wish.kind,
          items: wish.groups.map((group) => ({ id: this.one(model.groups.values(), 'grp', group) })),
        };
      case 'policies/create':
        return { kind: wish.kind, policies: wish.policies.map((policy) => this.policyOf(policy)) };
      case 'policies/update':
        return {
          kind: wish.kind,
          policies: [
            ...wish.policies.map((policy) => ({
              id: this.one(model.policies.values(), 'pol', policy.policy),
              ...this.policyOf(policy),
            })),
            ...wish.added.map((policy) => this.policyOf(policy)),
          ],
        };
      case 'policies/remove':
        return {
          kind: wish.kind,
          policyIds: wish.policies.map((policy) => this.one(model.policies.values(), 'pol', policy)),
        };
      case 'admins/update':
        return {
          kind: wish.kind,
          updates: this.updates(wish.toggles, (id) => model.adminIds.has(id)),
          threshold: wish.threshold,
        };
      case 'accounts/create':
        return {
          kind: wish.kind,
          items: wish.items.map(({ name, networks: of }) => ({
            name: nameOf(name),
            networkIds: networkIdsOf(of),
          })),
        };
      case 'accounts/update':
        return {
          kind: wish.kind,
          items: wish.items.map(({ account, name, networks: of }) => ({
            id: this.one(model.visibleAccounts(), 'acc', account),
            ...(name === null ? {} : { name: nameOf(name) }),
            ...(of === null ? {} : { networkIds: networkIdsOf(of) }),
          })),
        };
    }
  }

  // --- doing -----------------------------------------------------------------------------------------------------

  async take(step: Step): Promise<void> {
    switch (step.do) {
      case 'propose':
        await this.propose(step.wish);
        return;
      case 'reform': {
        const proposal = await this.propose(step.wish);
        if (proposal) await this.decide(proposal, 'approve');
        return;
      }
      case 'intrude':
        return this.intrude(step.wallet);
      default: {
        const proposal = this.proposal(step.on);
        if (proposal) await this.takeOn(proposal, step);
      }
    }
  }

  private async takeOn(
    proposal: Proposal,
    step: Exclude<Step, { do: 'propose' | 'reform' | 'intrude' }>,
  ): Promise<void> {
    switch (step.do) {
      case 'vote':
        return this.vote(proposal, step);
      case 'voteAgain': {
        const vote = proposal.votes[step.nth % Math.max(1, proposal.votes.length)];
        if (vote) await this.voteWith(proposal, vote.type, vote.wallet as Address, true);
        return;
      }
      case 'voteAll':
        for (const { walletAddress } of this.model.admins()) {
          await this.voteWith(proposal, step.type, walletAddress as Address);
        }
        return;
      case 'decide':
        return this.decide(proposal, step.type);
      case 'execute':
        return this.execute(proposal, step.type, { again: step.again });
      case 'retry':
        return this.execute(proposal, 'approve', { byOperator: true });
      case 'deploy': {
        const deployment = proposal.deployments[step.nth % Math.max(1, proposal.deployments.length)];
        if (deployment) await this.deploy(proposal, deployment, step.ok);
        return;
      }
      case 'deployAll':
        for (const [i, deployment] of proposal.deployments.entries()) {
          if (deployment.status === 'pending')
            await this.deploy(proposal, deployment, step.ok[i % step.ok.length] === true);
        }
        return this.finish(proposal);
      case 'finish':
        return this.finish(proposal);
      case 'age':
        return this.age(proposal);
      case 'expire':
        return this.expire(proposal);
      case 'lapse':
        await this.age(proposal);
        return this.expire(proposal);
      case 'close':
        return this.close(proposal);
    }
  }

  /** What a request can be refused with: a key whose bot is no longer an admin may request nothing. */
  private refusalsOf(model: OrganizationModel, request: Request): ReadonlySet<Refusal> {
    const { refusals } = model.judge(request);
    const bot = this.people[REQUESTING_BOT] ?? '';
    if (model.adminIds.has(bot)) return refusals;
    const malformed = [...refusals].filter((refusal) => refusal === 'validationError');
    return new Set([model.members.has(bot) ? 'forbidden' : 'unauthorized', ...malformed]);
  }

  private async propose(wish: Wish): Promise<Proposal | undefined> {
    const request = this.requestOf(wish);
    const refusals = this.refusalsOf(this.model, request);
    const { id, refusal } = await this.world.propose(request);
    this.counts.add(`propose ${request.kind}: ${refusal ?? 'ok'}`);
    if (refusals.size > 0) {
      expect([...refusals]).toContain(refusal);
      await this.compare();
      return undefined;
    }
    const inTheWay = this.model.isInTheWay(request);
    if (inTheWay) this.counts.add('claim taken');
    expect([request.kind, refusal]).toEqual([request.kind, inTheWay ? 'conflict' : undefined]);
    let proposal: Proposal | undefined;
    if (!inTheWay) {
      const record = await findProposal(this.world.stage.owner, this.world.organizationId, id);
      if (!record) throw new Error(`proposal ${id} was not stored`);
      proposal = this.model.propose(id, request, newIdsOf(record)) as Proposal;
      expectSame(sorted(shownData(record)), sorted(dataOf(proposal, this.model)));
    }
    await this.compare();
    return proposal;
  }

  private async vote(proposal: Proposal, step: Extract<Step, { do: 'vote' }>): Promise<void> {
    const { who, type, how, execute } = step;
    const wallets = this.walletsOf.get(this.person(who)) ?? [NOBODY.address];
    const signer = (how === 'formerWallet' ? wallets[0] : wallets.at(-1)) ?? NOBODY.address;
    if (how === 'right' || how === 'formerWallet') return this.voteWith(proposal, type, signer, execute);
    if (how === 'again') return this.repeatMessage(proposal, type, signer);
    return this.voteInvalidly(proposal, type, { how, signer });
  }

  /** Delivers the last message of a proposal once more. */
  private async repeatMessage(proposal: Proposal, type: VoteType, signer: Address): Promise<void> {
    const messageId = this.lastMessage.get(proposal.id);
    if (messageId === undefined) return;
    const refusal = await this.world.vote(proposal.id, type, { signer, messageId });
    this.counts.add('vote again: no effect');
    expect(refusal).toBeUndefined();
    await this.compare();
  }

  /** Delivers a signature that is not of this vote. */
  private async voteInvalidly(
    proposal: Proposal,
    type: VoteType,
    { how, signer }: { how: Signing; signer: Address },
  ): Promise<void> {
    const refusal = await this.world.vote(proposal.id, type, {
      signer,
      ...(how === 'otherType'
        ? { statement: type === 'approve' ? ('RejectProposal' as const) : ('ApproveProposal' as const) }
        : {}),
      ...(how === 'otherContent' ? { content: { summary: 'Something better' } } : {}),
      ...(how === 'forged' ? { key: signer === NOBODY.address ? keyOf('another') : NOBODY } : {}),
    });
    this.counts.add(`vote ${how}: ${refusal ?? 'ok'}`);
    this.counts.add(`vote: ${refusal ?? 'ok'}`);
    // Nothing can be asked about a contract here, whatever it is said to have signed.
    const isContract = this.model
      .admins()
      .some((admin) => admin.walletAddress === signer && admin.walletKind === 'contract');
    expect(refusal).toBe(isContract ? 'forbidden' : 'invalidSignature');
    await this.compare();
  }

  /** Signs, and then executes as a workflow does when it is asked to. */
  private async voteWith(
    proposal: Proposal,
    type: VoteType,
    signer: Address,
    execute = false,
  ): Promise<void> {
    const messageId = randomUUID();
    const before = proposal.votes.length;
    const result = await this.world.recordVote(proposal.id, type, { signer, messageId, execute });
    const refusal = result.ok ? undefined : result.refusal.code;
    const expected = this.model.vote(proposal, type, signer, execute);
    const isRepeated = refusal === undefined && proposal.votes.length === before;
    this.counts.add(`vote ${type}: ${isRepeated ? 'repeated' : (refusal ?? 'ok')}`);
    expect(refusal).toBe(expected);
    if (refusal === undefined) this.lastMessage.set(proposal.id, messageId);
    // The execution of an approval may have begun with the vote.
    const begun = result.ok && result.state.executionStatus === 'processing' ? result.state : undefined;
    if (!begun) await this.compare();
    else this.counts.add('begun with the vote');
    if (refusal === undefined && execute) await this.execute(proposal, type, begun ? { begun } : {});
    if (isRepeated) expect(proposal.status).not.toBeNull();
  }

  /** Just as many admins as it takes vote, and the outcome is executed. */
  private async decide(proposal: Proposal, type: VoteType): Promise<void> {
    for (const { walletAddress } of this.model.admins()) {
      const { approvals, rejections, threshold } = this.model.tally(proposal);
      const voters = type === 'approve' ? approvals : rejections;
      if (voters.length >= threshold || !this.model.isOpen(proposal)) break;
      if (voters.some((voter) => voter.walletAddress === walletAddress)) continue;
      await this.voteWith(proposal, type, walletAddress as Address);
    }
    await this.execute(proposal, type, {});
  }

  private async execute(
    proposal: Proposal,
    type: VoteType,
    options: { again?: boolean; byOperator?: boolean; begun?: ProposalState },
  ): Promise<void> {
    const { refusal, noted } = await this.world.execute(proposal.id, type, options);
    const expected = this.model.refusesExecution(proposal, type, options.byOperator === true);
    const by = options.byOperator ? 'retry' : `execute ${type}`;
    if (refusal !== undefined) this.counts.add(`${by}: ${refusal}`);
    expect(refusal).toBe(expected);
    if (expected === undefined) {
      this.model.execute(proposal, type);
      this.counts.add(`${by} ${proposal.kind}: ${proposal.status}`);
      this.counts.add(`executed: ${proposal.status}`);
      this.rememberWallets();
      expect(noted).toBe(this.model.notes.size > 0);
      if (noted) {
        const told = await this.world.refreshNoted(proposal.id);
        for (const note of this.model.notes) expect(told).toContain(note.split(' ')[0]);
        this.counts.add('note');
      }
    }
    await this.compare();
  }

  private async deploy(
    proposal: Proposal,
    deployment: Proposal['deployments'][number],
    ok: boolean,
  ): Promise<void> {
    await this.world.deploy(proposal.id, deployment, ok);
    this.model.deployed(deployment, ok);
    await this.compare();
  }

  private async finish(proposal: Proposal): Promise<void> {
    const before = proposal.status;
    await this.world.finish(proposal.id);
    this.model.finish(proposal);
    if (proposal.status !== before) {
      this.counts.add(`finish ${proposal.kind}: ${proposal.status}${proposal.aged ? ' late' : ''}`);
    }
    await this.compare();
  }

  private async age(proposal: Proposal): Promise<void> {
    await this.world.age(proposal.id);
    proposal.aged = true;
    await this.compare();
  }

  private async expire(proposal: Proposal): Promise<void> {
    const before = proposal.expired;
    await this.world.expire(proposal.id);
    this.model.expire(proposal);
    this.counts.add(`expire: ${proposal.expired && !before ? 'ok' : 'no effect'}`);
    await this.compare();
  }

  private async close(proposal: Proposal): Promise<void> {
    const closed = await this.world.close(proposal.id);
    expect(closed).toBe(this.model.closeByOperator(proposal));
    this.counts.add(`close: ${closed ? 'ok' : 'no effect'}`);
    await this.compare();
  }

  private async intrude(wallet: number): Promise<void> {
    const walletAddress = this.walletAt(wallet + FAMILY_WALLETS);
    const isTaken = this.model.intruders.some((other) => other.walletAddress === walletAddress);
    if (isTaken || this.model.holderOf(walletAddress)) return;
    const member: Member = {
      id: newId('mem'),
      name: INTRUDER,
      type: 'user',
      walletAddress,
      walletKind: 'key',
    };
    await this.world.intrude(member);
    this.model.intruders.push(member);
    this.people.push(member.id);
    this.counts.add('intrude');
    await this.compare();
  }

  // --- at the same time ------------------------------------------------------------------------------------------

  private actOf(step: Step): Act | undefined {
    const { world } = this;
    if (step.do === 'propose') {
      const request = this.requestOf(step.wish);
      return {
        run: () => world.propose(request),
        play: (model, { refusal, id = '' }, now) => {
          const refusals = this.refusalsOf(model, request);
          if (refusals.size > 0) return [...refusals].some((code) => code === refusal);
          if (model.isInTheWay(request)) return refusal === 'conflict';
          const record = now.proposals.find((proposal) => proposal.id === id);
          if (refusal !== undefined || !record) return false;
          return model.propose(id, request, newIdsOf(record)) !== 'conflict';
        },
      };
    }
    if (!('on' in step)) return undefined;
    const proposal = this.proposal(step.on);
    if (!proposal) return undefined;
    const { id } = proposal;
    switch (step.do) {
      case 'vote': {
        const signer = this.walletsOf.get(this.person(step.who))?.at(-1) ?? NOBODY.address;
        return {
          run: async () => ({ refusal: await world.vote(id, step.type, { signer }) }),
          play: (model, { refusal }) => model.vote(model.proposal(id), step.type, signer) === refusal,
        };
      }
      case 'execute':
        return {
          run: () => world.execute(id, step.type),
          play(model, { refusal }) {
            const expected = model.refusesExecution(model.proposal(id), step.type, false);
            if (expected === undefined && refusal === undefined) model.begin(model.proposal(id), step.type);
            return expected === refusal;
          },
          next: [(model) => model.seal(model.proposal(id)), (model) => model.show(model.proposal(id))],
        };
      case 'expire':
        return {
          async run() {
            await world.expire(id);
            return { refusal: undefined };
          },
          play(model) {
            model.expire(model.proposal(id));
            return true;
          },
        };
      case 'close':
        return {
          run: async () => ({ refusal: (await world.close(id)) ? undefined : 'conflict' }),
          play: (model, { refusal }) => model.closeByOperator(model.proposal(id)) === (refusal === undefined),
        };
      default:
        return undefined;
    }
  }

  /** Takes several steps at the same time. What comes of them must be what some order of them comes to. */
  async race(steps: readonly Step[]): Promise<void> {
    const acts = steps.flatMap((step) => this.actOf(step) ?? []);
    const before = this.world.last;
    const told = await Promise.all(acts.map((act) => act.run()));
    const now = await this.world.look();
    this.counts.steps += acts.length;
    for (const [i, { refusal }] of told.entries()) {
      this.counts.add(`at once ${steps[i]?.do}: ${refusal ?? 'ok'}`);
    }
    const view = viewOfDatabase(before, now);
    const played = acts.map(({ play, next = [] }, i): Played[] => {
      const of = told[i] as Told;
      const followed = next.map(
        (follow): Played =>
          (model) => {
            follow(model);
            return true;
          },
      );
      return [(model) => play(model, of, now), ...(of.refusal === undefined ? followed : [])];
    });
    const differences = (one: ReturnType<typeof viewOfModel>) =>
      Object.entries(one).filter(([key, value]) => !isDeepStrictEqual(value, view[key as keyof typeof view]))
        .length;
    let nearest: ReturnType<typeof viewOfModel> | undefined;
    for (const model of outcomesOf(this.model, played)) {
      const outcome = viewOfModel(model);
      if (differences(outcome) === 0) return;
      if (!nearest || differences(outcome) < differences(nearest)) nearest = outcome;
    }
    expect({ told, view }).toEqual({ told, view: nearest ?? 'what no order of them comes to' });
  }

  // --- comparing -------------------------------------------------------------------------------------------------

  /** The database is what the model is. */
  async compare(): Promise<void> {
    const before = this.world.last;
    const now = await this.world.look();
    this.counts.steps += 1;
    expectSame(viewOfDatabase(before, now), viewOfModel(this.model));
    this.model.forgetNews();
  }
}
function walletNumber(walletAddress: string): number {
  return WALLET_KEYS.findIndex(({ address }) => address === walletAddress);
}

/** The last one is the first in another case. */
function nameOf(index: number): string {
  return index === LAST_NAME ? 'NAME 0' : `Name ${index}`;
}

function networkIdsOf(indexes: readonly number[]): number[] {
  return indexes.map((index) => NETWORK_IDS[index] ?? NO_NETWORK);
}

/** The ids that a proposal gives to what it creates. */
function newIdsOf({ data, action, resourceType }: StoredProposal): string[] {
  if (action !== 'create' && resourceType !== 'policies') return [];
  const { items, policies } = data as { items?: Identified[]; policies?: Identified[] };
  return (items ?? policies ?? []).flatMap(({ id, revision }) => (revision === undefined ? [id] : []));
}

interface Identified {
  readonly id: string;
  /** Absent where it is new. */
  readonly revision?: number;
}

/** The data of a stored proposal; policies as they will be stored. */
function shownData({ resourceType, action, data }: StoredProposal): unknown {
  if (resourceType === 'policies') {
    const { policies } = data as unknown as { policies: (PolicyView & Identified)[] };
    return {
      policies: policies.map(({ id, revision, ...view }) => ({
        ...policyOfView(view as PolicyView),
        id,
        ...(revision === undefined ? {} : { revision }),
      })),
    };
  }
  if (resourceType !== 'accounts' || action !== 'create') return data;
  const { items } = data as unknown as { items: { address: string }[] };
  return { items: items.map(({ address: _, ...item }) => item) };
}

/** The data that a proposal must show and have signed. */
function dataOf({ request, data, newIds, revisions }: Proposal, { adminsId }: Organization): unknown {
  const created = <T extends object>(items: readonly T[]) =>
    items.map((item, i) => ({ ...item, id: newIds[i] }));
  const changed = <T extends { readonly id: string }>(items: readonly T[] = []) =>
    items.map((item) => ({ ...item, revision: revisions.get(item.id) }));
  switch (request.kind) {
    case 'members/create':
    case 'groups/create':
    case 'accounts/create':
      return { items: created<object>(request.items) };
    case 'accounts/update':
      return { items: changed(request.items) };
    case 'members/update':
    case 'members/remove':
      return { items: changed(data.members) };
    case 'groups/update':
    case 'groups/delete':
      return { items: changed(data.groups) };
    case 'admins/update':
      return { members: data.members, threshold: data.threshold, revision: revisions.get(adminsId) };
    case 'policies/create':
    case 'policies/update':
    case 'policies/remove': {
      const fresh = [...newIds];
      return {
        policies: data.policies?.map((policy) => ({
          ...policyDefinition(policy),
          ...(policy.id === undefined
            ? { id: fresh.shift() }
            : { id: policy.id, revision: revisions.get(policy.id) }),
        })),
      };
    }
  }
}
