/** What an organization has, in a small model of it: plain lists and no database. */

export interface Member {
  readonly id: string;
  readonly name: string;
  readonly type: 'user' | 'api';
  readonly walletAddress: string;
  readonly walletKind: 'key' | 'contract';
}

interface Group {
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

interface Policy extends PolicyContent {
  readonly id: string;
}

interface MemberUpdate {
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
        readonly walletKind?: Member['walletKind'];
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
      readonly kind: 'policies/create';
      readonly policies: readonly (PolicyContent & { readonly id?: string })[];
    }
  | {
      readonly kind: 'policies/update';
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

const byId = (one: { readonly id: string }, two: { readonly id: string }) => (one.id < two.id ? -1 : 1);

const RESOURCES = ['members', 'groups', 'policies', 'accounts'] as const;

/** Those who and what there is in an organization. */
export class Organization {
  readonly members = new Map<string, Member>();
  readonly groups = new Map<string, Group>();
  readonly policies = new Map<string, Policy>();
  readonly accounts = new Map<string, Account>();
  adminIds: ReadonlySet<string> = new Set();
  threshold = 1;
  /** The number of the decision that changed something last, by its id. */
  readonly revisions = new Map<string, number>();

  constructor(
    readonly adminsId: string,
    readonly networkIds: readonly number[],
  ) {}

  /** Becomes as another one is. */
  takeAfter(other: Organization): void {
    for (const field of [...RESOURCES, 'revisions'] as const) {
      this[field].clear();
      for (const [id, thing] of other[field]) (this[field] as Map<string, unknown>).set(id, thing);
    }
    this.adminIds = other.adminIds;
    this.threshold = other.threshold;
  }

  /** The same organization. */
  snapshot(): Organization {
    const same = new Organization(this.adminsId, this.networkIds);
    same.takeAfter(this);
    return same;
  }

  /** Remembers which decision has changed what differs from before. */
  revise(before: Organization, decision: number): void {
    for (const field of RESOURCES) {
      for (const [id, thing] of this[field]) {
        if (before[field].get(id) !== thing) this.revisions.set(id, decision);
      }
      for (const id of before[field].keys()) if (!this[field].has(id)) this.revisions.delete(id);
    }
    if (before.adminIds !== this.adminIds) this.revisions.set(this.adminsId, decision);
  }

  /** True while all of this is there and as it was then. */
  isUnchanged(seen: ReadonlyMap<string, number>): boolean {
    return [...seen].every(([id, revision]) => this.revisions.get(id) === revision);
  }

  /** The admins of now, by id. */
  admins(): Member[] {
    return this.membersOf([...this.adminIds]);
  }

  /** Those of the ids who are members, by id. */
  membersOf(ids: readonly string[]): Member[] {
    return ids.flatMap((id) => this.members.get(id) ?? []).sort(byId);
  }

  holderOf(walletAddress: string): Member | undefined {
    const wanted = walletAddress.toLowerCase();
    return [...this.members.values()].find((member) => member.walletAddress.toLowerCase() === wanted);
  }

  /** Those accounts that can be seen. */
  visibleAccounts(): Account[] {
    return [...this.accounts.values()].filter(({ networkIds }) => networkIds.length > 0);
  }

  visibleAccount(id: string): Account | undefined {
    return this.visibleAccounts().find((account) => account.id === id);
  }
}

/** The ids after some were added and some removed, ascending. */
export function idsAfter(ids: Iterable<string>, updates: readonly MemberUpdate[]): string[] {
  const after = new Set(ids);
  for (const { action, id } of updates) {
    if (action === 'addMember') after.add(id);
    else after.delete(id);
  }
  return [...after].sort();
}
