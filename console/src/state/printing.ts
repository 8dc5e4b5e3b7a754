import { useSyncExternalStore } from 'react';

const print = matchMedia('print');
let isAbout = false;

function subscribe(onChange: () => void): () => void {
  const begin = () => {
    isAbout = true;
    onChange();
  };
  const end = () => {
    isAbout = false;
    onChange();
  };
  print.addEventListener('change', onChange);
  addEventListener('beforeprint', begin);
  addEventListener('afterprint', end);
  return () => {
    print.removeEventListener('change', onChange);
    removeEventListener('beforeprint', begin);
    removeEventListener('afterprint', end);
  };
}

/** Whether the page is being printed: paper has no pages to turn. */
export const usePrinting = (): boolean => useSyncExternalStore(subscribe, () => isAbout || print.matches);
