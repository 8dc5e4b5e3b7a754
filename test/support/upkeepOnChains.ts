import { type Address, createPublicClient, http as rpcTransport } from 'viem';
import { deriveAdminsSafe } from '../../src/chain/adminsSafe';
import { readSafe } from '../../src/chain/safeState';
import { readJournal } from '../../src/signer/journal/journalReader';
import { read, type Shown } from './api';
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

/** Waits until the admins can take over each account on each of its networks. */
export async function untilReady(
  { http }: Pick<TestService, 'http'>,
  { readKey }: TestOrganization,
  limitMs: number,
): Promise<void> {
  await until(
    'each account is ready on each network',
    async () => {
      const accounts: Shown[] = await read(http, readKey, '/api/v1/accounts');
      const seen = accounts.flatMap(({ networks }) => networks.map(({ rescue }: Shown) => rescue));
      if (seen.some((rescue) => rescue !== 'ready')) throw new Error(seen.join());
      return seen.length > 0;
    },
    limitMs,
  );
}

/** What a journal has of an organization's upkeep: the content at each nonce, of which none has a second. */
export async function upkeepInJournal(
  journalFile: string,
  { id }: TestOrganization,
): Promise<ReadonlyMap<string, string>> {
  const journal = await readJournal(journalFile);
  try {
    const entries = journal.upkeep().filter(({ organizationId }) => organizationId === id);
    const contents = new Map(
      entries.map((one) => [`${one.networkId}/${one.safe}/${one.safeNonce}`, one.safeTxHash]),
    );
    expect(entries).toHaveLength(contents.size);
    return contents;
  } finally {
    await journal.close();
  }
}
