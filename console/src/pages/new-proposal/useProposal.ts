import type { Before, OperationIntent } from '@orgwallet/client';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { orgwallet, queryClient } from '../../api/client.ts';
import { once } from '../../api/once.ts';
import { adminsQuery, groupsQuery, membersQuery } from '../../api/queries.ts';
import { rememberIntent } from '../../signing/intents.ts';
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
  const navigate = useNavigate();
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<unknown>();
  const propose = async (intent: OperationIntent) => {
    setSending(true);
    setError(undefined);
    try {
      const before = await presentRecords();
      const proposed = await once(JSON.stringify(intent), (idempotencyKey) =>
        orgwallet.propose(intent, { idempotencyKey }),
      );
      rememberIntent(proposed.id, { intent, before });
      queryClient.setQueryData(['approval', proposed.id], proposed);
      forget();
      await navigate({ to: '/requests/$id', params: { id: proposed.id } });
    } catch (reason) {
      setError(reason);
    } finally {
      setSending(false);
    }
  };
  return { propose, isSending, error, errors: fieldErrors(error) };
}
