import type { MemberSummary } from './approval';
import type { AdminSet } from './proposal';
import { quoted } from './quoted';
import { isSameWallet, walletText } from './wallet';

/** Which open approvals an event is noted on: all, those that name a subject, or those that a member has signed. */
export type NoteTarget =
  | { readonly all: true }
  | { readonly subject: string }
  | { readonly signedBy: string };

/** A change elsewhere that is noted on open approvals. */
export interface ExternalEvent {
  readonly target: NoteTarget;
  readonly code: string;
  /** In words. */
  readonly message: string;
}

function named({ id, name }: MemberSummary): string {
  return `${quoted(name)} (${id})`;
}

/** The events of a change of the admins, to note on open approvals: whose signature counts, and the threshold. */
export function adminChanges(before: AdminSet, after: AdminSet): ExternalEvent[] {
  const find = (set: AdminSet, id: string) => set.members.find((member) => member.id === id);
  const threshold: ExternalEvent[] =
    before.threshold === after.threshold
      ? []
      : [
          {
            target: { all: true },
            code: 'thresholdChanged',
            message: `the admin threshold is ${after.threshold} now; it was ${before.threshold}`,
          },
        ];
  const removed = before.members
    .filter((member) => !find(after, member.id))
    .map((member) => ({
      target: { signedBy: member.id },
      code: 'adminRemoved',
      message: `${named(member)} is not an admin anymore: their signatures no longer count`,
    }));
  const added = after.members
    .filter((member) => !find(before, member.id))
    .map((member) => ({
      target: { signedBy: member.id },
      code: 'adminAdded',
      message: `${named(member)} is an admin again: their signatures with the wallet ${walletText(member)} count`,
    }));
  const moved = after.members.flatMap((member) => {
    const old = find(before, member.id);
    if (!old || isSameWallet(old, member)) return [];
    return [
      {
        target: { signedBy: member.id },
        code: 'walletChanged',
        message:
          `the wallet of ${named(member)} changed from ${walletText(old)} to ${walletText(member)}: only signatures ` +
          'of the new wallet count, and they may sign again',
      },
    ];
  });
  return [...threshold, ...removed, ...added, ...moved];
}
