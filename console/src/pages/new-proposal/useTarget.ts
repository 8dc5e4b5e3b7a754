import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useEffectEvent } from 'react';

/**
 * Begins with what a link names: `?action=update&id=mem_…`. It is taken out of the address then: what is typed afterwards
 * is not replaced when the page is loaded again.
 */
export function useTarget<A extends string>(
  actions: readonly A[],
  change: (target: { action: A; id?: string }) => void,
): void {
  const navigate = useNavigate();
  const { action, id } = useSearch({ strict: false });
  const begin = useEffectEvent((wanted: string | undefined, id: string | undefined) => {
    const known = actions.find((one) => one === wanted);
    if (!known) return;
    change({ action: known, ...(id ? { id } : {}) });
    void navigate({ to: '.', search: {}, replace: true });
  });
  useEffect(() => begin(action, id), [action, id]);
}
