import {
  type AdminsTransaction,
  buildRescueKit,
  executionData,
  type RescueKit,
  safeTypedData,
} from '@orgwallet/client/rescue';
import { type Address, createPublicClient, type Hex, http, type PublicClient } from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import {
  bootstrapCall,
  type Call,
  deriveAdminsSafe,
  handover,
  securedDeploymentCall,
  securing,
  type UpkeepContent,
} from '../../src/chain/adminsSafe';
import type { SigningKey } from '../../src/chain/keys';
import { safeAbi } from '../../src/chain/safe';
import { deriveAccount } from '../../src/chain/safeAccount';
import { executionCall, type SafeTransaction, safeTransactionHash } from '../../src/chain/safeTransaction';
import { signHead } from '../../src/chain/signedSeals';
import type { OrganizationState } from '../../src/domain/governance';
import { aHash, anId } from './builders';
import { fundOnLocalChain, LOCAL_FUNDER, rpc } from './stack';
import { until } from './until';

/** A chain of a rescue. */
export interface RescueChain {
  readonly networkId: number;
  readonly url: string;
  readonly client: PublicClient;
}

/** A chain by its endpoint. */
export const rescueChain = ({ chainId, rpcUrl }: { chainId: number; rpcUrl: string }): RescueChain => ({
  networkId: chainId,
  url: rpcUrl,
  client: createPublicClient({ transport: http(rpcUrl) }),
});

/** A person who decides, with a wallet that is a key. */
export interface RescueAdmin {
  readonly name: string;
  readonly privateKey: Hex;
  readonly wallet: PrivateKeyAccount;
}

export const ETHER = 10n ** 18n;

interface Receipt {
  readonly status: Hex;
  readonly gasUsed: Hex;
}

const hex = (value: bigint): Hex => `0x${value.toString(16)}`;

/** An organization on its chains as the service leaves it behind: nothing of the service is needed any more. */
export class RescueWorld {
  readonly adminsSafe: Address;
  readonly keeper: Address;
  /** The same on every chain. */
  readonly accounts: readonly Address[];

  constructor(
    readonly chains: readonly RescueChain[],
    readonly admins: readonly RescueAdmin[],
    /** The old key, which owns the accounts until then. */
    readonly signingKey: Pick<PrivateKeyAccount, 'address' | 'sign'>,
    readonly kit: RescueKit,
  ) {
    this.adminsSafe = kit.adminsSafe;
    this.keeper = kit.keeper;
    this.accounts = kit.networks[0]?.accounts.map(({ address }) => address) ?? [];
  }

  /** Sets an organization up: two of three admins decide, each account is on every chain with 10 ETH there. */
  static async make(
    endpoints: readonly { readonly chainId: number; readonly rpcUrl: string }[],
    { accounts: count = 3, threshold = 2, admins: names = ['Alice', 'Bob', 'Carol'] } = {},
  ): Promise<RescueWorld> {
    const [signingKey, sealKey] = [1, 2].map(() => privateKeyToAccount(generatePrivateKey()));
    if (!signingKey || !sealKey) throw new Error('no keys');
    const admins = names.map((name) => {
      const privateKey = generatePrivateKey();
      return { name, privateKey, wallet: privateKeyToAccount(privateKey) };
    });
    const chains = endpoints.map(rescueChain);
    const state = stateOf(signingKey.address, sealKey.address, admins, threshold, {
      count,
      networkIds: chains.map(({ networkId }) => networkId),
    });
    const safes = deriveAdminsSafe(state);
    const ids = Object.keys(state.accounts);
    const signed = async (networkId: number, content: UpkeepContent) => {
      const transaction: SafeTransaction = { ...content, networkId, nonce: 0n };
      return { transaction, signature: await signingKey.sign({ hash: safeTransactionHash(transaction) }) };
    };
    for (const { networkId, url } of chains) {
      const owners = admins.map(({ wallet }) => wallet.address);
      const first = await signed(networkId, handover(safes, { owners, threshold }));
      await sendAsFunder(url, bootstrapCall(safes, { keeper: true, safe: true }, first));
      for (const id of ids) {
        const account = deriveAccount(signingKey.address, id);
        const enabled = await signed(networkId, securing(account.address as Address, safes));
        await sendAsFunder(url, securedDeploymentCall(account, enabled));
        await fundOnLocalChain(url, account.address);
      }
      for (const { wallet } of admins) await fundOnLocalChain(url, wallet.address);
    }
    const text = JSON.stringify(state);
    const sealHash = aHash();
    const head = { organizationId: state.id, sequence: state.sequence, sealHash, state: text };
    const signature = await signHead(sealKey as unknown as SigningKey, head);
    const kit = await buildRescueKit(
      { state: text, sealHash, signature },
      (networkId) => `Chain ${networkId}`,
      new Date(),
    );
    if (!kit) throw new Error("the admins' Safe is off");
    return new RescueWorld(chains, admins, signingKey, kit);
  }

