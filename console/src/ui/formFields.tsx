import type { ComponentProps, ReactNode } from 'react';
import { type FieldPathByValue, type FieldValues, useController } from 'react-hook-form';
import { type Bound, isTyped } from '../state/useForm.ts';
import { CheckList, RadioGroup } from './Choices.tsx';
import { CheckField, RecordField, SelectField, TextArea, TextField } from './Field.tsx';

/** A field of a form: where it is bound to, and its name there. */
interface Place<T extends FieldValues, Value> {
  readonly form: Bound<T>;
  readonly name: FieldPathByValue<T, Value>;
}

/** What the fields of this file say of themselves. */
type Own = 'form' | 'name' | 'value' | 'checked' | 'error' | 'onChange' | 'onBlur' | 'ref';

interface Chosen {
  /** What is chosen, where that is not the value of the field. */
  readonly shown?: string;
  /** Besides the field. */
  readonly onChoice?: (value: string) => void;
}

/**
 * The value of a field, and what is wrong with it: as it is typed. An error that came when somebody leaves the field would move what they
 * are about to click.
 */
function useField<T extends FieldValues, Value>({ form, name }: Place<T, Value>) {
  const { field } = useController({ control: form.control, name });
  const error = (isTyped(field.value) ? form.faults[name] : undefined) ?? form.refused[name];
  return { field, error };
}

/** A line of text of a form. */
export function FormText<T extends FieldValues>({
  form,
  name,
  whileEmpty = '',
  untyped = '',
  read = (typed) => typed,
  onTyped,
  ...rest
}: Place<T, string> & {
  /** What stands there, and counts, as long as nothing else is typed. */
  readonly whileEmpty?: string;
  /** What is in it before anything is typed. */
  readonly untyped?: string;
  /** What becomes of what is typed. */
  readonly read?: (typed: string) => string;
  /** Besides the field. */
  readonly onTyped?: (() => void) | undefined;
} & Omit<ComponentProps<typeof TextField>, Own>) {
  const { field, error } = useField<T, string>({ form, name });
  return (
    <TextField
      {...rest}
      {...field}
      value={field.value || whileEmpty}
      error={field.value === untyped ? form.refused[name] : error}
      onChange={({ target }) => {
        field.onChange(read(target.value));
        onTyped?.();
      }}
    />
  );
}

/** Text of several lines of a form. */
export function FormTextArea<T extends FieldValues>({
  form,
  name,
  onTyped,
  ...rest
}: Place<T, string> & {
  /** Besides the field. */
  readonly onTyped?: () => void;
} & Omit<ComponentProps<typeof TextArea>, Own>) {
  const { field, error } = useField<T, string>({ form, name });
  return (
    <TextArea
      {...rest}
      {...field}
      error={error}
      onChange={({ target }) => {
        field.onChange(target.value);
        onTyped?.();
      }}
    />
  );
}

/** A choice of a form. */
export function FormSelect<T extends FieldValues>({
  form,
  name,
  shown,
  onChoice,
  ...rest
}: Place<T, string> & Chosen & Omit<ComponentProps<typeof SelectField>, Own>) {
  const { field, error } = useField<T, string>({ form, name });
  return (
    <SelectField
      {...rest}
      {...field}
      value={shown ?? field.value}
      error={error}
      onChange={({ target }) => {
        field.onChange(target.value);
        onChoice?.(target.value);
      }}
    />
  );
}

/** A record of a list, chosen by its name, of a form. */
export function FormRecord<T extends FieldValues>({
  form,
  name,
  shown,
  onChoice,
  ...rest
}: Place<T, string> & Chosen & Omit<ComponentProps<typeof RecordField>, Own>) {
  const { field, error } = useField<T, string>({ form, name });
  return (
    <RecordField
      {...rest}
      {...field}
      value={shown ?? field.value}
      error={error}
      onChange={(id) => {
        field.onChange(id);
        onChoice?.(id);
      }}
    />
  );
}

/** A box to tick of a form. */
export function FormCheck<T extends FieldValues>({
  form,
  name,
  ...rest
}: Place<T, boolean> & Omit<ComponentProps<typeof CheckField>, Own>) {
  const { field } = useField<T, boolean>({ form, name });
  const { value, ...bound } = field;
  return <CheckField {...rest} {...bound} checked={value} />;
}

/** One of a few things, of a form. */
export function FormRadios<T extends FieldValues, V extends string>({
  form,
  name,
  onChoice,
  ...rest
}: Place<T, V> & {
  readonly label: string;
  readonly options: readonly { readonly value: V; readonly label: string }[];
  /** Besides the field. */
  readonly onChoice?: (value: V) => void;
}) {
  const { field } = useField<T, V>({ form, name });
  return (
    <RadioGroup
      {...rest}
      value={field.value as V}
      onChange={(value) => {
        field.onChange(value);
        onChoice?.(value);
      }}
    />
  );
}

/** Any number of things, of a form. */
export function FormCheckList<T extends FieldValues>({
  form,
  name,
  whileUntouched = [],
  ...rest
}: Place<T, readonly string[] | null> & {
  readonly label: string;
  readonly options: readonly { readonly id: string; readonly name: ReactNode; readonly hint?: string }[];
  /** What is said in place of an empty list. */
  readonly empty: string;
  /** What is chosen as long as nobody has chosen. */
  readonly whileUntouched?: readonly string[];
}) {
  const { field, error } = useField<T, readonly string[] | null>({ form, name });
  return (
    <CheckList {...rest} chosen={field.value ?? whileUntouched} error={error} onChange={field.onChange} />
  );
}
