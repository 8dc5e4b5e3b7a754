import type { Schema } from '@orgwallet/client';
import { useState } from 'react';
import type { Organization } from '../../api/useOrganization.ts';
import { useSession } from '../../api/useSession.ts';
import { AddressIcon } from '../../ui/AddressIcon.tsx';
import { Button } from '../../ui/Button.tsx';
import { TextField } from '../../ui/Field.tsx';
import iconsStyles from '../../ui/icons.module.css';
import { Page } from '../../ui/Page.tsx';
import { ShortText } from '../../ui/ShortText.tsx';
import { Empty } from '../../ui/States.tsx';
import { type Columns, Table } from '../../ui/Table.tsx';
import { WithOrganization } from '../../ui/WithOrganization.tsx';
import styles from './address-book.module.css';
import { ExportButton, ImportButton } from './BookFiles.tsx';
import { EntryDialog } from './EntryDialog.tsx';
import { RemoveButton } from './RemoveButton.tsx';

type Entry = Schema['AddressBookEntry'];

/** How many are shown at once. */
const PAGE = 50;

/** What is edited: an entry, a new one, or nothing. */
type Edited = Entry | 'new' | undefined;

function columnsOf(
  { network }: Organization,
  isAdmin: boolean,
  onEdit: (entry: Entry) => void,
): Columns<Entry> {
  return [
    {
      name: 'Name',
      cell: ({ name, address }) => (
        <span className={iconsStyles.withIcon}>
          <AddressIcon address={address} />
          <bdi>{name}</bdi>
        </span>
      ),
    },
    {
      name: 'Address',
      cell: ({ address, name }) => <ShortText text={address} of={`address of ${name}`} />,
    },
    {
      name: 'Network',
      cell: ({ networkId }) =>
        networkId === null ? 'every network' : (network(networkId) ?? `network ${networkId}`),
    },
    ...(isAdmin
      ? [
          {
            name: 'Change',
            cell: (entry: Entry) => (
              <span className="row">
                <Button className="small" onClick={() => onEdit(entry)}>
                  Change<span className="hidden-visually"> {entry.name}</span>
                </Button>
                <RemoveButton entry={entry} />
              </span>
            ),
          },
        ]
      : []),
  ];
}

function Found({
  organization,
  isAdmin,
  onEdit,
}: {
  readonly organization: Organization;
  readonly isAdmin: boolean;
  readonly onEdit: (edited: Edited) => void;
}) {
  const [sought, setSought] = useState('');
  const [pages, setPages] = useState(1);
  const { addressBook } = organization;
  const text = sought.trim().toLowerCase();
  const found = addressBook
    .filter(({ name, address }) => [name, address].some((field) => field.toLowerCase().includes(text)))
    .sort((one, two) => one.name.localeCompare(two.name));
  if (addressBook.length === 0) {
    return (
      <Empty title="No names yet">
        <p>Names that you give to addresses are shown beside them everywhere, to all members.</p>
        {isAdmin ? <Button onClick={() => onEdit('new')}>Name an address</Button> : <p>Admins add them.</p>}
      </Empty>
    );
  }
  return (
    <>
      <TextField
        label="Search by name or address"
        type="search"
        value={sought}
        onChange={({ target }) => {
          setSought(target.value);
          setPages(1);
        }}
      />
      {found.length === 0 ? (
        <Empty title={`No name or address contains “${sought}”`}>
          <Button onClick={() => setSought('')}>Show all names</Button>
        </Empty>
      ) : (
        <Table
          caption="Names of addresses"
          columns={columnsOf(organization, isAdmin, onEdit)}
          rows={found.slice(0, pages * PAGE)}
          rowKey={({ id }) => id}
        />
      )}
      {found.length > pages * PAGE ? (
        <p className="row small">
          {pages * PAGE} of {found.length} names.
          <Button onClick={() => setPages(pages + 1)}>Show more</Button>
        </p>
      ) : null}
    </>
  );
}

/** The names that the organization has given to addresses. */
export function AddressBookPage() {
  const { isAdmin } = useSession();
  const [edited, setEdited] = useState<Edited>();
  return (
    <Page
      title="Address book"
      lead="Names of addresses, shown beside them. For display only: names are never signed, and policies do not use them."
      actions={isAdmin ? <Button onClick={() => setEdited('new')}>New name</Button> : null}
    >
      <WithOrganization what="the address book">
        {(organization) => (
          <div className="stack">
            <div className={styles.bookTools}>
              {organization.addressBook.length > 0 ? <ExportButton /> : null}
              {isAdmin ? <ImportButton /> : null}
            </div>
            <Found organization={organization} isAdmin={isAdmin} onEdit={setEdited} />
            {edited === undefined ? null : (
              <EntryDialog
                entry={edited === 'new' ? undefined : edited}
                organization={organization}
                onClose={() => setEdited(undefined)}
              />
            )}
          </div>
        )}
      </WithOrganization>
    </Page>
  );
}
