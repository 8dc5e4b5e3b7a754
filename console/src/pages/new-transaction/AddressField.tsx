import { type InputHTMLAttributes, useId } from 'react';
import type { Organization } from '../../api/useOrganization.ts';
import { TextField } from '../../ui/Field.tsx';

interface Props extends InputHTMLAttributes<HTMLInputElement> {
  readonly label: string;
  readonly error?: string | undefined;
  readonly organization: Organization;
  readonly value: string;
}

/** An address, with those of the organization to choose from; says whose it is. */
export function AddressField({ organization, value, ...rest }: Props) {
  const id = useId();
  const known = [
    ...organization.accounts.map(({ address, name }) => ({ address, name: `account ${name}` })),
    ...organization.members.map(({ walletAddress, name }) => ({
      address: walletAddress,
      name: `member ${name}`,
    })),
  ];
  const owner = known.find(({ address }) => address.toLowerCase() === value.trim().toLowerCase());
  return (
    <>
      <TextField
        {...rest}
        value={value}
        list={id}
        className="mono"
        hint={owner ? `This is the ${owner.name}.` : undefined}
      />
      <datalist id={id}>
        {known.map(({ address, name }) => (
          <option key={`${address}${name}`} value={address}>
            {name}
          </option>
        ))}
      </datalist>
    </>
  );
}
