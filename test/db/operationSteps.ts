import fc from 'fast-check';
import type { VoteType } from './operations.model';
import type { Kind } from './organization.model';

/**
 * What somebody wishes to propose, as small numbers that fast-check shrinks well. `who` picks one of all who ever were
 * members, or somebody who never was one; `wallet`, `group`, `policy`, `account` and `name` pick one of what there is.
 */
export type Wish =
  | { kind: 'members/create'; items: { wallet: number; name: number; bot: boolean }[] }
  | {
      kind: 'members/update';
      items: { who: number; name: number | null; wallet: number | null; kind?: 'key' | 'contract' | null }[];
    }
  | { kind: 'members/remove'; whos: number[] }
  | { kind: 'groups/create'; items: { name: number; whos: number[] }[] }
  | { kind: 'groups/update'; items: { group: number; name: number | null; toggles: Toggle[] }[] }
  | { kind: 'groups/delete'; groups: number[] }
  | { kind: 'policies/create'; policies: PolicyWish[] }
  | { kind: 'policies/update'; policies: (PolicyWish & { policy: number })[]; added: PolicyWish[] }
  | { kind: 'policies/remove'; policies: number[] }
  | { kind: 'admins/update'; toggles: Toggle[]; threshold: number }
  | { kind: 'accounts/create'; items: { name: number; networks: number[] }[] }
  | { kind: 'accounts/update'; items: { account: number; name: number | null; networks: number[] | null }[] };

/** Takes somebody out who is in, and in who is out; `idle` asks for what is so already. */
export interface Toggle {
  who: number;
  idle: boolean;
}

export interface PolicyWish {
  name: number;
  network: number;
  account: number | null;
  initiator: SettingWish | null;
  approver: SettingWish | null;
  threshold: number;
}

interface SettingWish {
  group: boolean;
  of: number;
}

/** How somebody signs. */
export type Signing =
  | 'right'
  /** The other statement: rejecting with an approval, approving with a rejection. */
  | 'otherType'
  /** Another proposal, or this one with another content. */
  | 'otherContent'
  /** In the name of somebody, with the key of nobody. */
  | 'forged'
  /** With a wallet that they had before. */
  | 'formerWallet'
  /** The last message of all, sent again. */
  | 'again';

/** One thing that happens. `on` picks one of the proposals, counted back from the newest. */
export type Step =
  | { do: 'propose'; wish: Wish }
  /** Proposed, signed by every admin, and carried out. */
  | { do: 'reform'; wish: Wish }
  | { do: 'vote'; on: number; who: number; type: VoteType; how: Signing; execute: boolean }
  /** Somebody who has voted signs again and asks to execute. */
  | { do: 'voteAgain'; on: number; nth: number }
  | { do: 'voteAll'; on: number; type: VoteType }
  | { do: 'execute'; on: number; type: VoteType; again: boolean }
  /** Every admin votes, and the outcome is executed. */
  | { do: 'decide'; on: number; type: VoteType }
  | { do: 'retry'; on: number }
  | { do: 'deploy'; on: number; nth: number; ok: boolean }
  /** Every network decides, and the execution ends. */
  | { do: 'deployAll'; on: number; ok: boolean[] }
  | { do: 'finish' | 'age' | 'expire' | 'lapse' | 'close'; on: number }
  /** Somebody gets into the tables past the service, with a wallet that may be promised. */
  | { do: 'intrude'; wallet: number };

const nat = (max: number) => fc.nat({ max });
const only = <T extends string>(...values: T[]) => fc.constantFrom(...values);
const some = <T>(arbitrary: fc.Arbitrary<T>, maxLength = 2) =>
  fc.array(arbitrary, { minLength: 1, maxLength, size: 'max' });
/** Mostly one of them. */
const few = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 3, arbitrary: fc.tuple(arbitrary) }, { weight: 1, arbitrary: some(arbitrary, 3) });

