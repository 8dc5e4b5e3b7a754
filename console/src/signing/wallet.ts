import type { Eip1193Provider, TypedData, Wallet } from '@orgwallet/client';
import { signWith } from '@orgwallet/client';
import { queryClient } from '../api/client.ts';
import { networksQuery } from '../api/queries.ts';
import { isSameAddress } from '../domain/address.ts';
import { createStore } from '../state/store.ts';
import { goToChain } from './walletChain.ts';
import { WalletError, walletError } from './walletError.ts';

/** A wallet that has announced itself. Source: EIP-6963. */
export interface FoundWallet {
  readonly id: string;
  readonly name: string;
  /** A data: URL, or empty. */
  readonly icon: string;
  readonly provider: Eip1193Provider;
}

interface Announcement {
  readonly info: {
    readonly uuid: string;
    readonly name: string;
    readonly icon: string;
    readonly rdns: string;
  };
  readonly provider: Eip1193Provider;
}

const LAST_USED = 'orgwallet.wallet';

/** The wallets of this browser. */
export const wallets = createStore<readonly FoundWallet[]>([]);

function add(wallet: FoundWallet): void {
  if (wallets.get().some(({ id, provider }) => id === wallet.id || provider === wallet.provider)) return;
  wallets.set([...wallets.get(), wallet]);
}

/** Asks wallets to announce themselves; `window.ethereum` counts where none does. */
export function discoverWallets(): void {
  window.addEventListener('eip6963:announceProvider', (event) => {
    const { info, provider } = (event as CustomEvent<Announcement>).detail;
    const icon = info.icon.startsWith('data:image/') ? info.icon : '';
    add({ id: info.rdns, name: info.name, icon, provider });
  });
  window.dispatchEvent(new Event('eip6963:requestProvider'));
  const { ethereum } = window as { ethereum?: Eip1193Provider };
  if (wallets.get().length === 0 && ethereum) {
    add({ id: 'window.ethereum', name: 'Browser wallet', icon: '', provider: ethereum });
  }
}

/** The wallet of the last sign-in, if it is there. */
export function lastWallet(): FoundWallet | undefined {
  const found = wallets.get();
  return (
    found.find(({ id }) => id === localStorage.getItem(LAST_USED)) ??
    (found.length === 1 ? found[0] : undefined)
  );
}

/** Remembers which wallet was used last, for the next visit. */
export function rememberWallet({ id }: FoundWallet): void {
  localStorage.setItem(LAST_USED, id);
}

/** One request to a wallet, until it answers or the person does not want to wait any longer. Throws WalletError. */
async function request<T>(
  { provider, name }: FoundWallet,
  method: string,
  params: unknown[],
  signal: AbortSignal,
): Promise<T> {
  let cancel = () => {};
  const cancelled = new Promise<never>((_, reject) => {
    cancel = () => reject(new WalletError('cancelled', `Stopped waiting for ${name}. Nothing was sent.`));
    signal.addEventListener('abort', cancel, { once: true });
  });
  try {
    signal.throwIfAborted();
    return (await Promise.race([provider.request({ method, params }), cancelled])) as T;
  } catch (error) {
    throw walletError(error, { name, method });
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

const isAmong = (address: string, accounts: readonly string[]) =>
  accounts.some((one) => isSameAddress(one, address));

/** The addresses that a wallet shows to this page; it asks the person if it shows none. */
export async function accountsOf(wallet: FoundWallet, signal: AbortSignal): Promise<readonly string[]> {
  return request<string[]>(wallet, 'eth_requestAccounts', [], signal);
}

/** The chain that a wallet is on. */
export async function chainOf(wallet: FoundWallet, signal: AbortSignal): Promise<number> {
  return Number(await request<string>(wallet, 'eth_chainId', [], signal));
}

/** Signs a text. Source: ERC-191, `personal_sign`. */
export async function signText(
  wallet: FoundWallet,
  address: string,
  text: string,
  signal: AbortSignal,
): Promise<string> {
  const bytes = new TextEncoder().encode(text);
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return request<string>(wallet, 'personal_sign', [`0x${hex}`, address], signal);
}

/** Makes sure that a wallet has the account of the member. Throws WalletError. */
async function assertAccount(wallet: FoundWallet, address: string, signal: AbortSignal): Promise<void> {
  const shown = await request<string[]>(wallet, 'eth_accounts', [], signal);
  if (isAmong(address, shown)) return;
  const asked = await accountsOf(wallet, signal);
  if (isAmong(address, asked)) return;
  throw new WalletError(
    'wrongAccount',
    `${wallet.name} has selected ${asked[0] ?? 'no account'}. Select account ${address} in the wallet, then try again.`,
  );
}

/** A network of the service; undefined where it does not say. */
async function networkOf(chainId: number) {
  const networks = await queryClient.ensureQueryData(networksQuery).catch(() => []);
  return networks.find(({ id }) => id === chainId);
}

/** Has a wallet go to a chain. Returns why it is not there. Throws WalletError when the person declines. */
const goTo = (wallet: FoundWallet, chainId: number, signal: AbortSignal): Promise<string | undefined> =>
  goToChain((method, params) => request(wallet, method, params, signal), chainId, {
    wallet: wallet.name,
    networkOf,
  });

/** Signs; one that is not on the chain says itself why it does not, and is told how to get there. Throws WalletError. */
async function signThere<T>(sign: () => Promise<T>, whyNotThere: string | undefined): Promise<T> {
  try {
    return await sign();
  } catch (error) {
    const hasFailed = error instanceof WalletError && error.code === 'failed';
    if (!hasFailed || whyNotThere === undefined) throw error;
    throw new WalletError('failed', `${whyNotThere} ${error.message}`, { cause: error });
  }
}

/** The wallet that signs for a member. Throws WalletError when there is none. */
export function walletFor(address: string, wallet: FoundWallet | undefined, signal: AbortSignal): Wallet {
  if (!wallet)
    throw new WalletError(
      'none',
      'No wallet found in this browser. Install a wallet extension, or open this page in the browser of a wallet app, then reload it.',
    );
  const asked = signWith.provider(
    { request: ({ method, params }) => request(wallet, method, params, signal) },
    address,
  );
  return {
    address: () => address,
    sign: async (typedData: TypedData) => {
      await assertAccount(wallet, address, signal);
      const { chainId } = typedData.domain;
      const whyNotThere = chainId === undefined ? undefined : await goTo(wallet, Number(chainId), signal);
      const signature = await signThere(() => asked.sign(typedData), whyNotThere);
      rememberWallet(wallet);
      return signature;
    },
  };
}

/**
 * Has a wallet send native currency from its own account, on this chain and no other. Returns the hash of the transaction.
 * `value` is in the smallest unit. Throws WalletError.
 */
export async function sendFrom(
  wallet: FoundWallet,
  { chainId, to, value }: { readonly chainId: number; readonly to: string; readonly value: bigint },
  signal: AbortSignal,
): Promise<string> {
  const [from] = await accountsOf(wallet, signal);
  if (from === undefined) throw new WalletError('wrongAccount', `${wallet.name} has selected no account.`);
  const whyNotThere = await goTo(wallet, chainId, signal);
  const isThere = (await chainOf(wallet, signal)) === chainId;
  if (whyNotThere !== undefined || !isThere) {
    throw new WalletError('failed', whyNotThere ?? `${wallet.name} is on another network.`);
  }
  const hex = (number: bigint | number) => `0x${number.toString(16)}`;
  return request<string>(
    wallet,
    'eth_sendTransaction',
    [{ from, to, value: hex(value), chainId: hex(chainId) }],
    signal,
  );
}
