import { createStore } from './store.ts';

/** What is read out, once, to those who do not see that it has happened. */
export const announcement = createStore('');

const KEPT_MS = 2_000;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Has screen readers say a text, once. */
export function announce(text: string): void {
  announcement.set(text);
  clearTimeout(timer);
  timer = setTimeout(() => announcement.set(''), KEPT_MS);
}
