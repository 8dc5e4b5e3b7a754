import { type ReactNode, useId } from 'react';
import { isAddressText } from '../domain/address.ts';
import { Digits } from './Address.tsx';
import styles from './choices.module.css';
import { CheckField } from './Field.tsx';
import fieldStyles from './field.module.css';

/** One of a few things. */
export function RadioGroup<T extends string>({
  label,
  options,
  value,
  onChange,
}: {
  readonly label: string;
  readonly options: readonly { readonly value: T; readonly label: string }[];
  readonly value: T;
  readonly onChange: (value: T) => void;
}) {
  const name = useId();
  return (
    <fieldset className={styles.radioGroup}>
      <legend>{label}</legend>
      {options.map((option) => (
        <label key={option.value}>
          <input
            type="radio"
            name={name}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
          />
          {option.label}
        </label>
      ))}
    </fieldset>
  );
}

/** Any number of things. */
export function CheckList({
  label,
  options,
  chosen,
  error,
  empty,
  onChange,
}: {
  readonly label: string;
  readonly options: readonly { readonly id: string; readonly name: ReactNode; readonly hint?: string }[];
  readonly chosen: readonly string[];
  readonly error?: string | undefined;
  /** What is said in place of an empty list. */
  readonly empty: string;
  readonly onChange: (chosen: readonly string[]) => void;
}) {
  const id = useId();
  return (
    <fieldset className={styles.checkList} aria-describedby={error ? id : undefined}>
      <legend>{label}</legend>
      {options.length === 0 ? <p className="muted">{empty}</p> : null}
      <div className={styles.checkListOptions}>
        {options.map((option) => (
          <CheckField
            key={option.id}
            label={option.name}
            hint={option.hint && isAddressText(option.hint) ? <Digits address={option.hint} /> : option.hint}
            checked={chosen.includes(option.id)}
            onChange={({ target }) =>
              onChange(target.checked ? [...chosen, option.id] : chosen.filter((one) => one !== option.id))
            }
          />
        ))}
      </div>
      {error ? (
        <p id={id} className={fieldStyles.fieldError} role="alert">
          {error}
        </p>
      ) : null}
    </fieldset>
  );
}
