import { useCallback, useState } from 'react';

const PREFIX = 'orgwallet.draft.';

/** What was typed in this tab and not sent; `empty` fills what is not there. */
export function readDraft<T extends object>(name: string, empty: T): T {
  const text = sessionStorage.getItem(`${PREFIX}${name}`);
  return text === null ? empty : { ...empty, ...JSON.parse(text) };
}

/** Keeps what is typed in this tab; has a form begin with it, whatever was typed in it before. */
export function keepDraft(name: string, fields: object): void {
  sessionStorage.setItem(`${PREFIX}${name}`, JSON.stringify(fields));
}

/** Forgets what was typed: it is sent. */
export function forgetDraft(name: string): void {
  sessionStorage.removeItem(`${PREFIX}${name}`);
}

/**
 * What somebody types, kept in this tab until it is sent: an error, a reload or a session that ends loses nothing.
 * Returns the draft, and how to change it.
 */
export function useDraft<T extends object>(
  name: string,
  empty: T,
): [draft: T, change: (fields: Partial<T>) => void] {
  const [draft, setDraft] = useState(() => readDraft(name, empty));
  const change = useCallback(
    (fields: Partial<T>) =>
      setDraft((before) => {
        const next = { ...before, ...fields };
        keepDraft(name, next);
        return next;
      }),
    [name],
  );
  return [draft, change];
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
