import { useState } from 'react';
import type { Organization } from '../../api/useOrganization.ts';
import { INVALID_ADDRESS, isAddressText } from '../../domain/address.ts';
import { assetsOf } from '../../domain/assets.ts';
import { type MovementsSearch, movementsSearch } from '../../domain/search.ts';
import { Button } from '../../ui/Button.tsx';
import { RecordField, TextField } from '../../ui/Field.tsx';
import { filterFields } from '../../ui/filterFields.ts';
import filtersStyles from '../../ui/filters.module.css';
import { SearchField } from '../../ui/SearchField.tsx';
import styles from './movements.module.css';

const DIRECTIONS = [
  { id: 'in', name: 'in' },
  { id: 'out', name: 'out' },
];
const STATUSES = ['pending', 'confirmed', 'reversed'].map((id) => ({ id, name: id }));
const UNVERIFIED = [
  { id: 'any', name: 'unverified ones too' },
  { id: 'false', name: 'only unverified ones' },
];

interface Props {
  readonly search: MovementsSearch;
  readonly organization: Organization;
  /** Of one account: it is not chosen. */
  readonly accountId?: string | undefined;
  /** What can be chosen besides the assets of the organization: what has moved. */
  readonly moved: readonly { readonly id: string; readonly name: string }[];
  readonly onChange: (search: MovementsSearch) => void;
}

/** The assets of networks that an account is on, and what has moved. */
function assetsFor({ organization, accountId, moved }: Props) {
  const networks = organization.accounts.find(({ id }) => id === accountId)?.networks;
  const own = assetsOf({
    networks: organization.networks.filter(({ id }) => !networks || networks.some((one) => one.id === id)),
    policies: organization.policies,
  });
  return [...new Map([...moved, ...own].map((one) => [one.id.toLowerCase(), one])).values()];
}

/** Chooses which movements are shown, on demand. */
export function MovementFilters(props: Props) {
  const { search, organization, accountId, onChange } = props;
  const count = Object.keys(search).length;
  // They stay open while the last one is cleared.
  const [isOpen, setOpen] = useState(count > 0);
  const change = (fields: Partial<MovementsSearch>) => onChange(movementsSearch({ ...search, ...fields }));
  const { choice, day } = filterFields(search, change);
  const { counterparty = '' } = search;
  return (
    <details
      className={styles.filters}
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>Filters{count > 0 ? ` (${count})` : ''}</summary>
      <fieldset className={filtersStyles.filters}>
        <legend className="hidden-visually">Which movements</legend>
        <SearchField
          label="From or to address"
          placeholder="0x…"
          maxLength={42}
          error={counterparty === '' || isAddressText(counterparty) ? undefined : INVALID_ADDRESS}
          value={counterparty}
          onSearch={(text) => change({ counterparty: text.trim() })}
        />
        {accountId === undefined ? (
          <RecordField label="Account" records={organization.accounts} {...choice('accountId')} />
        ) : null}
        <RecordField label="Asset" records={assetsFor(props)} {...choice('assetId')} />
        <RecordField label="Direction" records={DIRECTIONS} {...choice('direction', 'in and out')} />
        <RecordField label="Status" records={STATUSES} {...choice('status')} />
        <RecordField label="Tokens" records={UNVERIFIED} {...choice('verified', 'verified ones')} />
        <TextField label="From" {...day('from')} />
        <TextField label="To" {...day('to')} />
        {count > 0 ? (
          <Button look="quiet" onClick={() => onChange({})}>
            Clear filters
          </Button>
        ) : null}
      </fieldset>
    </details>
  );
}
