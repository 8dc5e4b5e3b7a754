/**
 * The rules of a transaction once more, slow and plain, written from the specification. It shares nothing with the
 * service: people are ids, a signature is an entry in a list.
 */

interface Person {
  readonly id: string;
  readonly wallet: string;
}

export type Setting = { readonly who: 'anyone' } | { readonly member: string } | { readonly group: string };

export interface Rules {
  readonly automatic: boolean;
  readonly initiators: Setting;
  /** Where it is not automatic. */
  readonly approvers: Setting;
  readonly threshold: number;
  readonly excludeInitiator: boolean;
}

/** Everything there is now. */
export interface OracleWorld {
  readonly members: readonly Person[];
  readonly groups: ReadonlyMap<string, readonly string[]>;
  readonly rules: Rules;
  readonly nowMs: number;
}

export type How = 'initiator' | 'approve' | 'reject';

/** Somebody signed, with that wallet, in that way, bound to that signature of the initiator. */
export interface Signed {
  readonly by: string;
  readonly wallet: string;
  readonly how: How;
  readonly about: Signed | null;
}

export interface Model {
  readonly initiator: string;
  readonly expiresMs: number;
  readonly signed: Signed[];
  /** The status of its execution. */
  execution: 'none' | 'running' | 'completed' | 'rejected' | 'failed' | 'blocked';
  /** The tally when its last execution began. */
  began: OracleTally | null;
  /** The tally at closing. */
  last: OracleTally | null;
}

interface OracleTally {
  readonly status: string;
  readonly threshold: number;
  readonly approvals: readonly string[];
  readonly rejections: readonly string[];
}

function isOneOf(world: OracleWorld, setting: Setting, id: string): boolean {
  if (!world.members.some((member) => member.id === id)) return false;
  if ('who' in setting) return true;
  if ('member' in setting) return setting.member === id;
  return (world.groups.get(setting.group) ?? []).includes(id);
}

/** "Approvers are looked up when they vote and again when it executes." */
export function mayGive(model: Model, world: OracleWorld, how: How, id: string): boolean {
  if (how === 'initiator') return id === model.initiator && world.members.some((member) => member.id === id);
  const { rules } = world;
  // "threshold 0; one rejection by any allowed initiator"
  if (rules.automatic) return how === 'reject' && isOneOf(world, rules.initiators, id);
  if (rules.excludeInitiator && id === model.initiator) return false;
  return isOneOf(world, rules.approvers, id);
}

/** With the wallet that its signer has now. */
function isFresh(world: OracleWorld, one: Signed): boolean {
  return world.members.some(({ id, wallet }) => id === one.by && wallet === one.wallet);
}

/** "The initiator signs first." */
export function initiation(model: Model, world: OracleWorld): Signed | null {
  for (const one of model.signed) {
    if (one.how === 'initiator' && one.by === model.initiator && isFresh(world, one)) {
      return one;
    }
  }
  return null;
}

/** "A vote also binds the hash of the initiator's signature." */
function counted(model: Model, world: OracleWorld, how: 'approve' | 'reject'): string[] {
  const first = initiation(model, world);
  const names = new Set<string>();
  for (const one of model.signed) {
    if (first === null || one.about !== first || one.how !== how) continue;
    if (isFresh(world, one) && mayGive(model, world, how, one.by)) names.add(one.by);
  }
  return [...names].sort();
}

function needed({ rules }: OracleWorld): { approve: number; reject: number } {
  if (rules.automatic) return { approve: 0, reject: 1 };
  const threshold = 'group' in rules.approvers ? rules.threshold : 1;
  return { approve: threshold, reject: threshold };
}

/** "Expiry is … valid while now <= expiry"; "while … processing … does not expire". */
export function isOver(model: Model, world: OracleWorld): boolean {
  return world.nowMs > model.expiresMs && model.execution !== 'running';
}

/** The tally now. "While it is processing", that of the beginning. */
export function oracleTally(model: Model, world: OracleWorld): OracleTally {
  if (model.last) return model.last;
  if (model.execution === 'running' && model.began) return model.began;
  const approvals = counted(model, world, 'approve');
  const rejections = counted(model, world, 'reject');
  const need = needed(world);
  const [yes, no] = [approvals.length >= need.approve, rejections.length >= need.reject];
  let status = 'pendingReviewSignatures';
  if (yes) status = 'approvalReady';
  if (no) status = 'rejectionReady';
  if (yes && no) status = 'approvalAndRejectionReady';
  if (initiation(model, world) === null) status = 'pendingInitiatorSignature';
  if (isOver(model, world)) status = 'expired';
  return { status, threshold: need.approve, approvals, rejections };
}

/** "Signing or executing what is processing, completed or rejected is 409; what is expired is 422." */
function ended(model: Model, world: OracleWorld): string | null {
  if (['running', 'completed', 'rejected'].includes(model.execution)) return 'conflict';
  return model.last || isOver(model, world) ? 'proposalExpired' : null;
}

/** What is answered to somebody who signs with the wallet they have now, and may: new, repeated, or the refusal. */
export function answerToVote(
  model: Model,
  world: OracleWorld,
  { how, by, execute }: { readonly how: How; readonly by: string; readonly execute: boolean },
): string {
  const end = ended(model, world);
  if (end) return end;
  const first = initiation(model, world);
  if (!first) return how === 'initiator' ? 'new' : 'conflict';
  // "One vote of each type per member; a member whose address changed may vote again."
  const isRepeated = how === 'initiator' || counted(model, world, how).includes(by);
  if (!isRepeated) return 'new';
  // "except with execute: true while that threshold is met"; "with the initiator's signature executes approval"
  const decision = how === 'initiator' ? 'approve' : how;
  return execute && answerToExecution(model, world, decision) === 'ok' ? 'repeated' : 'conflict';
}

/** What is answered to somebody who executes. */
export function answerToExecution(model: Model, world: OracleWorld, how: 'approve' | 'reject'): string {
  const end = ended(model, world);
  if (end) return end;
  if (!initiation(model, world)) return 'thresholdNotMet';
  return counted(model, world, how).length >= needed(world)[how] ? 'ok' : 'thresholdNotMet';
}
