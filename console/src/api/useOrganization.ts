import type { Schema } from '@orgwallet/client';
import { useQueries } from '@tanstack/react-query';
import type { Names } from '../text/headline.ts';
import type { PolicyNames } from '../text/policySentences.ts';
import { accountsQuery, groupsQuery, membersQuery, networksQuery, policiesQuery } from './queries.ts';

/** What pages name and look up: the organization as it is now. */
export interface Organization extends Names, PolicyNames {
  readonly members: readonly Schema['Member'][];
  readonly groups: readonly Schema['Group'][];
  readonly policies: readonly Schema['Policy'][];
  readonly accounts: readonly Schema['Account'][];
  readonly networks: readonly Schema['Network'][];
}

const named = (things: readonly { id: string | number; name: string }[]) => {
  const names = new Map(things.map(({ id, name }) => [id, name]));
  return (id: string | number) => names.get(id);
};

function organizationOf(
  members: readonly Schema['Member'][],
  groups: readonly Schema['Group'][],
  policies: readonly Schema['Policy'][],
  accounts: readonly Schema['Account'][],
  networks: readonly Schema['Network'][],
): Organization {
  const owners = new Map([
    ...accounts.map(({ address, name }) => [address.toLowerCase(), name] as const),
    ...members.map(({ walletAddress, name }) => [walletAddress.toLowerCase(), name] as const),
  ]);
  return {
    members,
    groups,
    policies,
    accounts,
    networks,
    member: named(members),
    group: named(groups),
    account: named(accounts),
    network: named(networks),
    nativeAsset: (id) => networks.find((network) => network.id === id)?.nativeAsset,
    owner: (address) => owners.get(address.toLowerCase()),
  };
}

/** The lists of the organization: its data, or the first error of their reading. */
export function useOrganization(): {
  readonly organization: Organization | undefined;
  readonly error: unknown;
  readonly refetch: () => void;
} {
  return useQueries({
    queries: [membersQuery, groupsQuery, policiesQuery, accountsQuery, networksQuery],
    combine: (results) => {
      const [members, groups, policies, accounts, networks] = results;
      const isRead = members.data && groups.data && policies.data && accounts.data && networks.data;
      return {
        organization: isRead
          ? organizationOf(members.data, groups.data, policies.data, accounts.data, networks.data)
          : undefined,
        error: results.find(({ error }) => error)?.error,
        refetch: () => {
          for (const { error, refetch } of results) if (error) void refetch();
        },
      };
    },
  });
}
