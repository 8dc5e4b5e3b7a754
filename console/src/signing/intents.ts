import type { Before, Intent } from '@orgwallet/client';

/** What somebody has asked for on this page: their own request is compared with it, and not only read. */
export interface Asked {
  readonly intent: Intent;
  /** The records that it began with. */
  readonly before: Before;
}

const key = (id: string) => `orgwallet.intent.${id}`;

/** Remembers in this tab what a request was made from. */
export function rememberIntent(id: string, asked: Asked): void {
  sessionStorage.setItem(key(id), JSON.stringify(asked));
}

/** What was asked for under an id in this tab; undefined when nothing was. */
export function intentOf(id: string): Asked | undefined {
  const text = sessionStorage.getItem(key(id));
  return text === null ? undefined : JSON.parse(text);
}
