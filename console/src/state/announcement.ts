import { createStore } from './store.ts';

/** What has just happened: shown for a moment, and read out once. */
export const announcement = createStore('');

const KEPT_MS = 4_000;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Shows a text for a moment, and has screen readers say it once. */
export function announce(text: string): void {
  announcement.set(text);
  clearTimeout(timer);
  timer = setTimeout(() => announcement.set(''), KEPT_MS);
}
