import type { Schema, TransactionIntent } from '@orgwallet/client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { orgwallet } from '../../api/client.ts';

import { evaluationQuery } from '../../api/queries.ts';
import { useCreation } from '../../signing/useCreation.ts';
import { useSettled } from '../../state/useSettled.ts';
import { fieldErrors } from '../../text/errors.ts';
import { permitting } from './DryRun.tsx';

/** A transaction as it was typed: what is sent, and what was meant with it. */
export interface Typed {
  readonly asked: Schema['EvaluatePoliciesRequest'];
  readonly intent: TransactionIntent;
  /** What no policy is asked about. */
  readonly references: Pick<Schema['CreateTransactionRequest'], 'externalId' | 'tags'>;
}

/** Requests a transaction under one of the policies that permit it. `errors` are those of its fields, also of the dry run. */
export function useRequest(typed: Typed | undefined, forget: () => void) {
  const [chosen, setChosen] = useState<string>();
  const { create, isSending, error } = useCreation(forget);
  const asked = useSettled(typed?.asked);
  const { data: evaluations, error: dryRunError } = useQuery({
    ...evaluationQuery(asked as Schema['EvaluatePoliciesRequest']),
    enabled: asked !== undefined,
  });
  const permits = permitting(evaluations ?? []);
  const policyId = (permits.find(({ policy }) => policy.id === chosen) ?? permits[0])?.policy.id;

  const send = async () => {
    if (!typed || !policyId) return;
    const body = { ...typed.asked, ...typed.references, policyId };
    await create(() => ({
      asked: { intent: { ...typed.intent, policyId }, before: {} },
      content: JSON.stringify(body),
      send: (idempotencyKey) => orgwallet.createTransaction(body, { idempotencyKey }),
    }));
  };
  // What is typed now is refused by the dry run; an earlier request may have been about something else.
  const errors = fieldErrors(dryRunError ?? error);
  const isEvaluated = evaluations !== undefined || dryRunError !== null;
  return { asked, policyId, isEvaluated, choosePolicy: setChosen, isSending, error, errors, send };
}
