/**
 * The life of a transaction once more, slow and plain, from sections 3 to 6 of the decisions. It shares nothing with the
 * service: people are names, a signature is a sentence in a list.
 */

export interface Person {
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

/** "Somebody signed, with that wallet, in that way, on top of that signature of the initiator." */
export interface Sentence {
  readonly by: string;
  readonly wallet: string;
  readonly how: How;
  readonly about: Sentence | null;
}

export interface Story {
  readonly initiator: string;
  readonly expiresMs: number;
  readonly said: Sentence[];
  /** Where its execution stands. */
  execution: 'none' | 'running' | 'completed' | 'rejected' | 'failed' | 'blocked';
  /** How it stood when nothing could change any more. */
  last: Stand | null;
}

export interface Stand {
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
export function mayGive(story: Story, world: OracleWorld, how: How, id: string): boolean {
  if (how === 'initiator') return id === story.initiator && world.members.some((member) => member.id === id);
  const { rules } = world;
  // "threshold 0; one rejection by any allowed initiator"
  if (rules.automatic) return how === 'reject' && isOneOf(world, rules.initiators, id);
  if (rules.excludeInitiator && id === story.initiator) return false;
  return isOneOf(world, rules.approvers, id);
}

/** With the wallet that its signer has now. */
function isFresh(world: OracleWorld, sentence: Sentence): boolean {
  return world.members.some(({ id, wallet }) => id === sentence.by && wallet === sentence.wallet);
}

/** "The initiator signs first." */
export function begun(story: Story, world: OracleWorld): Sentence | null {
  for (const sentence of story.said) {
    if (sentence.how === 'initiator' && sentence.by === story.initiator && isFresh(world, sentence)) {
      return sentence;
    }
  }
  return null;
}

/** "A vote also binds the hash of the initiator's signature." */
export function counted(story: Story, world: OracleWorld, how: 'approve' | 'reject'): string[] {
  const first = begun(story, world);
  const names = new Set<string>();
  for (const sentence of story.said) {
    if (first === null || sentence.about !== first || sentence.how !== how) continue;
    if (isFresh(world, sentence) && mayGive(story, world, how, sentence.by)) names.add(sentence.by);
  }
  return [...names].sort();
}

function needed({ rules }: OracleWorld): { approve: number; reject: number } {
  if (rules.automatic) return { approve: 0, reject: 1 };
  const threshold = 'group' in rules.approvers ? rules.threshold : 1;
  return { approve: threshold, reject: threshold };
}

/** "Expiry is … valid while now <= expiry"; "while … processing … does not expire". */
export function isOver(story: Story, world: OracleWorld): boolean {
  return world.nowMs > story.expiresMs && story.execution !== 'running';
}

/** How it stands now. */
export function stand(story: Story, world: OracleWorld): Stand {
  if (story.last) return story.last;
  const approvals = counted(story, world, 'approve');
  const rejections = counted(story, world, 'reject');
  const need = needed(world);
  const [yes, no] = [approvals.length >= need.approve, rejections.length >= need.reject];
  let status = 'pendingReviewSignatures';
  if (yes) status = 'approvalReady';
  if (no) status = 'rejectionReady';
  if (yes && no) status = 'approvalAndRejectionReady';
  if (begun(story, world) === null) status = 'pendingInitiatorSignature';
  if (isOver(story, world)) status = 'expired';
  return { status, threshold: need.approve, approvals, rejections };
}

/** "Signing or executing what is processing, completed or rejected is 409; what is expired is 422." */
function settled(story: Story, world: OracleWorld): string | null {
  if (['running', 'completed', 'rejected'].includes(story.execution)) return 'conflict';
  return story.last || isOver(story, world) ? 'proposalExpired' : null;
}

/** What is answered to somebody who signs with the wallet they have now, and may. */
export function answerToVote(story: Story, world: OracleWorld, how: How, id: string): string {
  const end = settled(story, world);
  if (end) return end;
  const first = begun(story, world);
  if (how === 'initiator') return first ? 'conflict' : 'ok';
  if (!first) return 'conflict';
  // "One vote of each type per member; a member whose address changed may vote again."
  return counted(story, world, how).includes(id) ? 'conflict' : 'ok';
}

/** What is answered to somebody who executes. */
export function answerToExecution(story: Story, world: OracleWorld, how: 'approve' | 'reject'): string {
  const end = settled(story, world);
  if (end) return end;
  if (!begun(story, world)) return 'thresholdNotMet';
  return counted(story, world, how).length >= needed(world)[how] ? 'ok' : 'thresholdNotMet';
}
