import { walletError } from '../src/signing/walletError.ts';

/** What a page asks a wallet. Source: EIP-1193. */
interface Provider {
  request(asked: { method: string; params: unknown[] }): Promise<unknown>;
}

interface Announcement {
  readonly info: { readonly name: string; readonly rdns: string };
  readonly provider: Provider;
}

/** A wallet of this browser, with the account that it shows once it is connected. */
export interface BrowserWallet {
  readonly id: string;
  readonly name: string;
  /** Throws WalletError with what to do. */
  ask<T>(method: string, ...params: unknown[]): Promise<T>;
}

function walletOf(id: string, name: string, provider: Provider): BrowserWallet {
  return {
    id,
    name,
    async ask<T>(method: string, ...params: unknown[]) {
      try {
        return (await provider.request({ method, params })) as T;
      } catch (error) {
        throw walletError(error, { name, method });
      }
    },
  };
}

/** Finds the wallets of this browser, now and whenever another one announces itself. Source: EIP-6963. */
export function findWallets(found: (wallets: readonly BrowserWallet[]) => void): void {
  const wallets = new Map<string, BrowserWallet>();
  const add = (id: string, name: string, provider: Provider) => {
    if (wallets.has(id)) return;
    wallets.set(id, walletOf(id, name, provider));
    found([...wallets.values()]);
  };
  window.addEventListener('eip6963:announceProvider', (event) => {
    const { info, provider } = (event as CustomEvent<Announcement>).detail;
    add(info.rdns, info.name, provider);
  });
  window.dispatchEvent(new Event('eip6963:requestProvider'));
  const { ethereum } = window as { ethereum?: Provider };
  if (wallets.size === 0 && ethereum) add('window.ethereum', 'Browser wallet', ethereum);
  if (wallets.size === 0) found([]);
}

/** Has a wallet show an account and go to a chain. Returns the account. Throws Error with what to do. */
export async function connect(wallet: BrowserWallet, chainId: number): Promise<string> {
  const [address] = await wallet.ask<string[]>('eth_requestAccounts');
  if (address === undefined)
    throw new Error(`${wallet.name} has selected no account. Select one, then try again.`);
  const isThere = async () => Number(await wallet.ask<string>('eth_chainId')) === chainId;
  if (await isThere()) return address;
  const asked = await wallet
    .ask('wallet_switchEthereumChain', { chainId: `0x${chainId.toString(16)}` })
    .then(() => '', String);
  if (await isThere()) return address;
  throw new Error(
    `${wallet.name} is not on the network with the chain ID ${chainId}. Add this network to the wallet with an RPC URL that you trust, choose it, then try again. ${asked}`,
  );
}

/** Waits until a transaction is in a block. Returns whether it succeeded. */
export async function receiptOf(wallet: BrowserWallet, hash: string): Promise<boolean> {
  for (;;) {
    const receipt = await wallet.ask<{ status: string } | null>('eth_getTransactionReceipt', hash);
    if (receipt) return Number(receipt.status) === 1;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}
