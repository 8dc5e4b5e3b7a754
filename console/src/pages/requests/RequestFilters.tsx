import { useState } from 'react';
import type { Organization } from '../../api/useOrganization.ts';
import { assetsOf } from '../../domain/assets.ts';
import { countFilters, KINDS } from '../../domain/requestFilter.ts';
import { type RequestsSearch, requestsSearch } from '../../domain/search.ts';
import { Button } from '../../ui/Button.tsx';
import { RecordField, TextField } from '../../ui/Field.tsx';
import { filterFields } from '../../ui/filterFields.ts';
import filtersStyles from '../../ui/filters.module.css';
import { SearchField } from '../../ui/SearchField.tsx';
import requestsStyles from './requests.module.css';

interface Props {
  readonly search: RequestsSearch;
  readonly organization: Organization;
  readonly onChange: (search: RequestsSearch) => void;
}

/** Chooses which requests are shown: a search, and filters that a phone shows on demand. */
export function RequestFilters({ search, organization, onChange }: Props) {
  const change = (fields: Partial<RequestsSearch>) => {
    const { after: _, ...kept } = search;
    onChange(requestsSearch({ ...kept, ...fields }));
  };
  const count = countFilters(search);
  // They stay open while the last one is cleared.
  const [isOpen, setOpen] = useState(count > 0);
  const { choice, day } = filterFields(search, change);
  const { accounts, policies, members, networks } = organization;
  return (
    <search className={requestsStyles.requestFilters}>
      <SearchField
        label="Search"
        placeholder="Recipient, name, description or id"
        maxLength={200}
        value={search.text ?? ''}
        onSearch={(text) => change({ text })}
      />
      <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>Filters{count > 0 ? ` (${count})` : ''}</summary>
        <fieldset className={filtersStyles.filters}>
          <legend className="hidden-visually">Which requests</legend>
          <TextField label="From" {...day('from')} />
          <TextField label="To" {...day('to')} />
          <RecordField label="Kind" records={KINDS.map(([id, name]) => ({ id, name }))} {...choice('kind')} />
          <RecordField label="Account" records={accounts} {...choice('accountId')} />
          <RecordField label="Asset" records={assetsOf(organization)} {...choice('assetId')} />
          <RecordField label="Initiator" records={members} {...choice('initiatorId')} />
          <RecordField label="Policy" records={policies} {...choice('policyId')} />
          <RecordField label="Network" records={networks} {...choice('networkId')} />
          <RecordField label="Waits for" records={members} {...choice('missingMemberId')} />
          <SearchField
            label="Tag"
            maxLength={50}
            value={search.tag ?? ''}
            onSearch={(tag) => change({ tag: tag.trim() })}
          />
          <SearchField
            label="Your own id"
            maxLength={100}
            value={search.externalId ?? ''}
            onSearch={(externalId) => change({ externalId: externalId.trim() })}
          />
          {count > 0 ? (
            <Button
              look="quiet"
              onClick={() => onChange(requestsSearch({ tab: search.tab, text: search.text }))}
            >
              Clear filters
            </Button>
          ) : null}
        </fieldset>
      </details>
    </search>
  );
}
