import { useQuery } from '@tanstack/react-query';
import { type InputHTMLAttributes, useId } from 'react';
import { isAddress } from 'viem';
import { recipientQuery } from '../../api/queries.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { addressError } from '../../domain/address.ts';
import { readPrefixed } from '../../domain/prefixedAddress.ts';
import { recipientText } from '../../text/recipient.ts';
import { AddressIcon } from '../../ui/AddressIcon.tsx';
import { TextField } from '../../ui/Field.tsx';
import fieldStyles from '../../ui/field.module.css';
import iconsStyles from '../../ui/icons.module.css';
import { LookAlikes } from '../../ui/LookAlikes.tsx';

interface Props extends Omit<InputHTMLAttributes<HTMLInputElement>, 'onChange'> {
  readonly label: string;
  readonly error?: string | undefined;
  readonly organization: Organization;
  readonly network: Organization['networks'][number] | undefined;
  readonly value: string;
  readonly onChange: (address: string) => void;
}

/** The addresses to choose from: of accounts and members, and of the address book where they are for the network. */
function knownAddresses({ accounts, members, addressBook }: Organization, networkId: number | undefined) {
  return [
    ...accounts.map(({ address, name }) => ({ address, name: `account ${name}` })),
    ...members.map(({ walletAddress: address, name }) => ({ address, name: `member ${name}` })),
    ...addressBook
      .filter((entry) => entry.networkId === null || entry.networkId === networkId)
      .map(({ address, name }) => ({ address, name: `${name} (address book)` })),
  ];
}

/** An address, with those of the organization to choose from; says whose it is, what was paid to it, and what it looks like. */
export function AddressField({ organization, network, value, error, onChange, ...rest }: Props) {
  const id = useId();
  const read = readPrefixed(value, network);
  const address = value.trim();
  const isWhole = isAddress(address);
  const { data: recipient } = useQuery({ ...recipientQuery(address), enabled: isWhole });
  const elsewhere = recipient?.known.filter(
    ({ type, networkId }) =>
      type === 'addressBookEntry' && networkId !== undefined && networkId !== network?.id,
  );
  return (
    <>
      <TextField
        {...rest}
        value={value}
        list={id}
        className="mono"
        error={('error' in read ? read.error : addressError(value)) ?? error}
        hint={
          isWhole && recipient ? (
            <span className={iconsStyles.withIcon}>
              <AddressIcon address={address} />
              <span>{recipientText(recipient, organization.network)}</span>
            </span>
          ) : undefined
        }
        onChange={({ target }) => {
          const typed = readPrefixed(target.value, network);
          onChange('address' in typed ? typed.address : target.value);
        }}
      />
      {isWhole && recipient && elsewhere && elsewhere.length > 0 && network ? (
        <p className={fieldStyles.fieldHint}>
          The address book has this address for another network than {network.name}: check that the recipient
          can use it there.
        </p>
      ) : null}
      {isWhole && recipient ? <LookAlikes recipient={recipient} organization={organization} /> : null}
      <datalist id={id}>
        {knownAddresses(organization, network?.id).map((known) => (
          <option key={`${known.address}${known.name}`} value={known.address}>
            {known.name}
          </option>
        ))}
      </datalist>
    </>
  );
}
