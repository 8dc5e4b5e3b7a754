import { existsSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { createApi } from '@orgwallet/client';
import { rescueKit } from '@orgwallet/client/rescue';
import type { Browser } from 'playwright-core';
import type { Address } from 'viem';
import { requireRow } from '../../src/db/rows';
import { carryOut, proposeChange, read } from '../support/api';
import { launchBrowser } from '../support/browser/launch';
import { copyOfRescuePage, openKit, openRescuePage, rescueByPage } from '../support/browser/rescuePage';
import { anAddress } from '../support/builders';
import { startInterceptingProxy } from '../support/interceptingProxy';
import { payByProtocolKit, takeOverByProtocolKit } from '../support/protocolKit';
import {
  CONSTANTS,
  LOOK,
  PAYMENT,
  TAKEOVER,
  TOKEN,
  takeoverByCast,
  togetherByCast,
} from '../support/rescueCommands';
import { ETHER, type RescueChain, RescueWorld, rescueChain } from '../support/rescueWorld';
import { type SeparateService, startSeparateService, type TestOrganization } from '../support/service';
import { fundOnLocalChain, networksFile, rpc, startOwnChain } from '../support/stack';
import { until } from '../support/until';

const CHAIN_IDS = [41_361, 41_362];
/** A service, two chains and many short programs, on a machine that may be busy. */
const LIMIT_MS = 300_000;

let parts: Awaited<ReturnType<typeof startOwnChain>>[] = [];
let browser: Browser;
let world: RescueWorld;
/** The chains as the service left them. */
let left: readonly string[];

/** The admins switch their Safe on, and make three accounts on both networks. */
async function makeAccounts({ http }: SeparateService, org: TestOrganization): Promise<void> {
  const onChain = { updates: [], threshold: 2, onChain: { enabled: true } };
  await carryOut(http, org, await proposeChange(http, org, '/admins/proposals/update', onChain));
  const items = ['Treasury', 'Payroll', 'Grants'].map((name) => ({ name, networkIds: CHAIN_IDS }));
  await carryOut(http, org, await proposeChange(http, org, '/accounts/proposals/create', { items }));
  await until(
    'the accounts can be rescued',
    async () => {
      const [accounts, admins] = await Promise.all([
        read(http, org.readKey, '/api/v1/accounts'),
        read(http, org.readKey, '/api/v1/admins'),
      ]);
      const rescues = accounts.flatMap((one: { networks: { rescue: string }[] }) =>
        one.networks.map(({ rescue }) => rescue),
      );
      const statuses = admins.onChain.networks.map(({ status }: { status: string }) => status);
      return `${rescues} ${statuses}` === `${Array(6).fill('ready')} current,current`;
    },
    120_000,
  );
}

/** An organization of the real service, whose host is lost: no process, no keystore. Only the kit is left, and the wallets. */
async function orphaned(): Promise<RescueWorld> {
  const networks = parts.map(({ current }) => ({
    ...{ id: current.chainId, name: `Chain ${current.chainId}`, rpcUrl: current.rpcUrl },
  }));
  const service = await startSeparateService({
    env: { NETWORKS_FILE: networksFile(networks), SIGNER_NETWORK: String(CHAIN_IDS[0]) },
  });
  const org = await service.createOrganization();
  await makeAccounts(service, org);
  // The old key, as a thief of the keystore has it.
  const keystore = await service.keystore();
  const signingKey = keystore.organizationKey(org.id);
  const known = { id: org.id, signingKey: signingKey.address, sealKey: keystore.sealKey(org.id).address };
  const proxy = await startInterceptingProxy(service);
  const kit = await rescueKit(createApi({ baseUrl: proxy.baseUrl, apiKey: org.readKey }), known);
  proxy.close();

  await service.stop();
  rmSync(dirname(service.config.keystore.file), { recursive: true });
  expect(existsSync(service.config.keystore.file)).toBe(false);
  await expect(service.part.exited).resolves.toBeDefined();

  const admins = [org.alice, org.bob, org.carol];
  const chains = parts.map(({ current }) => rescueChain(current));
  for (const { url } of chains) {
    const funded = [...admins.map(({ wallet }) => wallet.address), ...kit.networks.flatMap(addressesOf)];
    for (const address of new Set(funded)) await fundOnLocalChain(url, address);
  }
  return new RescueWorld(chains, admins, signingKey, kit);
}

const addressesOf = ({ accounts }: { accounts: readonly { address: Address }[] }) =>
  accounts.map(({ address }) => address);

beforeAll(async () => {
  [browser, ...parts] = await Promise.all([
    launchBrowser(),
    ...CHAIN_IDS.map((id) => startOwnChain(id)),
  ] as const);
  world = await orphaned();
}, LIMIT_MS);
beforeEach(async () => {
  left = await Promise.all(world.chains.map(({ url }) => rpc<string>(url, 'evm_snapshot', [])));
});
afterEach(async () => {
  for (const [i, { url }] of world.chains.entries()) await rpc(url, 'evm_revert', [left[i]]);
});
afterAll(async () => {
  await browser?.close();
  await Promise.all(parts.map((part) => part.stop()));
});

describe('without the service, its processes and its keystore', () => {
  it('the kit has three accounts on two networks, owned by the signing key', async () => {
    expect(world.kit.networks.map(({ networkId, accounts }) => [networkId, accounts.length])).toEqual(
      CHAIN_IDS.map((id) => [id, 3]),
    );
    for (const chain of world.chains) {
      for (const account of world.accounts) {
        expect(await world.ownersOf(chain, account)).toEqual([world.signingKey.address]);
        expect(await world.modulesOf(chain, account)).toEqual([world.adminsSafe]);
      }
    }
  });

  it(
    'the commands of docs/rescue.md move money and tokens, with cast alone',
    async () => {
      for (const [i, chain] of world.chains.entries()) {
        const { to, operation, data } = requireRow(world.kit.networks[i]?.takeovers[0]);
        expect(await takeoverByCast(world, chain)).toBe(`${to} ${operation} ${data}`);
        const output = await togetherByCast(world, chain, [LOOK, TAKEOVER]);
        const [, before, after] = output.split(`${world.adminsSafe}\n`);
        expect(before).toContain(`owners  [${world.signingKey.address}], 1 must sign`);
        expect(after).not.toContain(world.signingKey.address);
        const owned = new RegExp(`owners  \\[${world.adminsSafe}\\], 1 must sign`, 'g');
        expect(after?.match(owned)).toHaveLength(3);
        await world.expectTaken(chain);

        const recipient = anAddress() as Address;
        await togetherByCast(world, chain, [CONSTANTS, PAYMENT], { recipient });
        expect(await chain.client.getBalance({ address: recipient })).toBe((3n * ETHER) / 2n);
        const token = requireRow(parts[i]).current.token.address as Address;
        await fundWithToken(chain, token, requireRow(world.accounts[0]));
        await togetherByCast(world, chain, [CONSTANTS, PAYMENT, TOKEN], { recipient, token });
        expect(await tokenBalance(chain, token, recipient)).toBe((3n * ETHER) / 2n);
      }
    },
    LIMIT_MS,
  );

  it(
    'rescue.html, opened as a file by two admins, moves money',
    async () => {
      const file = copyOfRescuePage();
      const open = async (i: number) => {
        const visitor = await openRescuePage(browser, file, requireRow(world.admins[i]));
        visitor.wallet.know(world.chains);
        await openKit(visitor, world);
        return visitor;
      };
      const both = [await open(0), await open(1)] as const;
      for (const { networkId, client } of world.chains) {
        const payee = anAddress() as Address;
        await rescueByPage(world, networkId, both, payee);
        expect(await client.getBalance({ address: payee })).toBe((3n * ETHER) / 2n);
      }
      expect(both.flatMap(({ faults }) => faults)).toEqual([]);
      await Promise.all(both.map(({ context }) => context.close()));
    },
    LIMIT_MS,
  );

  it(
    "the Transaction Builder's file moves money, with Safe's protocol-kit",
    async () => {
      for (const chain of world.chains) {
        await takeOverByProtocolKit(world, chain);
        await world.expectTaken(chain);
        const payee = anAddress() as Address;
        await payByProtocolKit(world, chain, payee);
        expect(await chain.client.getBalance({ address: payee })).toBe(ETHER);
      }
    },
    LIMIT_MS,
  );
});

const TRANSFER = '0xa9059cbb';
const BALANCE_OF = '0x70a08231';
const word = (value: string | bigint) =>
  (typeof value === 'bigint' ? value.toString(16) : value.slice(2).toLowerCase()).padStart(64, '0');

async function fundWithToken({ url }: RescueChain, token: Address, to: Address): Promise<void> {
  const [from] = await rpc<string[]>(url, 'eth_accounts', []);
  await rpc(url, 'eth_sendTransaction', [
    { from, to: token, data: `${TRANSFER}${word(to)}${word(5n * ETHER)}` },
  ]);
}

async function tokenBalance({ url }: RescueChain, token: Address, of: Address): Promise<bigint> {
  return BigInt(
    await rpc<string>(url, 'eth_call', [{ to: token, data: `${BALANCE_OF}${word(of)}` }, 'latest']),
  );
}
