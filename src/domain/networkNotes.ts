import type { Note, Subject } from './approval';

/** Code of the note that a network of an approval is not configured any more. */
export const NETWORK_GONE = 'networkGone';
/** Code of the note that it is configured again. */
const NETWORK_BACK = 'networkBack';

/** The note that a network is not configured any more, or is configured again. */
export function networkNote(subject: Subject, networkId: number, isGone: boolean): Omit<Note, 'at'> {
  const named = `network ${networkId}, which the ${subject} names, is`;
  return isGone
    ? {
        code: NETWORK_GONE,
        message: `${named} not configured anymore: nothing can be executed there. Reject it, or wait for its expiry, unless the network is configured again`,
      }
    : { code: NETWORK_BACK, message: `${named} configured again: it can be executed` };
}

/** Whether a network is not configured any more, as the newest note about that says. */
export function isNetworkGone(subject: Subject, networkId: number, notes: readonly Note[]): boolean {
  const [unconfigured, back] = [
    networkNote(subject, networkId, true),
    networkNote(subject, networkId, false),
  ];
  return (
    notes.findLast(({ message }) => message === unconfigured.message || message === back.message)?.code ===
    unconfigured.code
  );
}

/** A network that an approval names, and whether it is not configured any more. */
export interface NamedNetwork {
  readonly networkId: number;
  readonly isGone: boolean;
}

/** Those of the networks that an approval names of which its notes say otherwise. */
export function networksUnlikeNoted(
  subject: Subject,
  networks: readonly NamedNetwork[],
  notes: readonly Note[],
): NamedNetwork[] {
  return networks.filter(({ networkId, isGone }) => isGone !== isNetworkGone(subject, networkId, notes));
}
