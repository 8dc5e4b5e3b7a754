import type { Before, OperationIntent } from '@orgwallet/client';
import { orgwallet, queryClient } from '../../api/client.ts';

import { adminsQuery, groupsQuery, membersQuery } from '../../api/queries.ts';
import { useCreation } from '../../signing/useCreation.ts';
import { fieldErrors } from '../../text/errors.ts';

/** The records that the change begins with, as they are at this moment. */
async function presentRecords(): Promise<Before> {
  const [members, groups, admins] = await Promise.all([
    queryClient.fetchQuery({ ...membersQuery, staleTime: 0 }),
    queryClient.fetchQuery({ ...groupsQuery, staleTime: 0 }),
    queryClient.fetchQuery({ ...adminsQuery, staleTime: 0 }),
  ]);
  return { members, groups, admins };
}

/** Proposes a change, and shows its page. `errors` are those of its fields. */
export function useProposal(forget: () => void) {
  const { create, isSending, error } = useCreation(forget);
  const propose = (intent: OperationIntent) =>
    create(async () => ({
      asked: { intent, before: await presentRecords() },
      content: JSON.stringify(intent),
      send: (idempotencyKey) => orgwallet.propose(intent, { idempotencyKey }),
    }));
  return { propose, isSending, error, errors: fieldErrors(error) };
}
