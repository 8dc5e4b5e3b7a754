import type { Schema } from '@orgwallet/client';
import { dateTime } from './time.ts';

type Part = Schema['Part'];

/** What does not happen while a part is down. */
const WITHOUT: { readonly [P in Part['part']]: string } = {
  temporal: 'Nothing can be requested, signed or executed',
  worker: 'Nothing can be requested, signed or executed',
  chainWorker: 'Payments are signed, and not sent',
  signer: 'Requests can be signed. Nothing is executed',
  network: 'Balances there are not in the totals, and payments there wait',
  relayers: 'Payments there wait for gas',
};

const ROLES: Partial<Record<Part['part'], string>> = {
  temporal: 'Temporal',
  worker: 'The worker',
  chainWorker: 'The chain worker',
  signer: 'The signer',
};

/** That a part is down, as a title. `network` is the name of the one that it is about. */
export function partTitle({ part, lastSeen }: Part, network: string | undefined): string {
  if (part === 'relayers') return `${network}: a relayer has too little for gas`;
  const since = lastSeen === null ? 'has not been seen yet' : `has not been seen since ${dateTime(lastSeen)}`;
  return part === 'network' ? `${network}: no answer` : `${ROLES[part] ?? 'A part of the service'} ${since}`;
}

/** What that means, and what to do. */
export function partText({ part, reason }: Part): string {
  const why = part === 'relayers' && reason !== null ? `: ${reason}` : '';
  return `${WITHOUT[part]}${why}. What waits continues by itself: do not request it again, and tell your operator.`;
}
