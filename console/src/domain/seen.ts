import type { Payloads, VoteType } from '@orgwallet/client';

/** What somebody has read on a page: what it said, and the digests of what could be signed. */
interface Seen {
  readonly content?: string;
  readonly digests: { readonly [Vote in VoteType]?: string };
}

/** What payloads say, besides which vote they are and the signature that they are bound to. */
export function seenOf(payloads: Payloads): Seen {
  const all = Object.entries(payloads);
  const [, first] = all[0] ?? [];
  if (!first) return { digests: {} };
  const { domain, message } = first.typedData;
  const { initiatorSignatureHash: _, ...content } = message;
  return {
    content: JSON.stringify([domain, content]),
    digests: Object.fromEntries(all.map(([vote, { digest }]) => [vote, digest])),
  };
}

/** Whether something else would be signed than what was read. A further vote on the same is nothing else. */
export function hasChanged(seen: Seen, now: Seen): boolean {
  if (seen.content === undefined || now.content === undefined) return false;
  return (
    seen.content !== now.content ||
    (Object.keys(now.digests) as VoteType[]).some(
      (vote) => seen.digests[vote] !== undefined && seen.digests[vote] !== now.digests[vote],
    )
  );
}

/** What was read, with what has come and says the same. */
export const seenWith = (seen: Seen, now: Seen): Seen => ({
  ...seen,
  ...now,
  digests: { ...seen.digests, ...now.digests },
});
