import type { Approval } from '@orgwallet/client';

/** What an organization does before its first payment, in this order. */
export type StepName = 'account' | 'fund' | 'policy' | 'send';

/** One of them. `waiting`: asked for, and not executed yet. */
export interface Step {
  readonly name: StepName;
  readonly state: 'done' | 'waiting' | 'next' | 'later';
  /** What was asked for. */
  readonly request?: Approval;
}

const creates = (resourceType: string, actions: readonly string[]) => (one: Approval) =>
  'resourceType' in one && one.resourceType === resourceType && actions.includes(one.action);
const isTransaction = (one: Approval) => !('resourceType' in one);

const ASKED: { readonly [Name in StepName]: (one: Approval) => boolean } = {
  account: creates('accounts', ['create']),
  fund: () => false,
  policy: creates('policies', ['create']),
  send: isTransaction,
};

/** Where an organization is on its way to the first payment; `open` are the open requests. */
export function firstSteps(
  done: { readonly [Name in StepName]: boolean },
  open: readonly Approval[],
): readonly Step[] {
  const names: readonly StepName[] = ['account', 'fund', 'policy', 'send'];
  let isNext = true;
  return names.map((name): Step => {
    if (done[name]) return { name, state: 'done' };
    const request = open.find(ASKED[name]);
    const state = isNext ? (request ? 'waiting' : 'next') : 'later';
    isNext = false;
    return { name, state, ...(request ? { request } : {}) };
  });
}
