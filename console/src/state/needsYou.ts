import { createStore } from './store.ts';

/** How many requests wait for the member, as text: `3`, `12+` where there are more to look through; empty: none. */
export const needsYou = createStore('');
