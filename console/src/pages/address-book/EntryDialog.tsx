import type { Schema } from '@orgwallet/client';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { isAddress } from 'viem';
import { orgwallet, queryClient } from '../../api/client.ts';
import { once } from '../../api/once.ts';
import { addressBookQuery, recipientQuery } from '../../api/queries.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { addressError } from '../../domain/address.ts';
import { fieldErrors } from '../../text/errors.ts';
import { quotedName } from '../../text/quotedName.ts';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { SelectField, TextField } from '../../ui/Field.tsx';
import { LookAlikes } from '../../ui/LookAlikes.tsx';
import { ErrorNotice } from '../../ui/States.tsx';

type Entry = Schema['AddressBookEntry'];

interface Props {
  /** The entry that is changed; undefined: a new one. */
  readonly entry: Entry | undefined;
  readonly organization: Organization;
  readonly onClose: () => void;
}

/** Gives an address a name, or changes one. */
export function EntryDialog({ entry, organization, onClose }: Props) {
  const [name, setName] = useState(entry?.name ?? '');
  const [address, setAddress] = useState(entry?.address ?? '');
  const [networkId, setNetworkId] = useState(String(entry?.networkId ?? ''));
  const isWhole = isAddress(address.trim());
  const { data: recipient } = useQuery({ ...recipientQuery(address.trim()), enabled: isWhole });
  const [error, setError] = useState<unknown>();
  const [isSending, setSending] = useState(false);
  const errors = fieldErrors(error);
  const send = async (event: FormEvent) => {
    event.preventDefault();
    setSending(true);
    const content = {
      name: name.trim(),
      address: address.trim(),
      networkId: networkId === '' ? null : Number(networkId),
    };
    try {
      await once(JSON.stringify(['addressBook', entry?.id, content]), (idempotencyKey) =>
        entry
          ? orgwallet.updateAddressBookEntry(entry.id, content, { idempotencyKey })
          : orgwallet.createAddressBookEntry(content, { idempotencyKey }),
      );
      await queryClient.invalidateQueries(addressBookQuery);
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
      <form className="stack" noValidate onSubmit={(event) => void send(event)}>
        <TextField
          label="Name"
          hint="For display only: it is no part of what is signed, nor of a policy."
          value={name}
          maxLength={100}
          error={errors.name}
          onChange={({ target }) => setName(target.value)}
        />
        <TextField
          label="Address"
          className="mono"
          value={address}
          error={addressError(address) ?? errors.address}
          onChange={({ target }) => setAddress(target.value)}
        />
        {isWhole && recipient ? <LookAlikes recipient={recipient} organization={organization} /> : null}
        <SelectField
          label="Network"
          value={networkId}
          error={errors.networkId}
          onChange={({ target }) => setNetworkId(target.value)}
        >
          <option value="">Every network</option>
          {organization.networks.map((network) => (
            <option key={network.id} value={network.id}>
              {network.name}
            </option>
          ))}
        </SelectField>
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
