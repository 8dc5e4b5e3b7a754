import { createStore } from '../state/store.ts';

/** The colours that a person has chosen; `system` follows the browser. */
export type Theme = 'system' | 'light' | 'dark';

const KEY = 'orgwallet.theme';

function stored(): Theme {
  const theme = localStorage.getItem(KEY);
  return theme === 'light' || theme === 'dark' ? theme : 'system';
}

export const themeStore = createStore<Theme>(stored());

function apply(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

/** Chooses the colours, here and for the next visit. */
export function chooseTheme(theme: Theme): void {
  localStorage.setItem(KEY, theme);
  themeStore.set(theme);
  apply(theme);
}

apply(themeStore.get());
