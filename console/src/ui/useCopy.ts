import { useEffect, useState } from 'react';
import { announce } from '../state/announcement.ts';

const COPIED_MS = 2_000;

/** Copies a text: `copy` returns whether it could, and `isCopied` is true for a moment after it. */
export function useCopy(text: string): {
  readonly isCopied: boolean;
  readonly copy: () => Promise<boolean>;
} {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), COPIED_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      return true;
    } catch {
      announce('The browser does not permit copying: select the text and copy it');
      return false;
    }
  };
  return { isCopied, copy };
}
