import type { Schema } from '@orgwallet/client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { isAddress } from 'viem';
import { orgwallet, queryClient } from '../../api/client.ts';
import { once } from '../../api/once.ts';
import { addressBookQuery, recipientQuery } from '../../api/queries.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { faultsOfEntry } from '../../contract/addressBookBody.ts';
import { quotedName } from '../../domain/quotedName.ts';
import { announce } from '../../state/announcement.ts';
import { checked, submits, useForm } from '../../state/useForm.ts';
import { fieldErrors } from '../../text/errors.ts';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { FormSelect, FormText } from '../../ui/formFields.tsx';
import { LookAlikes } from '../../ui/LookAlikes.tsx';
import { ErrorNotice } from '../../ui/States.tsx';

type Entry = Schema['AddressBookEntry'];

interface Props {
  /** The entry that is changed; undefined: a new one. */
  readonly entry: Entry | undefined;
  readonly organization: Organization;
  readonly onClose: () => void;
}

function contentOf({ name, address, networkId }: { name: string; address: string; networkId: string }) {
  return {
    name: name.trim(),
    address: address.trim(),
    networkId: networkId === '' ? null : Number(networkId),
  };
}

/** Gives an address a name, or changes one. */
export function EntryDialog({ entry, organization, onClose }: Props) {
  const typed = useForm({
    name: entry?.name ?? '',
    address: entry?.address ?? '',
    networkId: String(entry?.networkId ?? ''),
  });
  const address = typed.draft.address.trim();
  const isWhole = isAddress(address);
  const { data: recipient } = useQuery({ ...recipientQuery(address), enabled: isWhole });
  const [error, setError] = useState<unknown>();
  const [isSending, setSending] = useState(false);
  const errors = fieldErrors(error);
  const content = contentOf(typed.draft);
  const form = { ...checked(typed, faultsOfEntry(content)), refused: errors };
  const send = async () => {
    setSending(true);
    try {
      await once(JSON.stringify(['addressBook', entry?.id, content]), (idempotencyKey) =>
        entry
          ? orgwallet.updateAddressBookEntry(entry.id, content, { idempotencyKey })
          : orgwallet.createAddressBookEntry(content, { idempotencyKey }),
      );
      await queryClient.invalidateQueries(addressBookQuery);
      announce(entry ? 'Name changed' : 'Name added');
      onClose();
    } catch (reason) {
      setError(reason);
      setSending(false);
    }
  };
  return (
    <Dialog
      open
      title={entry ? `Change ${quotedName(entry.name)}` : 'New name for an address'}
      onClose={onClose}
    >
      <form className="stack" noValidate onSubmit={submits(send)}>
        <FormText
          form={form}
          name="name"
          label="Name"
          hint="For display only: names are never signed, and policies do not use them."
          maxLength={100}
        />
        <FormText form={form} name="address" label="Address" className="mono" />
        {isWhole && recipient ? <LookAlikes recipient={recipient} organization={organization} /> : null}
        <FormSelect form={form} name="networkId" label="Network">
          <option value="">Every network</option>
          {organization.networks.map((network) => (
            <option key={network.id} value={network.id}>
              {network.name}
            </option>
          ))}
        </FormSelect>
        {error === undefined || Object.keys(errors).length > 0 ? null : <ErrorNotice error={error} />}
        <div className="row">
          <Button look="primary" type="submit" busy={isSending}>
            Save
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  );
}
