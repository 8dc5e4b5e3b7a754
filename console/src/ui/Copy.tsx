import { Button } from './Button.tsx';
import { useCopy } from './useCopy.ts';

/** Copies a text. `of` says what it is, for those who do not see what is beside it. */
export function Copy({ text, of }: { readonly text: string; readonly of: string }) {
  const { isCopied, copy } = useCopy(text);
  return (
    <Button look="quiet" className="small" onClick={() => void copy()} aria-label={`Copy ${of}`}>
      <span role="status">{isCopied ? 'Copied' : 'Copy'}</span>
    </Button>
  );
}
