import type { QueryKey } from '@tanstack/react-query';
import { useEffect } from 'react';
import { followBalances } from './balances.ts';
import { queryClient } from './client.ts';
import { inBackground } from './connection.ts';
import { followFeed, type Happened } from './feed.ts';

/** Changes that come together are read once. */
const GATHER_MS = 150;
/** What a person does, as the window hears of it before anything else. */
const INPUTS = ['pointerdown', 'keydown', 'click', 'popstate'] as const;

const byPerson = () => inBackground.set(false);

const LISTS: { readonly [resourceType: string]: readonly QueryKey[] } = {
  proposal: [['proposals'], ['requests'], ['approval']],
  transaction: [['transactions'], ['requests'], ['approval'], ['balances'], ['evaluation'], ['recipient']],
  member: [['members'], ['groups'], ['admins'], ['approval'], ['session'], ['recipient']],
  group: [['groups'], ['evaluation']],
  policy: [['policies'], ['evaluation'], ['recipient']],
  account: [['accounts'], ['balances'], ['recipient'], ['rescueKit']],
  addressBookEntry: [['addressBook'], ['recipient']],
  admin: [['admins'], ['proposals'], ['session'], ['rescueKit']],
  session: [['sessions']],
  apiKey: [['apiKeys']],
  webhook: [['webhooks']],
  channel: [['channels']],
};

/** What comes to an account, or goes, changes nothing else of it. */
const MOVED: readonly QueryKey[] = [['movements'], ['balances']];

function keysOf({ type: happened, resource: { type, id } }: Happened): readonly QueryKey[] {
  if (happened.startsWith('movement.')) return MOVED;
  const lists = LISTS[type];
  // Something that this page does not know of: everything is read again.
  if (!lists) return [[]];
  return lists.map((key) => (key[0] === 'approval' && /^(prop|txn)_/.test(id) ? [...key, id] : key));
}

/**
 * Reads something again once what is being read of it has been read: a page that somebody has asked for is not thrown away, however
 * often things change.
 */
async function readAgain(queryKey: QueryKey): Promise<void> {
  const reading = queryClient.getQueryCache().findAll({ queryKey, fetchStatus: 'fetching' });
  await Promise.allSettled(reading.map(({ promise }) => promise));
  inBackground.set(true);
  await queryClient.invalidateQueries({ queryKey });
}

/** Reads again what changed. Returns how to end it. */
function follow(): () => void {
  let gathering: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  const waiting = new Map<string, QueryKey>();

  const reading = new Set<string>();

  const readOne = async (name: string, key: QueryKey) => {
    waiting.delete(name);
    reading.add(name);
    await readAgain(key);
    reading.delete(name);
    // It has changed meanwhile.
    if (waiting.has(name) && !isOver) gather([]);
  };
  const readAll = () => {
    gathering = undefined;
    for (const [name, key] of [...waiting]) if (!reading.has(name)) void readOne(name, key);
  };
  const gather = (keys: readonly QueryKey[]) => {
    for (const key of keys) waiting.set(JSON.stringify(key), key);
    gathering ??= setTimeout(readAll, GATHER_MS);
  };

  const endFeed = followFeed({
    receive: (event) => gather([...keysOf(event), ['audit']]),
    miss: () => gather([[]]),
  });
  const endBalances = followBalances();
  for (const input of INPUTS) addEventListener(input, byPerson, { capture: true });
  return () => {
    isOver = true;
    endFeed();
    endBalances();
    for (const input of INPUTS) removeEventListener(input, byPerson, { capture: true });
    clearTimeout(gathering);
  };
}

/** Keeps what is shown up to date for as long as the session lasts. */
export function useLiveUpdates(sessionId: string | undefined, hasEnded: boolean): void {
  useEffect(() => (sessionId === undefined || hasEnded ? undefined : follow()), [sessionId, hasEnded]);
}
