import { useSearch } from '@tanstack/react-router';
import { useEffect, useEffectEvent } from 'react';

/** Begins with what a link names: `?action=update&id=mem_…`. */
export function useTarget<A extends string>(
  actions: readonly A[],
  change: (target: { action?: A; id?: string }) => void,
): void {
  const { action, id } = useSearch({ strict: false });
  const begin = useEffectEvent(() => {
    const known = actions.find((one) => one === action);
    if (known) change({ action: known, ...(id ? { id } : {}) });
  });
  // Another link begins anew, and nothing else does.
  useEffect(() => begin(), [action, id]);
}
