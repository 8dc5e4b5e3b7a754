import { findAccounts } from '../../src/db/accounts';
import { accept, refuse } from '../../src/domain/refusal';
import { quoted } from '../../src/domain/signing';
import type { ProposalKind } from './kind';
import { describeNetworks, unknownNetwork } from './networks';

interface Item {
  readonly id: string;
  readonly name?: string;
  readonly networkIds?: readonly number[];
}

interface Body {
  readonly items: readonly Item[];
}

/** A new name for accounts, or more networks that they are on. */
export const accountsUpdate: ProposalKind = {
  resourceType: 'accounts',
  action: 'update',
  requestPaths: ['/api/v1/accounts/proposals/update'],

  async plan({ tx, organizationId, networks }, body) {
    const { items } = body as unknown as Body;
    const unknown = unknownNetwork(networks, items);
    if (unknown) return unknown;
    const accounts = await findAccounts(
      tx,
      organizationId,
      items.map((item) => item.id),
    );
    const described: string[] = [];
    for (const [i, item] of items.entries()) {
      const account = accounts.find(({ id }) => id === item.id);
      if (!account) return refuse('validationError', `there is no account ${item.id}`, `items[${i}].id`);
      const present = (item.networkIds ?? []).findIndex((id) => account.networkIds.includes(id));
      if (present >= 0) {
        return refuse(
          'validationError',
          `account ${item.id} is on network ${item.networkIds?.[present]} already`,
          `items[${i}].networkIds[${present}]`,
        );
      }
      const renames = item.name !== undefined && item.name !== account.name;
      const adds = (item.networkIds ?? []).length > 0;
      if (!renames && !adds) {
        return refuse('validationError', `nothing about account ${item.id} would change`, `items[${i}]`);
      }
      const changes = [
        ...(renames ? [`name it ${quoted(item.name ?? '')}`] : []),
        ...(adds ? [`add ${describeNetworks(networks, item.networkIds ?? [])}`] : []),
      ];
      described.push(`${quoted(account.name)} (${account.address}): ${changes.join(' and ')}`);
    }
    return accept({
      data: {
        items: items.map(({ id, name, networkIds }) => ({
          id,
          ...(name === undefined ? {} : { name }),
          ...(networkIds === undefined ? {} : { networkIds }),
        })),
      },
      plan: {},
      summary: `Update ${items.length === 1 ? 'account' : `${items.length} accounts:`} ${described.join('; ')}`,
      claims: items.map(({ id }) => `account:${id}`),
    });
  },

  async apply({ tx, organizationId, networks }, proposal) {
    const { items } = proposal.data as unknown as Body;
    const unknown = unknownNetwork(networks, items);
    if (unknown) return unknown;
    const accounts = await findAccounts(
      tx,
      organizationId,
      items.map((item) => item.id),
      { lock: 'update' },
    );
    const audit = [];
    for (const item of items) {
      const account = accounts.find(({ id }) => id === item.id);
      if (!account) return refuse('conflict', `account ${item.id} is no longer there`);
      const present = (item.networkIds ?? []).find((id) => account.networkIds.includes(id));
      if (present !== undefined) {
        return refuse('conflict', `account ${item.id} is on network ${present} already`);
      }
      if (item.name !== undefined && item.name !== account.name) {
        await tx('accounts')
          .where({ id: item.id })
          .update({ name: item.name, updated_at: tx.raw('now()') });
        audit.push({
          action: 'account.updated',
          resourceType: 'account',
          resourceId: item.id,
          details: { before: { name: account.name }, after: { name: item.name }, proposalId: proposal.id },
        });
      }
    }
    return accept({
      resources: items.map(({ id }) => ({ type: 'account' as const, id, uri: `/api/v1/accounts/${id}` })),
      deployments: items.flatMap((item) =>
        (item.networkIds ?? []).map((networkId) => ({ accountId: item.id, networkId })),
      ),
      effective: audit.length > 0,
      audit,
    });
  },
};
