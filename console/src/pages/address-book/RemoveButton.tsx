import type { Schema } from '@orgwallet/client';
import { useState } from 'react';
import { orgwallet, queryClient } from '../../api/client.ts';
import { once } from '../../api/once.ts';
import { addressBookQuery } from '../../api/queries.ts';
import { quotedName } from '../../domain/quotedName.ts';
import { announce } from '../../state/announcement.ts';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { ErrorNotice } from '../../ui/States.tsx';
import addressBookStyles from './address-book.module.css';

/** Removes an entry of the address book, once that is confirmed. */
export function RemoveButton({ entry }: { readonly entry: Schema['AddressBookEntry'] }) {
  const { id, name, address } = entry;
  const [isOpen, setOpen] = useState(false);
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<unknown>();
  const remove = async () => {
    setSending(true);
    try {
      await once(`remove ${id}`, (idempotencyKey) =>
        orgwallet.removeAddressBookEntry(id, {}, { idempotencyKey }),
      );
      await queryClient.invalidateQueries(addressBookQuery);
      announce('Name removed');
    } catch (reason) {
      setError(reason);
    }
    setSending(false);
  };
  return (
    <>
      <Button className="small" onClick={() => setOpen(true)}>
        Remove<span className="hidden-visually"> {name}</span>
      </Button>
      {isOpen ? (
        <Dialog open title={`Remove ${quotedName(name)}?`} onClose={() => setOpen(false)}>
          <div className="stack">
            <p>
              <code className={addressBookStyles.wholeAddress}>{address}</code> has no name any more. Nothing
              else changes.
            </p>
            {error === undefined ? null : <ErrorNotice error={error} />}
            <div className="row">
              <Button look="danger" busy={isSending} onClick={() => void remove()}>
                Remove
              </Button>
              <Button onClick={() => setOpen(false)}>Cancel</Button>
            </div>
          </div>
        </Dialog>
      ) : null}
    </>
  );
}
