import { z } from 'zod';
import { deriveAccount } from '../chain/safeAccount';
import { type Edit, expectNew } from '../domain/governance';
import { accept, refuse } from '../domain/refusal';
import { address, idOf, networkId } from '../domain/schemas';
import { listLine, quotedName } from '../domain/summary';
import { describeNetworks } from './networks';
import { defineRule } from './rule';
import { operationSummary } from './words';

const data = z.object({
  items: z.array(z.object({ id: idOf('acc'), name: z.string(), address, networkIds: z.array(networkId) })),
});

/** New shared wallets: each at one address on all its networks. */
export const accountsCreate = defineRule({
  resourceType: 'accounts',
  action: 'create',
  data,

  change(state, { items }) {
    const ids = items.map(({ id }) => id);
    const taken = expectNew(state, 'account', ids);
    if (taken) return taken;
    const edits: Edit[] = [];
    for (const { id, name, address: signed, networkIds } of items) {
      if (deriveAccount(state.signingKey, id).address !== signed) {
        return refuse('conflict', `account ${id} would not have the address ${signed}`);
      }
      const ascending = [...networkIds].sort((one, two) => one - two);
      edits.push({ type: 'account', id, after: { id, name, address: signed, networkIds: ascending } });
    }
    return accept(edits);
  },

  summary({ networks }, { items }) {
    const described = items.map(({ name, address: at, networkIds }): [string] => [
      listLine(`${quotedName(name)} (${at}) on `, describeNetworks(networks, networkIds)),
    ]);
    return operationSummary('Create', 'account', described);
  },

  networkIds: ({ items }) => items.flatMap(({ networkIds }) => networkIds),
});
