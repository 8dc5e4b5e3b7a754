import { encodeAbiParameters, type Hex, type LocalAccount } from 'viem';
import type { GenesisMessage } from './genesis.ts';
import type { Message, TypedData } from './payload.ts';

/** What a wallet signs: a vote, or the genesis of an organization. */
export type Signable = TypedData<Message | GenesisMessage>;

/** A wallet: who signs, and how. */
export interface Wallet {
  address(): string | Promise<string>;
  /** The signature of a key, or the bytes that a contract wallet accepts. Its payload has been verified. */
  sign(typedData: Signable): Promise<string>;
}

/** A wallet in the browser. Source: EIP-1193. */
export interface Eip1193Provider {
  request(asked: { method: string; params: unknown[] }): Promise<unknown>;
}

/** A signer of ethers 6. */
export interface EthersSigner {
  getAddress(): Promise<string>;
  signTypedData(
    domain: object,
    types: Record<string, { name: string; type: string }[]>,
    value: object,
  ): Promise<string>;
}

/** Adapters of wallets. */
export const signWith = {
  /** An account of viem, such as of `privateKeyToAccount`. */
  viem: (account: Pick<LocalAccount, 'address' | 'signTypedData'>): Wallet => ({
    address: () => account.address,
    sign: (typedData) => account.signTypedData(typedData as Parameters<LocalAccount['signTypedData']>[0]),
  }),
  /** A wallet of the browser, with the one of its addresses that is to sign. */
  provider: (provider: Eip1193Provider, address: string): Wallet => ({
    address: () => address,
    sign: async (typedData) => {
      const params = [address, JSON.stringify(typedData)];
      return String(await provider.request({ method: 'eth_signTypedData_v4', params }));
    },
  }),
  ethers: (signer: EthersSigner): Wallet => ({
    address: () => signer.getAddress(),
    sign: ({ domain, message, types: { EIP712Domain: _, ...types } }) =>
      // ethers makes the type of the domain itself.
      signer.signTypedData(domain, types as Parameters<EthersSigner['signTypedData']>[1], message),
  }),
  /** Anything that signs: a key in a vault, another machine. */
  function: (address: string, sign: Wallet['sign']): Wallet => ({ address: () => address, sign }),
};

/** Signs typed data, in the form that the API takes: `abi.encode(address signer, bytes signature)`. */
export async function encodedSignature(wallet: Wallet, typedData: Signable): Promise<Hex> {
  const address = (await wallet.address()) as Hex;
  const bytes = await wallet.sign(typedData);
  // Some wallets give the recovery id itself: 27 and 28 are what is accepted.
  const [, rest, id] = /^(0x[0-9a-f]{128})0([01])$/i.exec(bytes) ?? [];
  const signature = (rest ? `${rest}${id === '0' ? '1b' : '1c'}` : bytes) as Hex;
  return encodeAbiParameters([{ type: 'address' }, { type: 'bytes' }], [address, signature]);
}
