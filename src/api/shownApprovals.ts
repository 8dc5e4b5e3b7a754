import { type Basis, basisText } from '../db/approvalLocks';
import type { StoredApproval } from '../db/storedApprovals';
import { isExpired, type Now } from '../domain/approval';
import { createBatcher, oneAtATime } from './batcher';

const MAX_KEPT = 2_000;
/** A longer text is made anew each time. */
const MAX_CHARACTERS = 16_384;

/** An approval as it was read, and up to which decision of its organization. */
interface Readable extends Basis {
  readonly record: Basis['record'] & Pick<StoredApproval, 'expiresAt' | 'updatedAt'>;
  readonly now: Now;
}

/** A text, and what it was made of. */
interface Shown {
  readonly id: string;
  readonly basis: string;
  readonly text: string;
}

/** How a request reads and shows one approval. */
export interface ToShow<V extends Readable> {
  readonly load: () => Promise<V>;
  readonly show: (approval: V) => unknown;
  /** Whether what is shown changes only with the version, the decisions of the admins and the expiry. */
  readonly isSteady: (record: V['record']) => boolean;
}

/** Finds the JSON text that shows an approval. `key`: the path of the approval, and whose it is. */
export type ShowApproval = <V extends Readable>(key: string, approval: ToShow<V>) => Promise<string>;

async function make<V extends Readable>({
  load,
  show,
  isSteady,
}: ToShow<V>): Promise<Shown & { kept: boolean }> {
  const approval = await load();
  const text = JSON.stringify({ data: show(approval) });
  const { record, now } = approval;
  const basis = basisText(approval, isExpired(record, now.time));
  return { id: record.id, basis, text, kept: text.length <= MAX_CHARACTERS && isSteady(record) };
}

async function assertSame<V extends Readable>(
  { id, basis, text }: Shown,
  approval: ToShow<V>,
): Promise<void> {
  const made = await make(approval);
  if (made.basis === basis && made.text !== text) {
    throw new Error(`${id} was shown as ${text}, and is ${made.text}`);
  }
}

/**
 * Keeps the texts that have shown approvals, and reads for each request whether the approval is still what its text was
 * made of: in one short statement for all requests that come while another is running.
 *
 * `compare`: makes each text anew all the same, and throws where it is another. That costs what is saved.
 */
export function createShownApprovals(
  readBases: (ids: readonly string[]) => Promise<ReadonlyMap<string, string>>,
  { compare }: { readonly compare: boolean },
): ShowApproval {
  const texts = new Map<string, Shown>();
  const readBasis = createBatcher(readBases, oneAtATime);

  return async (key, approval) => {
    const shown = texts.get(key);
    if (shown && shown.basis === (await readBasis(shown.id))) {
      if (compare) await assertSame(shown, approval);
      return shown.text;
    }
    const { kept, ...made } = await make(approval);
    texts.delete(key);
    const oldest = texts.keys().next().value;
    if (texts.size >= MAX_KEPT && oldest !== undefined) texts.delete(oldest);
    if (kept) texts.set(key, made);
    return made.text;
  };
}
