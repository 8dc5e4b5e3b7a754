import type { Approval } from '@orgwallet/client';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { queryClient } from '../api/client.ts';
import { inThisTab, once } from '../api/once.ts';
import { type Asked, rememberIntent } from './intents.ts';

/** Something to create. */
interface Creation {
  /** What it was made from: the created request is compared with it. */
  readonly asked: Asked;
  /** What is sent, in one text: the same one has one idempotency key until there is an answer, also after a reload. */
  readonly content: string;
  readonly send: (idempotencyKey: string) => Promise<Approval>;
}

/** Creates a request, remembers what it was made from, and shows its page. `forget` forgets the draft. */
export function useCreation(forget: () => void) {
  const navigate = useNavigate();
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<unknown>();
  const create = async (prepare: () => Creation | Promise<Creation>) => {
    setSending(true);
    setError(undefined);
    try {
      const { asked, content, send } = await prepare();
      const created = await once(content, send, inThisTab);
      rememberIntent(created.id, asked);
      queryClient.setQueryData(['approval', created.id], created);
      forget();
      await navigate({ to: '/requests/$id', params: { id: created.id } });
    } catch (reason) {
      setError(reason);
    } finally {
      setSending(false);
    }
  };
  return { create, isSending, error };
}
