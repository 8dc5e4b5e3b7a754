import { type FormEvent, useCallback, useEffect, useState } from 'react';
import {
  type Control,
  type DefaultValues,
  type FieldValues,
  get,
  type Path,
  type PathValue,
  useForm as useHookForm,
  useWatch,
} from 'react-hook-form';
import type { Faults } from '../domain/faults.ts';
import { forgetDraft, keepDraft, readDraft } from './drafts.ts';

/** What the fields of a form are bound to. */
export interface Bound<T extends FieldValues> {
  readonly control: Control<T>;
  /** What is wrong with what is typed, by field. */
  readonly faults: Faults;
  /** What the service has refused, by field. */
  readonly refused: Faults;
}

/** Fields that have to be filled in, as the form labels them. */
export type Labels = readonly (readonly [field: string, label: string])[];

/** Whether something is typed or chosen: nothing is wrong yet with a field that is empty. */
export function isTyped(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() !== '';
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null;
}

/**
 * What is typed in a form. With a `name` it is kept in this tab until it is sent: an error, a reload or a session that ends loses
 * nothing.
 */
export function useForm<T extends FieldValues>(empty: T, name?: string) {
  const [defaultValues] = useState(() => (name === undefined ? empty : readDraft(name, empty)));
  const { control, setValue } = useHookForm<T>({
    defaultValues: defaultValues as DefaultValues<T>,
  });
  const draft = useWatch({ control }) as T;
  useEffect(() => {
    if (name !== undefined && draft !== defaultValues) keepDraft(name, draft);
  }, [name, draft, defaultValues]);
  const change = useCallback(
    (fields: Partial<T>) => {
      for (const [field, value] of Object.entries(fields))
        setValue(field as Path<T>, value as PathValue<T, Path<T>>, { shouldDirty: true });
    },
    [setValue],
  );
  const forget = useCallback(() => {
    if (name !== undefined) forgetDraft(name);
  }, [name]);
  return { control, draft, change, forget };
}

/** A form with what is wrong in it, and what of `labels` has to be filled in yet. */
export function checked<T extends FieldValues>(
  form: ReturnType<typeof useForm<T>>,
  faults: Faults,
  labels: Labels = [],
) {
  const missing = labels.filter(([field]) => faults[field] !== undefined && !isTyped(get(form.draft, field)));
  return { ...form, faults, missing: [...new Set(missing.map(([, label]) => label))] };
}

/** Why a form cannot be sent as it is; empty where it can. */
export function reasonOf({
  missing,
  faults,
}: Pick<ReturnType<typeof checked>, 'missing' | 'faults'>): string {
  if (missing.length > 0) return `Still needed: ${missing.join(', ')}.`;
  return Object.keys(faults).length > 0 ? 'A field above is invalid: the reason is beside it.' : '';
}

/** Sends a form without leaving the page. */
export const submits = (send: () => unknown) => (event: FormEvent) => {
  event.preventDefault();
  send();
};
