import { useEffect, useMemo, useState } from 'react';

const PAUSE_MS = 300;

/** A value of JSON once it has not changed for a moment, by its content. */
export function useSettled<T>(value: T): T {
  const text = JSON.stringify(value);
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  // `undefined` has no text.
  return useMemo(() => (settled === undefined ? undefined : JSON.parse(settled)), [settled]);
}
