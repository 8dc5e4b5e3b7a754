import type { Schema } from '@orgwallet/client';
import { type HistorySearch, historySearch } from '../../domain/search.ts';
import { SelectField } from '../../ui/Field.tsx';
import filtersStyles from '../../ui/filters.module.css';

interface Props {
  readonly search: HistorySearch;
  readonly networks: readonly Schema['Network'][];
  readonly onChange: (search: HistorySearch) => void;
}

/** Chooses which transactions of an account are shown. */
export function HistoryFilters({ search, networks, onChange }: Props) {
  const field = (name: keyof HistorySearch) => ({
    value: search[name] ?? '',
    onChange: ({ target }: { readonly target: { readonly value: string } }) =>
      onChange(historySearch({ ...search, [name]: target.value })),
  });
  return (
    <fieldset className={filtersStyles.filters}>
      <legend className="hidden-visually">Which transactions</legend>
      <SelectField label="State" {...field('status')}>
        <option value="">all</option>
        <option value="queued">open</option>
        <option value="executed">closed</option>
      </SelectField>
      <SelectField label="Network" {...field('networkId')}>
        <option value="">all</option>
        {networks.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </SelectField>
      <SelectField label="Type" {...field('type')}>
        <option value="">all</option>
        <option value="TOKEN_TRANSFER">token transfer</option>
        <option value="CONTRACT_INTERACTION">contract interaction</option>
      </SelectField>
    </fieldset>
  );
}
