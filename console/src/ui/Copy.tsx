import { useState } from 'react';
import { announce } from '../state/announcement.ts';
import { Button } from './Button.tsx';

/** Copies a text. `of` says what it is, for those who do not see what is beside it. */
export function Copy({ text, of }: { readonly text: string; readonly of: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      setTimeout(() => setCopied(false), 2_000);
    } catch {
      announce('The browser does not permit copying: select the text and copy it');
    }
  };
  return (
    <Button look="quiet" className="small" onClick={() => void copy()} aria-label={`Copy ${of}`}>
      <span role="status">{copied ? 'Copied' : 'Copy'}</span>
    </Button>
  );
}
