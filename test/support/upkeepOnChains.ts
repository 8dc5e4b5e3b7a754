import { type Address, createPublicClient, http as rpcTransport } from 'viem';
import { deriveAdminsSafe } from '../../src/chain/adminsSafe';
import { readSafe } from '../../src/chain/safeState';
import type { TestMember, TestOrganization, TestService } from './service';
import { endpointOf } from './stack';
import { until } from './until';

/** The admins' Safe of an organization and its keeper. */
export async function safesOf(service: Pick<TestService, 'keystore'>, { id, adminsId }: TestOrganization) {
  const signingKey = (await service.keystore()).organizationKey(id).address;
  return deriveAdminsSafe({ signingKey, admins: { id: adminsId } });
}

/** The chains of a service. */
export function chainsOf({ config }: Pick<TestService, 'config'>) {
  return config.networks.map((network) => ({
    networkId: network.id,
    client: createPublicClient({ transport: rpcTransport(endpointOf(network)) }),
  }));
}

/** Waits until these own the admins' Safe on each network, and the keeper is its only module. */
export async function untilOwned(
  service: Pick<TestService, 'config' | 'keystore'>,
  org: TestOrganization,
  { admins, threshold }: { readonly admins: readonly TestMember[]; readonly threshold: number },
  limitMs: number,
): Promise<void> {
  const { safe, keeper } = await safesOf(service, org);
  const wanted = { owners: admins.map(({ wallet }) => wallet.address).sort(), threshold };
  for (const { networkId, client } of chainsOf(service)) {
    await until(
      `the admins' Safe on ${networkId} has ${wanted.owners.length} owners, of which ${threshold} sign`,
      async () => {
        const found = await readSafe(client as never, safe.address as Address);
        if (found.kind !== 'safe') throw new Error(`it is ${found.kind}`);
        const { owners, threshold: signs, modules } = found.state;
        if (modules.join() !== keeper.address) throw new Error(`its modules are ${modules}`);
        const seen = JSON.stringify({ owners: [...owners].sort(), threshold: signs });
        if (seen !== JSON.stringify(wanted)) throw new Error(`it is ${seen}`);
        return true;
      },
      limitMs,
    );
  }
}
