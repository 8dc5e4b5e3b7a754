import {
  closeSync,
  constants,
  existsSync,
  fchownSync,
  fstatSync,
  openSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';

/** Whose a file is. */
export type FileOwner = Pick<Stats, 'uid' | 'gid'>;

/** The owner of a file; where there is none yet, of its folder. */
export function ownerOf(path: string): FileOwner {
  return statSync(existsSync(path) ? path : dirname(path));
}

/**
 * Gives an open file to a user, where it is not theirs. By its descriptor: at its path somebody may have put a link. Throws
 * where this process may not, and for a file that has other names.
 */
export function giveTo({ uid, gid }: FileOwner, descriptor: number): void {
  const found = fstatSync(descriptor);
  if (found.uid === uid) return;
  if (found.isFile() && found.nlink !== 1) throw new Error('it has other names, so it keeps its owner');
  fchownSync(descriptor, uid, gid);
}

/**
 * Gives what root has just written to another user: root runs commands in place of the signer, which has to read it. Other
 * users own what they write.
 */
export function giveAsRoot(owner: FileOwner, path: string): void {
  if (process.getuid?.() !== 0) return;
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    giveTo(owner, descriptor);
  } finally {
    closeSync(descriptor);
  }
}