/** The largest number that stands for a person. */
export const LAST_PERSON = 11;
const who = nat(LAST_PERSON);
/** The largest number that stands for a name. */
export const LAST_NAME = 15;
const name = nat(LAST_NAME);
/** The wallet that the first of all members had at first; those below were nobody's. */
const FIRST_OWN_WALLET = 6;
/** Mostly one that nobody had at first. */
const wallet = fc.oneof({ weight: 4, arbitrary: nat(5) }, { weight: 1, arbitrary: nat(11) });
/** Now and then a member's wallet becomes a contract, and a key again. */
const walletKind = fc.oneof(
  { weight: 9, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.constantFrom('contract' as const, 'key' as const) },
);
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { freq: 2 });
const toggle: fc.Arbitrary<Toggle> = fc.record({
  who,
  idle: fc.oneof({ weight: 15, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
});
const setting = fc.option(fc.record({ group: fc.boolean(), of: nat(7) }), { freq: 2 });
const policyFields = {
  name,
  network: fc.oneof({ weight: 15, arbitrary: nat(2) }, { weight: 1, arbitrary: fc.constant(3) }),
  account: fc.option(nat(2), { freq: 1 }),
  initiator: setting,
  approver: setting,
  threshold: fc.constantFrom(1, 1, 1, 2),
};
const policy: fc.Arbitrary<PolicyWish> = fc.record(policyFields);
const networks = fc.uniqueArray(nat(2), { minLength: 1, maxLength: 3 });

const wishes: { [K in Kind]: fc.Arbitrary<Extract<Wish, { kind: K }>> } = {
  'members/create': fc.record({
    kind: fc.constant('members/create'),
    items: few(fc.record({ wallet, name, bot: fc.boolean() })),
  }),
  'members/update': fc.record({
    kind: fc.constant('members/update'),
    items: few(fc.record({ who, name: maybe(name), wallet: maybe(wallet), kind: walletKind })),
  }),
  'members/remove': fc.record({ kind: fc.constant('members/remove'), whos: few(who) }),
  'groups/create': fc.record({
    kind: fc.constant('groups/create'),
    items: few(fc.record({ name, whos: fc.uniqueArray(who, { maxLength: 3 }) })),
  }),
  'groups/update': fc.record({
    kind: fc.constant('groups/update'),
    items: few(
      fc.record({
        group: nat(3),
        name: maybe(name),
        toggles: fc.array(toggle, { maxLength: 2, size: 'max' }),
      }),
    ),
  }),
  'groups/delete': fc.record({ kind: fc.constant('groups/delete'), groups: few(nat(3)) }),
  'policies/create': fc.record({ kind: fc.constant('policies/create'), policies: few(policy) }),
  'policies/update': fc.record({
    kind: fc.constant('policies/update'),
    policies: few(fc.record({ ...policyFields, policy: nat(3) })),
    added: fc.array(policy, { maxLength: 1 }),
  }),
  'policies/remove': fc.record({ kind: fc.constant('policies/remove'), policies: few(nat(3)) }),
  'admins/update': fc.record({
    kind: fc.constant('admins/update'),
    toggles: fc.array(toggle, { maxLength: 2, size: 'max' }),
    threshold: fc.oneof(
      { weight: 8, arbitrary: fc.integer({ min: 1, max: 3 }) },
      { weight: 1, arbitrary: fc.constantFrom(0, 4, 6) },
    ),
  }),
  'accounts/create': fc.record({
    kind: fc.constant('accounts/create'),
    items: few(fc.record({ name, networks })),
  }),
  'accounts/update': fc.record({
    kind: fc.constant('accounts/update'),
    items: few(fc.record({ account: nat(2), name: maybe(name), networks: maybe(networks) })),
  }),
};

/** How often each kind is wished for, among the others. */
export type Weights = { readonly [K in Kind]?: number };

function wishOf(weights: Weights): fc.Arbitrary<Wish> {
  const kinds = Object.keys(weights) as Kind[];
  return fc.oneof(
    ...kinds.map((kind) => ({ weight: weights[kind] ?? 1, arbitrary: wishes[kind] as fc.Arbitrary<Wish> })),
  );
}

/** The last number picks the newest of all proposals, the others pick among the open ones. */
export const ANY_PROPOSAL = 4;
const on = nat(ANY_PROPOSAL);
const type = fc.constantFrom<VoteType>('approve', 'approve', 'approve', 'reject');
const execute = fc.boolean();
const how = fc.constantFrom<Signing>(
  ...Array<Signing>(8).fill('right'),
  'otherType',
  'otherContent',
  'forged',
  'formerWallet',
  'again',
);

/** What may happen where such proposals are made. */
function stepOf(weights: Weights): fc.Arbitrary<Step> {
  const wish = wishOf(weights);
  const step = (weight: number, arbitrary: fc.Arbitrary<Step>) => ({ weight, arbitrary });
  return fc.oneof(
    step(9, fc.record({ do: only('propose'), wish })),
    step(10, fc.record({ do: only('reform'), wish })),
    step(5, fc.record({ do: only('vote'), on, who, type, how, execute })),
    step(2, fc.record({ do: only('voteAgain'), on, nth: nat(3) })),
    step(4, fc.record({ do: only('voteAll'), on, type })),
    step(4, fc.record({ do: only('execute'), on, type, again: fc.boolean() })),
    step(8, fc.record({ do: only('decide'), on, type })),
    step(1, fc.record({ do: only('retry'), on })),
    step(1, fc.record({ do: only('deploy'), on, nth: nat(3), ok: fc.boolean() })),
    step(
      'accounts/create' in weights ? 4 : 1,
      fc.record({ do: only('deployAll'), on, ok: fc.array(fc.boolean(), { minLength: 2, maxLength: 3 }) }),
    ),
    step(4, fc.record({ do: only('finish', 'age', 'expire', 'lapse', 'lapse', 'close'), on })),
    step(1, fc.record({ do: only('intrude'), wallet })),
  );
}

/** Kinds of which the second, carried out first, may be in the way of the first. */
const MEETINGS: readonly (readonly [Kind, Kind])[] = [
  ['members/remove', 'admins/update'],
  ['admins/update', 'members/remove'],
  ['admins/update', 'members/update'],
  ['groups/create', 'members/remove'],
  ['groups/update', 'members/remove'],
  ['groups/update', 'members/update'],
  ['policies/create', 'groups/delete'],
  ['policies/create', 'members/remove'],
  ['policies/update', 'groups/update'],
];

/** One is proposed, another comes first, and then the first is decided. */
function meetingOf(weights: Weights): fc.Arbitrary<Step[]> {
  const meetings = MEETINGS.filter((kinds) => kinds.every((kind) => kind in weights));
  return fc
    .constantFrom(...meetings)
    .chain(([one, two]) =>
      fc.tuple(
        fc.record({ do: only('propose'), wish: wishes[one] as fc.Arbitrary<Wish> }),
        fc.record({ do: only('reform'), wish: wishes[two] as fc.Arbitrary<Wish> }),
        fc.record({ do: only('decide'), on: fc.constant(0), type: only('approve') }),
      ),
    );
}

/** One is signed, and then those who signed it change: their wallets, the kinds of them, who is an admin, how many it takes. */
function changedVotersOf(weights: Weights): fc.Arbitrary<Step[]> {
  const changes: fc.Arbitrary<Wish>[] = [wishes['admins/update']];
  if ('members/update' in weights) {
    const items = fc.tuple(
      fc.oneof(
        { weight: 3, arbitrary: fc.record({ who: nat(3), name: fc.constant(null), wallet: nat(5) }) },
        {
          weight: 1,
          arbitrary: fc.record({
            who: nat(3),
            ...{ name: fc.constant(null), wallet: fc.constant(null), kind: fc.constant('contract' as const) },
          }),
        },
      ),
    );
    changes.push(fc.record({ kind: fc.constant('members/update'), items }));
  }
  return fc.tuple(
    fc.record({ do: only('propose'), wish: wishOf(weights) }),
    fc.record({ do: only('voteAll'), on: fc.constant(0), type }),
    fc.record({ do: only('reform'), wish: fc.oneof(...changes) }),
    fc.oneof(
      fc.record({ do: only('vote'), on: fc.constant(0), who: nat(3), type, how, execute }),
      fc.record({ do: only('reform'), wish: fc.oneof(...changes) }),
    ),
    fc.oneof(
      fc.record({ do: only('execute'), on: fc.constant(0), type, again: fc.boolean() }),
      fc.record({ do: only('voteAgain'), on: fc.constant(0), nth: nat(3) }),
    ),
  );
}

/** One is signed with a wallet that then becomes another admin's, who signs as well. */
function handoverOf(weights: Weights): fc.Arbitrary<Step[]> {
  const moves = (who: number, wallet: fc.Arbitrary<number>) =>
    fc.record({
      do: only('reform'),
      wish: fc.record({
        kind: fc.constant('members/update' as const),
        items: fc.tuple(fc.record({ who: fc.constant(who), name: fc.constant(null), wallet })),
      }),
    });
  const signs = (who: number) =>
    fc.record({
      do: only('vote'),
      on: fc.constant(0),
      who: fc.constant(who),
      type,
      how: only('right'),
      execute: fc.constant(false),
    });
  return fc.tuple(
    fc.record({ do: only('propose'), wish: wishOf(weights) }),
    signs(0),
    moves(0, nat(5)),
    moves(1, fc.constant(FIRST_OWN_WALLET)),
    signs(1),
    signs(2),
    fc.record({ do: only('execute'), on: fc.constant(0), type, again: fc.boolean() }),
  );
}

/** One is proposed, and its time passes. */
function latenessOf(weights: Weights): fc.Arbitrary<Step[]> {
  const newest = fc.constant(ANY_PROPOSAL);
  return fc.tuple(
    fc.record({ do: only('propose'), wish: wishOf(weights) }),
    fc.record({ do: only('voteAll'), on: fc.constant(0), type }),
    fc.record({ do: only('age', 'lapse'), on: fc.constant(0) }),
    fc.record({ do: only('execute'), on: newest, type, again: fc.constant(false) }),
    fc.record({ do: only('vote'), on: newest, who, type, how: only('right'), execute }),
    fc.record({ do: only('expire'), on: newest }),
  );
}

/** Accounts are deployed, maybe not everywhere at once, maybe after their time. */
function deploymentOf(weights: Weights): fc.Arbitrary<Step[]> {
  const kind = fc.constantFrom<Kind>('accounts/create', 'accounts/create', 'accounts/update');
  const newest = fc.constant(ANY_PROPOSAL);
  const deployAll = fc.record({
    do: only('deployAll'),
    on: newest,
    ok: fc.array(fc.boolean(), { minLength: 2, maxLength: 3 }),
  });
  return kind.chain((one) =>
    fc.tuple(
      fc.record({ do: only('reform'), wish: wishes[one] as fc.Arbitrary<Wish> }),
      deployAll,
      fc.oneof(
        fc.record({ do: only('finish', 'lapse'), on: newest }),
        fc.record({ do: only('decide'), on: newest, type: only('reject') }),
        fc.record({ do: only('reform'), wish: wishes['accounts/update'] as fc.Arbitrary<Wish> }),
        fc.record({ do: only('propose'), wish: wishOf(weights) }),
      ),
      fc.record({ do: only('execute'), on: newest, type: only('approve'), again: fc.boolean() }),
      deployAll,
    ),
  );
}

/** Several steps, one after the other: something has happened or is open first, so that there is something to meet. */
export function sequenceOf(weights: Weights, minLength: number, maxLength: number): fc.Arbitrary<Step[]> {
  const proposed = fc.record({ do: only('propose'), wish: wishOf(weights) });
  const first = fc.oneof(
    { weight: 4, arbitrary: fc.array(proposed, { maxLength: 2, size: 'max' }) },
    { weight: 3, arbitrary: meetingOf(weights) },
    { weight: 2, arbitrary: changedVotersOf(weights) },
    ...('members/update' in weights ? [{ weight: 1, arbitrary: handoverOf(weights) }] : []),
    { weight: 1, arbitrary: latenessOf(weights) },
    ...('accounts/create' in weights ? [{ weight: 2, arbitrary: deploymentOf(weights) }] : []),
  );
  const rest = fc.array(stepOf(weights), { minLength, maxLength, size: 'max' });
  return fc.tuple(first, rest).map(([one, two]) => [...one, ...two]);
}

const KINDS_OF_RACES: readonly Kind[] = [
  'members/create',
  'members/update',
  'members/remove',
  'admins/update',
  'groups/create',
  'groups/update',
  'groups/delete',
  'policies/create',
  'policies/update',
];

/** Steps one after the other, and then some at the same time. */
export interface RaceSteps {
  readonly first: readonly Step[];
  readonly atOnce: readonly Step[];
}

/** Two proposals that may be in each other's way, signed by enough; then both are executed, and other things happen. */
export function raceOf(weights: Weights): fc.Arbitrary<RaceSteps> {
  // Just as many as it takes at first, so that others can still come.
  const vote = (at: number, by: number) =>
    fc.record({
      do: only('vote'),
      on: fc.constant(at),
      who: fc.constant(by),
      type: only('approve'),
      how: only('right'),
      execute: fc.constant(false),
    });
  const proposed = (kind: Kind) =>
    fc.record({ do: only('propose'), wish: wishes[kind] as fc.Arbitrary<Wish> });
  const first = fc
    .oneof(
      fc.constantFrom(...MEETINGS),
      fc.tuple(fc.constantFrom(...KINDS_OF_RACES), fc.constantFrom(...KINDS_OF_RACES)),
    )
    .chain(([one, two]) =>
      fc.tuple(proposed(one), proposed(two), vote(0, 0), vote(0, 1), vote(1, 0), vote(1, 1)),
    );
  const execute = (at: fc.Arbitrary<number>, outcome: fc.Arbitrary<VoteType> = only('approve')) =>
    fc.record({ do: only('execute'), on: at, type: outcome, again: fc.constant(false) });
  const another = fc.oneof(
    { weight: 3, arbitrary: execute(nat(1), type) },
    { weight: 3, arbitrary: fc.record({ do: only('propose'), wish: wishOf(weights) }) },
    {
      weight: 3,
      arbitrary: fc.record({
        do: only('vote'),
        on: nat(1),
        who: nat(4),
        type,
        how: only('right'),
        execute: fc.constant(false),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: only('expire', 'close'), on: nat(1) }) },
  );
  const atOnce = fc.tuple(execute(fc.constant(0)), fc.array(another, { minLength: 0, maxLength: 2 }));
  return fc.record({
    first,
    atOnce: fc.tuple(atOnce, execute(fc.constant(1))).map(([[one, others], two]) => [one, two, ...others]),
  });
}
