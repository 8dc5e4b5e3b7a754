import { type AskWallet, goToChain } from '../../../console/src/signing/walletChain.ts';
import { WalletError, walletError } from '../../../console/src/signing/walletError.ts';

const NETWORK = {
  id: 31_337,
  name: 'Local Chain 1',
  nativeAsset: { symbol: 'ETH', name: 'Ether', decimals: 18 },
  explorerUrl: 'https://explorer.example',
  walletRpcUrl: 'https://rpc.example',
};

const error = (code: number | undefined, message: string) => Object.assign(new Error(message), { code });
const DECLINED = error(4001, 'User rejected the request.');

/** A wallet on chain 1, with what becomes of each method that it knows. */
function walletWith(outcomes: { readonly [method: string]: (on: number) => number | Error }) {
  const asked: string[] = [];
  let chain = 1;
  const ask: AskWallet = async <T>(method: string, params: unknown[]) => {
    asked.push(method);
    if (method === 'eth_chainId') return `0x${chain.toString(16)}` as T;
    const outcome = outcomes[method]?.(Number((params[0] as { chainId: string }).chainId));
    if (outcome instanceof Error) throw walletError(outcome, { name: 'Wallet', method });
    chain = outcome ?? chain;
    return null as T;
  };
  return { ask, asked };
}

const go = (ask: AskWallet, network: typeof NETWORK | undefined = NETWORK) =>
  goToChain(ask, 31_337, { wallet: 'Wallet', networkOf: async () => network });

describe('a wallet that does not have a chain', () => {
  // As MetaMask, its app, older ones and Trust say it.
  it.each([
    ['4902', error(4902, 'Unrecognized chain ID "0x7a69".')],
    ['-32603', error(-32603, 'Unrecognized chain ID "0x7a69".')],
    ['-32601', error(-32601, 'The method wallet_switchEthereumChain does not exist/is not available')],
    ['no code', error(undefined, 'chain non prise en charge')],
  ])('adds it and goes there, whatever it says (%s)', async (_, refusal) => {
    let has = false;
    const { ask, asked } = walletWith({
      wallet_switchEthereumChain: (id) => (has ? id : refusal),
      wallet_addEthereumChain: () => {
        has = true;
        return 1;
      },
    });
    expect(await go(ask)).toBeUndefined();
    expect(asked).toEqual([
      'eth_chainId',
      'wallet_switchEthereumChain',
      'wallet_addEthereumChain',
      'eth_chainId',
      'wallet_switchEthereumChain',
    ]);
  });

  it('is not asked twice where it goes to what it adds', async () => {
    const { ask, asked } = walletWith({
      wallet_switchEthereumChain: () => error(4902, 'Unrecognized chain ID'),
      wallet_addEthereumChain: (id) => id,
    });
    expect(await go(ask)).toBeUndefined();
    expect(asked.filter((method) => method === 'wallet_switchEthereumChain')).toHaveLength(1);
  });

  it.each([
    ['wallet_switchEthereumChain', 'Going to the network of the account was declined in Wallet.'],
    ['wallet_addEthereumChain', 'Adding the network was declined in Wallet.'],
  ])('says what was declined: %s', async (method, text) => {
    const { ask } = walletWith({
      wallet_switchEthereumChain: () => error(4902, 'Unrecognized chain ID'),
      [method]: () => DECLINED,
    });
    const declined = await go(ask).catch((reason: unknown) => reason);
    expect(declined).toBeInstanceOf(WalletError);
    expect((declined as WalletError).message).toBe(`${text} Nothing was signed. Try again to go on.`);
  });

  it('says how to add it by hand, where it cannot or the settings have no endpoint for it', async () => {
    const outcomes = {
      wallet_switchEthereumChain: () => error(4902, 'Unrecognized chain ID'),
      wallet_addEthereumChain: () => error(4200, 'unsupported'),
    };
    expect(await go(walletWith(outcomes).ask)).toBe(
      'Wallet is not on Local Chain 1. Wallet cannot add a network. Use another wallet. Add Local Chain 1 to it by hand (chain ID 31337, currency ETH, RPC URL https://rpc.example), then try again.',
    );
    const { walletRpcUrl: _, ...withoutEndpoint } = NETWORK;
    const { ask, asked } = walletWith(outcomes);
    expect(await go(ask, withoutEndpoint as typeof NETWORK)).toBe(
      'Wallet is not on Local Chain 1. Add Local Chain 1 to it by hand (chain ID 31337, currency ETH, an RPC URL from your operator), then try again.',
    );
    expect(asked).not.toContain('wallet_addEthereumChain');
  });
});

describe('an error of a wallet', () => {
  it.each([
    [4001, 'personal_sign', 'The request was declined in Wallet. Nothing was signed. Try again to go on.'],
    [
      4001,
      'eth_sendTransaction',
      'The payment was declined in Wallet. Nothing was sent. Try again to go on.',
    ],
    [-32002, 'personal_sign', 'Wallet has another open request.'],
    [4100, 'personal_sign', 'Wallet does not permit this page to use the account.'],
    [4200, 'eth_signTypedData_v4', 'Wallet cannot sign typed data (EIP-712). Use another wallet.'],
    [-32601, 'eth_signTypedData_v4', 'Wallet cannot sign typed data (EIP-712). Use another wallet.'],
    [4900, 'personal_sign', 'Wallet has no connection to its network.'],
    [4902, 'wallet_switchEthereumChain', 'Wallet does not have the network.'],
    [-32603, 'personal_sign', 'Wallet could not sign a message: the text of the wallet'],
  ])('%s of %s is in words', (code, method, text) => {
    expect(walletError(error(code, 'the text of the wallet'), { name: 'Wallet', method }).message).toContain(
      text,
    );
  });
});
