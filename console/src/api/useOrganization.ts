import type { Schema } from '@orgwallet/client';
import { useQueries } from '@tanstack/react-query';
import type { Names } from '../text/headline.ts';
import type { PolicyNames } from '../text/policySentences.ts';
import {
  accountsQuery,
  addressBookQuery,
  groupsQuery,
  membersQuery,
  networksQuery,
  policiesQuery,
} from './queries.ts';

/** What pages name and look up: the organization as it is now. */
export interface Organization extends Names, PolicyNames {
  policy(id: string): string | undefined;
  readonly members: readonly Schema['Member'][];
  readonly groups: readonly Schema['Group'][];
  readonly policies: readonly Schema['Policy'][];
  readonly accounts: readonly Schema['Account'][];
  readonly networks: readonly Schema['Network'][];
  readonly addressBook: readonly Schema['AddressBookEntry'][];
}

const named = (things: readonly { id: string | number; name: string }[]) => {
  const names = new Map(things.map(({ id, name }) => [id, name]));
  return (id: string | number) => names.get(id);
};

/** The lists of an organization. */
type Lists = Pick<Organization, 'members' | 'groups' | 'policies' | 'accounts' | 'networks' | 'addressBook'>;

function organizationOf(lists: Lists): Organization {
  const { members, groups, policies, accounts, networks, addressBook } = lists;
  const noted = new Map(
    addressBook.map(({ address, networkId, name }) => [`${address.toLowerCase()}/${networkId ?? ''}`, name]),
  );
  const owners = new Map([
    ...accounts.map(({ address, name }) => [address.toLowerCase(), name] as const),
    ...members.map(({ walletAddress, name }) => [walletAddress.toLowerCase(), name] as const),
  ]);
  return {
    ...lists,
    member: named(members),
    group: named(groups),
    account: named(accounts),
    policy: named(policies),
    network: named(networks),
    nativeAsset: (id) => networks.find((network) => network.id === id)?.nativeAsset,
    owner: (address) => owners.get(address.toLowerCase()),
    noted: (address, networkId) =>
      noted.get(`${address.toLowerCase()}/${networkId ?? ''}`) ?? noted.get(`${address.toLowerCase()}/`),
  };
}

/** The lists of the organization: its data, or the first error of their reading. */
export function useOrganization(): {
  readonly organization: Organization | undefined;
  readonly error: unknown;
  readonly refetch: () => void;
} {
  return useQueries({
    queries: [membersQuery, groupsQuery, policiesQuery, accountsQuery, networksQuery, addressBookQuery],
    combine: (results) => {
      const [members, groups, policies, accounts, networks, addressBook] = results;
      const isRead =
        members.data && groups.data && policies.data && accounts.data && networks.data && addressBook.data;
      return {
        organization: isRead
          ? organizationOf({
              members: members.data,
              groups: groups.data,
              policies: policies.data,
              accounts: accounts.data,
              networks: networks.data,
              addressBook: addressBook.data,
            })
          : undefined,
        error: results.find(({ error }) => error)?.error,
        refetch: () => {
          for (const { error, refetch } of results) if (error) void refetch();
        },
      };
    },
  });
}