  /** Throws unless every account of a chain belongs to the admins, and nothing is left to the key that owned it. */
  async expectTaken(chain: RescueChain): Promise<void> {
    for (const account of this.accounts) {
      expect(await this.ownersOf(chain, account)).toEqual([this.adminsSafe]);
      expect(await this.refusalOfOldKey(chain, account)).toBe('GS026');
    }
    expect(await this.modulesOf(chain, this.adminsSafe)).toEqual([]);
  }

  /** The owners of a Safe on a chain. */
  async ownersOf({ client }: RescueChain, safe: Address): Promise<readonly Address[]> {
    return client.readContract({ address: safe, abi: safeAbi, functionName: 'getOwners' });
  }

  /** The modules of a Safe on a chain, the newest first. */
  async modulesOf({ client }: RescueChain, safe: Address): Promise<readonly Address[]> {
    const args = ['0x0000000000000000000000000000000000000001', 10n] as const;
    const functionName = 'getModulesPaginated';
    return (await client.readContract({ address: safe, abi: safeAbi, functionName, args }))[0];
  }

  /** The call that executes a transaction of the admins' Safe, signed by these admins over its next nonce. */
  async adminsCall(
    chain: RescueChain,
    transaction: AdminsTransaction,
    by: readonly RescueAdmin[],
  ): Promise<Call> {
    const nonce = await chain.client.readContract({
      ...{ address: this.adminsSafe, abi: safeAbi, functionName: 'nonce' },
    });
    const typed = safeTypedData(chain.networkId, this.adminsSafe, transaction, nonce as bigint);
    const signatures = await Promise.all(
      by.map(async ({ wallet }) => ({
        owner: wallet.address,
        signature: await wallet.signTypedData(typed as unknown as Parameters<typeof wallet.signTypedData>[0]),
      })),
    );
    return { to: this.adminsSafe, data: executionData(transaction, signatures) };
  }

  /** Why the key that owned an account cannot move its money any more: the reason of the Safe. */
  async refusalOfOldKey({ client, networkId }: RescueChain, account: Address): Promise<string> {
    const nonce = await client.readContract({ address: account, abi: safeAbi, functionName: 'nonce' });
    const payment = { to: this.signingKey.address, value: 1n, data: '0x', safeTxGas: 50_000n } as const;
    const transaction = { ...payment, networkId, account, nonce };
    const signature = await this.signingKey.sign({ hash: safeTransactionHash(transaction) });
    const reason = await client
      .call({ account: LOCAL_FUNDER.address, ...executionCall(transaction, signature) })
      .then(
        () => 'executed',
        (error: Error) => error.message,
      );
    return /GS\d{3}/.exec(reason)?.[0] ?? reason;
  }
}

/** The sealed state of an organization with accounts on all networks. */
function stateOf(
  signingKey: string,
  sealKey: string,
  admins: readonly RescueAdmin[],
  threshold: number,
  { count, networkIds }: { readonly count: number; readonly networkIds: readonly number[] },
): OrganizationState {
  const byId = <T extends { readonly id: string }>(items: readonly T[]) =>
    Object.fromEntries(items.map((item) => [item.id, item]));
  const members = admins.map(({ name, wallet }) => ({
    ...{ id: anId('mem'), name, type: 'user', walletAddress: wallet.address, walletKind: 'key', revision: 0 },
  }));
  const accounts = Array.from({ length: count }, (_, i) => {
    const id = anId('acc');
    const { address } = deriveAccount(signingKey, id);
    return { id, name: `Account ${i + 1}`, address, networkIds, revision: 1 };
  });
  return {
    ...{ id: anId('org'), name: 'Acme', domainSalt: aHash(), signingKey, sealKey, sequence: 1 },
    ...{ members: byId(members), groups: {}, policies: {}, accounts: byId(accounts) },
    admins: {
      id: anId('adm'),
      memberIds: members.map(({ id }) => id),
      threshold,
      revision: 0,
      onChain: true,
    },
  } as unknown as OrganizationState;
}

/** Sends a call from the funder of a local chain; says whether it succeeded and what it used. */
export async function sendAsFunder(
  url: string,
  { to, data }: Call,
  gas = 10_000_000n,
): Promise<{ readonly succeeded: boolean; readonly gasUsed: number }> {
  const hash = await rpc<Hex>(url, 'eth_sendTransaction', [
    { from: LOCAL_FUNDER.address, to, data, gas: hex(gas) },
  ]);
  const receipt = await until(`transaction ${hash} is in a block`, () =>
    rpc<Receipt | null>(url, 'eth_getTransactionReceipt', [hash]),
  );
  return { succeeded: receipt.status === '0x1', gasUsed: Number(receipt.gasUsed) };
}
