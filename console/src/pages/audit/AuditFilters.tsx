import { Link, useNavigate } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import { type AuditSearch, auditSearch } from '../../domain/search.ts';
import { Button } from '../../ui/Button.tsx';
import buttonStyles from '../../ui/button.module.css';
import { classes } from '../../ui/classes.ts';
import { SelectField, TextField } from '../../ui/Field.tsx';
import filtersStyles from '../../ui/filters.module.css';

const RESOURCE_TYPES = [
  'transaction',
  'proposal',
  'account',
  'policy',
  'member',
  'group',
  'admin',
  'session',
  'apiKey',
  'organization',
];

interface Props {
  readonly search: AuditSearch;
  /** What the service says about a field. */
  readonly errors: { readonly [field: string]: string };
}

/** Chooses which entries are shown. The choice is in the address of the page, so that it can be passed on. */
export function AuditFilters({ search, errors }: Props) {
  const navigate = useNavigate();
  const choose = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = Object.fromEntries(new FormData(event.currentTarget));
    void navigate({ to: '/audit', search: auditSearch(fields), resetScroll: false });
  };
  const field = (name: keyof AuditSearch) => ({
    name,
    defaultValue: search[name] ?? '',
    error: errors[name],
  });
  return (
    <form className="stack-small" onSubmit={choose}>
      <div className={filtersStyles.filters}>
        <SelectField label="Resource type" {...field('resourceType')}>
          <option value="">all</option>
          {RESOURCE_TYPES.map((type) => (
            <option key={type}>{type}</option>
          ))}
        </SelectField>
        <TextField label="Resource id" hint="Such as txn_… or pol_…" {...field('resourceId')} />
        <TextField label="Action" hint="Such as proposal.signed" {...field('action')} />
        <TextField label="From" type="date" {...field('from')} />
        <TextField label="To" type="date" hint="This day included" {...field('to')} />
      </div>
      <div className="row">
        <Button type="submit">Apply</Button>
        {Object.keys(search).length > 0 ? (
          <Link to="/audit" search={{}} className={classes(buttonStyles.button, buttonStyles.quiet)}>
            Clear filters
          </Link>
        ) : null}
      </div>
    </form>
  );
}
