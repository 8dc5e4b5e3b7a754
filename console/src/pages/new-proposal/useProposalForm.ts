import type { OperationIntent } from '@orgwallet/client';
import type { FieldValues } from 'react-hook-form';
import { type Faults, type Places, placed } from '../../domain/faults.ts';
import { checked, type Labels, useForm } from '../../state/useForm.ts';
import { useProposal } from './useProposal.ts';

interface Kind<T, I extends OperationIntent> {
  readonly empty: T;
  /** What a draft asks for; undefined where nothing is chosen or changed. It may be incomplete. */
  readonly intentOf: (draft: T) => I | undefined;
  /** What is wrong with it, by the paths of the service. */
  readonly faultsOf: (intent: I) => Faults;
  /** What is wrong with the draft besides, by its fields. */
  readonly ownFaults?: (draft: T) => Faults;
  /** What the service names, in this form. */
  readonly places: (draft: T) => Places;
  /** What has to be filled in. */
  readonly labels: (draft: T) => Labels;
}

/** The form of a proposal, kept in this tab as `name`. `intent` is undefined while it is incomplete. */
export function useProposalForm<T extends FieldValues, I extends OperationIntent = OperationIntent>(
  name: string,
  { empty, intentOf, faultsOf, ownFaults, places, labels }: Kind<T, I>,
) {
  const form = useForm(empty, name);
  const { draft } = form;
  const asked = intentOf(draft);
  const faults = { ...placed(asked ? faultsOf(asked) : {}, places(draft)), ...ownFaults?.(draft) };
  const { propose, isSending, error, errors } = useProposal(form.forget);
  return {
    ...checked(form, faults, labels(draft)),
    refused: placed(errors, places(draft)),
    isChosen: asked !== undefined,
    intent: Object.keys(faults).length === 0 ? asked : undefined,
    propose,
    isSending,
    error,
  };
}
