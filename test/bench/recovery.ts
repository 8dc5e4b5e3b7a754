import { type Hex, keccak256, recoverAddress, toHex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { recoverSigner } from '../../src/chain/signatures';
import { type Comparison, compare } from './figures';
import { timed } from './measure';

const ROUNDS = 10;
const NATIVE_CALLS = 1_000;
const VIEM_CALLS = 50;
const SIGNED = 64;

interface Signed {
  readonly hash: Hex;
  readonly signature: Hex;
}

/** Recovering the signer of a message, beside viem. */
export async function measureRecovery(): Promise<Comparison> {
  const wallet = privateKeyToAccount(generatePrivateKey());
  const signed: Signed[] = [];
  for (let index = 0; index < SIGNED; index += 1) {
    const hash = keccak256(toHex(`message ${index}`));
    signed.push({ hash, signature: await wallet.sign({ hash }) });
  }
  const microseconds = async (count: number, recover: (one: Signed) => Promise<unknown>) => {
    const ms = await timed(async () => {
      for (let call = 0; call < count; call += 1) {
        if ((await recover(signed[call % SIGNED] as Signed)) !== wallet.address) {
          throw new Error('a signature was recovered to another address');
        }
      }
    });
    return (ms * 1_000) / count;
  };
  const taken: { product: number[]; base: number[] } = { product: [], base: [] };
  for (let round = -1; round < ROUNDS; round += 1) {
    const product = await microseconds(NATIVE_CALLS, ({ hash, signature }) => recoverSigner(hash, signature));
    const base = await microseconds(VIEM_CALLS, recoverAddress);
    if (round < 0) continue;
    taken.product.push(product);
    taken.base.push(base);
  }
  const options = { aim: { atLeast: 25 }, ratio: 'baseOverProduct' } as const;
  return compare('signature check / viem (times faster)', 'µs', taken, options);
}
