import { useSyncExternalStore } from 'react';

const narrow = matchMedia('(width < 48rem)');

function subscribe(onChange: () => void): () => void {
  narrow.addEventListener('change', onChange);
  return () => narrow.removeEventListener('change', onChange);
}

/** Whether the page is as narrow as on a phone: where a row of a table is a card. */
export const useNarrow = (): boolean => useSyncExternalStore(subscribe, () => narrow.matches);

/** How many rows a list shows at a time: no page is longer than three screens of a phone. */
export interface PageSizes {
  readonly narrow: number;
  readonly wide: number;
}

/** The same as now, outside components. */
export const sizeNow = ({ narrow: few, wide }: PageSizes): number => (narrow.matches ? few : wide);
