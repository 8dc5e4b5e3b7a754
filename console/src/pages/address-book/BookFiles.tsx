import type { Schema } from '@orgwallet/client';
import { type ChangeEvent, useRef, useState } from 'react';
import { orgwallet, queryClient } from '../../api/client.ts';
import { once } from '../../api/once.ts';
import { addressBookQuery } from '../../api/queries.ts';
import { counted } from '../../text/counted.ts';
import { fieldErrors } from '../../text/errors.ts';
import { Button } from '../../ui/Button.tsx';
import { download } from '../../ui/download.ts';
import { Notice } from '../../ui/Notice.tsx';
import { ErrorNotice } from '../../ui/States.tsx';

/** The largest file that the service reads, in bytes. */
const MOST_BYTES = 500_000;

function importedText({ created, updated, unchanged }: Schema['AddressBookImport']): string {
  return `${counted(created, 'new name')}, ${updated} changed, ${unchanged} as before`;
}

/** What is wrong with a file, row by row. */
function ImportError({ error }: { readonly error: unknown }) {
  const rows = Object.entries(fieldErrors(error));
  if (rows.length === 0) return <ErrorNotice error={error} />;
  return (
    <Notice tone="danger" title="Nothing was imported: correct these rows" urgent>
      <ul className="stack-small">
        {rows.map(([field, message]) => (
          <li key={field}>
            <b>{field.replace(/^csv\[(line \d+)\]\.?/, '$1 ').trim()}</b>: {message}
          </li>
        ))}
      </ul>
    </Notice>
  );
}

/** Saves the address book as a file. */
export function ExportButton() {
  const [error, setError] = useState<unknown>();
  const save = async () => {
    try {
      const { csv } = await orgwallet.exportAddressBook();
      download('address-book.csv', 'text/csv', csv);
      setError(undefined);
    } catch (reason) {
      setError(reason);
    }
  };
  return (
    <>
      <Button onClick={() => void save()}>Save as CSV</Button>
      {error === undefined ? null : <ErrorNotice error={error} />}
    </>
  );
}

/** Reads a file of names. */
export function ImportButton() {
  const input = useRef<HTMLInputElement>(null);
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<unknown>();
  const [done, setDone] = useState<Schema['AddressBookImport']>();
  const read = async ({ target }: ChangeEvent<HTMLInputElement>) => {
    const file = target.files?.[0];
    // The same file can be chosen again, once it is corrected.
    const text = file && file.size <= MOST_BYTES ? await file.text() : undefined;
    target.value = '';
    if (!file) return;
    setSending(true);
    setDone(undefined);
    try {
      if (text === undefined) throw new Error(`${file.name} is larger than ${MOST_BYTES / 1_000} kB`);
      setDone(
        await once(`import ${text}`, (idempotencyKey) =>
          orgwallet.importAddressBook({ csv: text }, { idempotencyKey }),
        ),
      );
      setError(undefined);
      await queryClient.invalidateQueries(addressBookQuery);
    } catch (reason) {
      setError(reason);
    }
    setSending(false);
  };
  return (
    <>
      <input
        ref={input}
        type="file"
        accept=".csv,text/csv"
        className="hidden-visually"
        aria-label="File of names"
        tabIndex={-1}
        onChange={(event) => void read(event)}
      />
      <Button busy={isSending} onClick={() => input.current?.click()}>
        Import a CSV file
      </Button>
      <div aria-live="polite">{done ? <Notice tone="good" title={importedText(done)} /> : null}</div>
      {error === undefined ? null : <ImportError error={error} />}
    </>
  );
}
