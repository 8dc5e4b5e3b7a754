import { useEffect, useEffectEvent, useState } from 'react';
import { TextField } from './Field.tsx';

/** How long somebody types before it is searched. */
const TYPED_MS = 300;

/** A text that is searched once nobody types any more. */
export function SearchField({
  value,
  onSearch,
  ...rest
}: {
  readonly label: string;
  readonly placeholder?: string;
  readonly maxLength: number;
  /** What is wrong with it. */
  readonly error?: string | undefined;
  readonly value: string;
  readonly onSearch: (text: string) => void;
}) {
  // undefined: nothing was typed that was not searched.
  const [typed, setTyped] = useState<string>();
  const search = useEffectEvent(onSearch);
  useEffect(() => {
    if (typed === undefined) return;
    const timer = setTimeout(() => search(typed), TYPED_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  // It shows what is searched, also where a link or the history of the browser has changed it: what was typed ends with that. Compared
  // with the value alone, the page that somebody opens meanwhile, which has no search, would be left for another search.
  const [searched, setSearched] = useState(value);
  if (searched !== value) {
    setSearched(value);
    if (typed !== undefined && !typed.startsWith(value)) setTyped(undefined);
  }
  const searchNow = () => {
    if (typed !== undefined && typed !== value) onSearch(typed);
    setTyped(undefined);
  };
  return (
    <TextField
      type="search"
      {...rest}
      value={typed ?? value}
      onChange={({ target }) => setTyped(target.value)}
      onBlur={searchNow}
    />
  );
}
