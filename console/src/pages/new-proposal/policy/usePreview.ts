import type { OperationIntent } from '@orgwallet/client';
import { useQuery } from '@tanstack/react-query';
import { policyPreviewQuery } from '../../../api/queries.ts';
import { useSettled } from '../../../state/useSettled.ts';

/** What the service says of the policies that are typed, once nobody types any more; `isComplete`: there is something to ask. */
export function usePreview(intent: OperationIntent | undefined) {
  const policies = intent && 'policies' in intent ? intent.policies : undefined;
  const asked = useSettled(policies);
  const isComplete = policies !== undefined && asked !== undefined;
  const query = useQuery({
    ...policyPreviewQuery({ policies: [...(asked ?? [])] }),
    enabled: isComplete,
    // What was said before the last change stays until the service has answered.
    placeholderData: (before) => before,
  });
  return { query, isComplete };
}
