import { newId } from '../../src/db/ids';
import { accept, refuse } from '../../src/domain/refusal';
import { quoted } from '../../src/domain/signing';
import type { KindContext, ProposalKind } from './kind';
import { describeNetworks, unknownNetwork } from './networks';

interface Body {
  readonly items: readonly { readonly name: string; readonly networkIds: readonly number[] }[];
}

interface PlanDetails {
  /** Ids of the accounts to be, in the order of the items: their addresses follow from them. */
  readonly accountIds: readonly string[];
}

async function signingKeyAddress({ tx, organizationId }: KindContext): Promise<string | undefined> {
  const key = await tx('signing_keys').where({ organization_id: organizationId }).first('address');
  return key?.address;
}

/** New shared wallets: each at one address on all its networks. */
export const accountsCreate: ProposalKind = {
  resourceType: 'accounts',
  action: 'create',
  needsSigningKey: true,
  requestPaths: ['/api/v1/accounts/proposals/create'],

  async plan({ networks }, body) {
    const { items } = body as unknown as Body;
    const unknown = unknownNetwork(networks, items);
    if (unknown) return unknown;
    const described = items.map(
      (item) => `${quoted(item.name)} on ${describeNetworks(networks, item.networkIds)}`,
    );
    return accept({
      data: { items: items.map(({ name, networkIds }) => ({ name, networkIds })) },
      plan: { accountIds: items.map(() => newId('acc')) },
      summary: `Create ${items.length === 1 ? 'account' : `${items.length} accounts:`} ${described.join('; ')}`,
      claims: [],
    });
  },

  async apply(context, proposal) {
    const { tx, organizationId, networks, deriveAccount } = context;
    const { items } = proposal.data as unknown as Body;
    const { accountIds } = proposal.plan as unknown as PlanDetails;
    const unknown = unknownNetwork(networks, items);
    if (unknown) return unknown;
    const owner = await signingKeyAddress(context);
    if (owner === undefined)
      return refuse('conflict', 'the signing key of the organization is not there yet');
    const accounts = items.map((item, index) => {
      const id = accountIds[index];
      if (id === undefined) throw new Error(`proposal ${proposal.id} has no account id for item ${index}`);
      return { ...item, id, derived: deriveAccount(owner, id) };
    });
    await tx('accounts').insert(
      accounts.map(({ id, name, derived }) => ({
        id,
        organization_id: organizationId,
        name,
        address: derived.address,
        owner_address: derived.ownerAddress,
        singleton: derived.singleton,
        factory: derived.factory,
        fallback_handler: derived.fallbackHandler,
        initializer: derived.initializer,
        salt_nonce: derived.saltNonce,
        position: 0,
      })),
    );
    return accept({
      resources: accounts.map(({ id }) => ({ type: 'account' as const, id, uri: `/api/v1/accounts/${id}` })),
      deployments: accounts.flatMap(({ id, networkIds }) =>
        networkIds.map((networkId) => ({ accountId: id, networkId })),
      ),
      effective: false,
      audit: [],
    });
  },
};
