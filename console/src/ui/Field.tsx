import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from 'react';
import './field.css';

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

function Framed({
  id,
  label,
  hint,
  error,
  children,
}: Frame & { readonly id: string; readonly children: ReactNode }) {
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children}
      {hint ? (
        <div id={`${id}-hint`} className="field-hint">
          {hint}
        </div>
      ) : null}
      {error ? (
        <p id={`${id}-error`} className="field-error" role="alert">
          {error}
        </p>
      ) : null}
    </div>
  );
}

export function TextField({ label, hint, error, ...rest }: Frame & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId();
  return (
    <Framed id={id} label={label} hint={hint} error={error}>
      <input
        autoComplete="off"
        spellCheck={false}
        {...rest}
        id={id}
        aria-invalid={error ? true : undefined}
        aria-describedby={describedBy(id, { hint, error })}
      />
    </Framed>
  );
}

export function TextArea({
  label,
  hint,
  error,
  ...rest
}: Frame & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  const id = useId();
  return (
    <Framed id={id} label={label} hint={hint} error={error}>
      <textarea
        rows={3}
        {...rest}
        id={id}
        aria-invalid={error ? true : undefined}
        aria-describedby={describedBy(id, { hint, error })}
      />
    </Framed>
  );
}

export function SelectField({
  label,
  hint,
  error,
  ...rest
}: Frame & SelectHTMLAttributes<HTMLSelectElement>) {
  const id = useId();
  return (
    <Framed id={id} label={label} hint={hint} error={error}>
      <select
        {...rest}
        id={id}
        aria-invalid={error ? true : undefined}
        aria-describedby={describedBy(id, { hint, error })}
      />
    </Framed>
  );
}

export function CheckField({
  label,
  hint,
  ...rest
}: Omit<Frame, 'error' | 'label'> & { readonly label: ReactNode } & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId();
  return (
    <div className="check">
      <input
        type="checkbox"
        {...rest}
        id={id}
        aria-describedby={describedBy(id, { hint, error: undefined })}
      />
      <div>
        <label htmlFor={id}>{label}</label>
        {hint ? (
          <div id={`${id}-hint`} className="field-hint">
            {hint}
          </div>
        ) : null}
      </div>
    </div>
  );
}
