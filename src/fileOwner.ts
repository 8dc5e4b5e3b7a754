import { chownSync, type Stats, statSync } from 'node:fs';

/** Whose a file is. */
export type FileOwner = Pick<Stats, 'uid' | 'gid'>;

/** Gives a file to a user, where it is not theirs. Throws where this process may not. */
export function giveTo({ uid, gid }: FileOwner, path: string): void {
  if (statSync(path).uid !== uid) chownSync(path, uid, gid);
}

/**
 * Gives what root has written to the owner of another file or folder: root runs commands in place of the signer, which has to
 * read it. Other users own what they write.
 */
export function giveToOwnerOf(like: string, path: string): void {
  if (process.getuid?.() === 0) giveTo(statSync(like), path);
}
