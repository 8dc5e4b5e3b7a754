import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { isAddress } from 'viem';
import { recipientQuery } from '../../api/queries.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { readPrefixed } from '../../domain/prefixedAddress.ts';
import { recipientText } from '../../text/recipient.ts';
import { AddressIcon } from '../../ui/AddressIcon.tsx';
import fieldStyles from '../../ui/field.module.css';
import { FormText } from '../../ui/formFields.tsx';
import iconsStyles from '../../ui/icons.module.css';
import { LookAlikes } from '../../ui/LookAlikes.tsx';
import type { TransactionForm } from './SourceFields.tsx';

interface Props {
  readonly form: TransactionForm;
  readonly label: string;
  readonly organization: Organization;
  readonly network: Organization['networks'][number] | undefined;
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
export function AddressField({ form, label, organization, network }: Props) {
  const id = useId();
  const address = form.draft.to.trim();
  const isWhole = isAddress(address);
  const { data: recipient } = useQuery({ ...recipientQuery(address), enabled: isWhole });
  const elsewhere = recipient?.known.filter(
    ({ type, networkId }) =>
      type === 'addressBookEntry' && networkId !== undefined && networkId !== network?.id,
  );
  return (
    <>
      <FormText
        form={form}
        name="to"
        label={label}
        list={id}
        className="mono"
        hint={
          isWhole && recipient ? (
            <span className={iconsStyles.withIcon}>
              <AddressIcon address={address} />
              <span>{recipientText(recipient, organization.network)}</span>
            </span>
          ) : undefined
        }
        read={(typed) => {
          const read = readPrefixed(typed, network);
          return 'address' in read ? read.address : typed;
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
