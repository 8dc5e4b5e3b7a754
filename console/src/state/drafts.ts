import { useCallback, useState } from 'react';

const PREFIX = 'orgwallet.draft.';

function read<T>(key: string, empty: T): T {
  const text = sessionStorage.getItem(key);
  return text === null ? empty : { ...empty, ...JSON.parse(text) };
}

/**
 * What somebody types, kept in this tab until it is sent: an error, a reload or a session that ends loses nothing.
 * Returns the draft, how to change it, and how to forget it.
 */
export function useDraft<T extends object>(
  name: string,
  empty: T,
): [draft: T, change: (fields: Partial<T>) => void, forget: () => void] {
  const key = `${PREFIX}${name}`;
  const [draft, setDraft] = useState(() => read(key, empty));
  const change = useCallback(
    (fields: Partial<T>) =>
      setDraft((before) => {
        const next = { ...before, ...fields };
        sessionStorage.setItem(key, JSON.stringify(next));
        return next;
      }),
    [key],
  );
  const forget = useCallback(() => sessionStorage.removeItem(key), [key]);
  return [draft, change, forget];
}

/** Has a form begin with these fields, whatever was typed in it before. */
export function keepDraft(name: string, fields: object): void {
  sessionStorage.setItem(`${PREFIX}${name}`, JSON.stringify(fields));
}

const OWNER = `${PREFIX}owner`;

/** Forgets in this tab what anybody but `owner` has typed or requested. */
export function keepDraftsOf(owner: string): void {
  if (sessionStorage.getItem(OWNER) !== owner) forgetDrafts();
  sessionStorage.setItem(OWNER, owner);
}

/** Forgets all drafts. */
export function forgetDrafts(): void {
  for (const key of Object.keys(sessionStorage))
    if (key.startsWith('orgwallet.')) sessionStorage.removeItem(key);
}
