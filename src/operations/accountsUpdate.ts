import { z } from 'zod';
import type { NetworkConfig } from '../config';
import { type AccountState, type Edit, expectRevision, findResource } from '../domain/governance';
import { accept } from '../domain/refusal';
import { idOf, networkId, revision } from '../domain/schemas';
import { listLine, quotedName } from '../domain/summary';
import { describeNetworks } from './networks';
import { defineRule } from './rule';
import { operationSummary } from './words';

const data = z.object({
  items: z.array(
    z.object({
      id: idOf('acc'),
      revision,
      name: z.string().optional(),
      networkIds: z.array(networkId).optional(),
    }),
  ),
});

/** What an item changes about an account, in words. */
function describeChange(
  networks: readonly NetworkConfig[],
  account: AccountState,
  { name, networkIds = [] }: z.output<typeof data>['items'][number],
): string {
  const start = `${quotedName(account.name)} (${account.address}): `;
  const renamed = name === undefined || name === account.name ? '' : `name it ${quotedName(name)}`;
  if (networkIds.length === 0) return `${start}${renamed}`;
  return listLine(
    `${start}${renamed}${renamed === '' ? '' : ' and '}add `,
    describeNetworks(networks, networkIds),
  );
}

/** New names or further networks for accounts. */
export const accountsUpdate = defineRule({
  resourceType: 'accounts',
  action: 'update',
  data,

  change(state, { items }) {
    const edits: Edit[] = [];
    for (const { name, networkIds = [], ...signed } of items) {
      const found = expectRevision(state, 'account', signed, `account ${signed.id}`);
      if (!found.ok) return found;
      const { revision: _, ...account } = found.value;
      const all = [...new Set([...account.networkIds, ...networkIds])].sort((one, two) => one - two);
      const after = { ...account, name: name ?? account.name, networkIds: all };
      edits.push({ type: 'account', id: account.id, after });
    }
    return accept(edits);
  },

  summary({ state, networks }, { items }) {
    const described = items.flatMap((item): [string][] => {
      const account = findResource(state, 'account', item.id);
      return account ? [[describeChange(networks, account, item)]] : [];
    });
    return operationSummary('Update', 'account', described);
  },

  networkIds: ({ items }) => items.flatMap(({ networkIds = [] }) => networkIds),
});
