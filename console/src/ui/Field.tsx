import { type ComponentProps, type ReactNode, useId } from 'react';
import styles from './field.module.css';

interface Frame {
  readonly label: string;
  readonly hint?: ReactNode;
  /** What is wrong with it. */
  readonly error?: string | undefined;
}

function describedBy(id: string, { hint, error }: Pick<Frame, 'hint' | 'error'>): string | undefined {
  const ids = [...(hint ? [`${id}-hint`] : []), ...(error ? [`${id}-error`] : [])];
  return ids.length > 0 ? ids.join(' ') : undefined;
}

/** What ties a control to its label, its hint and its error. */
interface Tied {
  readonly id: string;
  readonly 'aria-invalid': true | undefined;
  readonly 'aria-describedby': string | undefined;
}

function Framed({ label, hint, error, children }: Frame & { readonly children: (tied: Tied) => ReactNode }) {
  const id = useId();
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        'aria-invalid': error ? true : undefined,
        'aria-describedby': describedBy(id, { hint, error }),
      })}
      {hint ? (
        <div id={`${id}-hint`} className={styles.fieldHint}>
          {hint}
        </div>
      ) : null}
      {error ? (
        <p id={`${id}-error`} className={styles.fieldError} role="alert">
          {error}
        </p>
      ) : null}
    </div>
  );
}

/** A line of text, with its label, hint and error. */
export function TextField({ label, hint, error, ...rest }: Frame & ComponentProps<'input'>) {
  return (
    <Framed label={label} hint={hint} error={error}>
      {(tied) => <input autoComplete="off" spellCheck={false} {...rest} {...tied} />}
    </Framed>
  );
}

/** Text of several lines, with its label, hint and error. */
export function TextArea({ label, hint, error, ...rest }: Frame & ComponentProps<'textarea'>) {
  return (
    <Framed label={label} hint={hint} error={error}>
      {(tied) => <textarea rows={3} {...rest} {...tied} />}
    </Framed>
  );
}

/** A choice, with its label, hint and error. */
export function SelectField({ label, hint, error, ...rest }: Frame & ComponentProps<'select'>) {
  return (
    <Framed label={label} hint={hint} error={error}>
      {(tied) => <select {...rest} {...tied} />}
    </Framed>
  );
}

/** A record of a list, chosen by its name. */
export function RecordField({
  records,
  none,
  value,
  onChange,
  ...rest
}: Frame & {
  readonly records: readonly { readonly id: string | number; readonly name: string }[];
  /** What is shown while none is chosen. */
  readonly none: string;
  readonly value: string;
  readonly required?: boolean;
  readonly disabled?: boolean;
  readonly onChange: (id: string) => void;
} & Pick<ComponentProps<'select'>, 'name' | 'ref' | 'onBlur'>) {
  return (
    <SelectField {...rest} value={value} onChange={({ target }) => onChange(target.value)}>
      <option value="">{none}</option>
      {records.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </SelectField>
  );
}

/** A box to tick, with its label and hint. */
export function CheckField({
  label,
  hint,
  ...rest
}: Omit<Frame, 'error' | 'label'> & { readonly label: ReactNode } & ComponentProps<'input'>) {
  const id = useId();
  return (
    <div className={styles.check}>
      <input
        type="checkbox"
        {...rest}
        id={id}
        aria-describedby={describedBy(id, { hint, error: undefined })}
      />
      <div>
        <label htmlFor={id}>{label}</label>
        {hint ? (
          <div id={`${id}-hint`} className={styles.fieldHint}>
            {hint}
          </div>
        ) : null}
      </div>
    </div>
  );
}
