import type { Address } from 'viem';
import type { WalletCode } from '../domain/walletWarning';
import { ask, type ChainClient, ChainUnavailable } from './clients';

/** What stands at the address of a key that has delegated to a contract (EIP-7702), before that contract's address. */
const DELEGATION = '0xef0100';

/** Creates the function that looks for code at the address of a wallet, on the network of contract wallets. */
export function createReadWalletCode(client: ChainClient): (address: string) => Promise<WalletCode> {
  return async (address) => {
    try {
      const code = await ask(client, (rpc) => rpc.getCode({ address: address as Address }));
      if (code === undefined || code === '0x') return 'none';
      return code.startsWith(DELEGATION) ? 'delegated' : 'contract';
    } catch (error) {
      if (error instanceof ChainUnavailable) return 'unknown';
      throw error;
    }
  };
}
