import type { TagColumn } from '../db/approvalTags';
import { setNewest } from '../setNewest';
import { afterRunOrSlow, createBatcher } from './batcher';

const MAX_RESPONSES = 2_000;
/** A longer response is made anew each time. */
const MAX_CHARACTERS = 16_384;

/** The JSON text of a response, and the tag of the approval that it shows. */
interface CachedResponse extends TagColumn {
  readonly id: string;
  readonly text: string;
}

/** An approval as it was read. */
interface TaggedApproval extends TagColumn {
  readonly record: { readonly id: string };
}

/** How an approval is read and shown. */
interface ApprovalSource<V extends TaggedApproval> {
  readonly load: () => Promise<V>;
  readonly show: (approval: V) => unknown;
  /** Whether what is shown changes only with the tag. */
  readonly isCacheable: (record: V['record']) => boolean;
}

/** The response that shows an approval, as JSON text. `key`: which approval, and whose it is. */
export type ShowApproval = <V extends TaggedApproval>(
  key: string,
  source: ApprovalSource<V>,
) => Promise<string>;

async function respond<V extends TaggedApproval>({
  load,
  show,
  isCacheable,
}: ApprovalSource<V>): Promise<CachedResponse & { readonly cacheable: boolean }> {
  const approval = await load();
  const text = JSON.stringify({ data: show(approval) });
  const { record, tag } = approval;
  return { id: record.id, tag, text, cacheable: text.length <= MAX_CHARACTERS && isCacheable(record) };
}

async function assertSame<V extends TaggedApproval>(
  { id, tag, text }: CachedResponse,
  source: ApprovalSource<V>,
): Promise<void> {
  const made = await respond(source);
  if (made.tag === tag && made.text !== text) {
    throw new Error(`${id} was shown as ${text}, and is ${made.text}`);
  }
}

/**
 * Caches the responses that show approvals. Each request reads the tag of its approval again; requests that come
 * meanwhile share the next statement. `compare`: also makes each response anew, and throws where it differs.
 */
export function createApprovalCache(
  readTags: (ids: readonly string[]) => Promise<ReadonlyMap<string, string>>,
  { compare }: { readonly compare: boolean },
): ShowApproval {
  const responses = new Map<string, CachedResponse>();
  const readTag = createBatcher(readTags, afterRunOrSlow);

  return async (key, source) => {
    const cached = responses.get(key);
    // A statement that others share may fail because of one of them: then this one is read by itself.
    const tag = cached && (await readTag(cached.id).catch(() => undefined));
    if (cached && cached.tag === tag) {
      if (compare) await assertSame(cached, source);
      setNewest(responses, key, cached, MAX_RESPONSES);
      return cached.text;
    }
    const { cacheable, ...made } = await respond(source);
    if (cacheable) setNewest(responses, key, made, MAX_RESPONSES);
    else responses.delete(key);
    return made.text;
  };
}
