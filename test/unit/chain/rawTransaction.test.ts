import fc from 'fast-check';
import { type Hex, recoverTransactionAddress, type TransactionSerializedEIP1559 } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import {
  readRawTransaction,
  signRawTransaction,
  type UnsignedTransaction,
} from '../../../src/chain/rawTransaction';

const account = privateKeyToAccount(generatePrivateKey());
const wei = fc.bigInt({ min: 0n, max: 2n ** 96n });

const anyTransaction = fc
  .record({
    chainId: fc.integer({ min: 1, max: 2 ** 40 }),
    nonce: fc.integer({ min: 0, max: 2 ** 32 }),
    gas: fc.bigInt({ min: 0n, max: 30_000_000n }),
    maxPriorityFeePerGas: wei,
    tip: wei,
    value: wei,
    to: fc.uint8Array({ minLength: 20, maxLength: 20 }),
    data: fc.uint8Array({ maxLength: 500 }),
  })
  .map(
    ({ tip, to, data, ...rest }): UnsignedTransaction => ({
      ...rest,
      type: 'eip1559',
      maxFeePerGas: rest.maxPriorityFeePerGas + tip,
      to: `0x${Buffer.from(to).toString('hex')}`,
      data: `0x${Buffer.from(data).toString('hex')}`,
    }),
  );

async function check(transaction: UnsignedTransaction): Promise<void> {
  const bytes = await signRawTransaction(account.sign, transaction);
  expect(bytes).toBe(await account.signTransaction(transaction));
  const read = await readRawTransaction(bytes);
  expect(read.signer).toBe(account.address);
  expect(read.signer).toBe(await recoverTransactionAddress({ serializedTransaction: bytes }));
  expect(await signRawTransaction(account.sign, read.transaction)).toBe(bytes);
}

it('signs as viem does, and reads what was signed and by whom', async () => {
  await fc.assert(fc.asyncProperty(anyTransaction, check), { numRuns: 100 });
});

it('signs calldata of any length that is accepted', async () => {
  await check({
    ...{ type: 'eip1559', chainId: 1, nonce: 7, gas: 9_000_000n, to: account.address },
    ...{ maxFeePerGas: 3n, maxPriorityFeePerGas: 1n, value: 0n, data: `0x${'c3'.repeat(131_072)}` },
  });
});

it('names another signer, or none, for bytes that were changed', async () => {
  const bytes = await signRawTransaction(account.sign, {
    type: 'eip1559',
    chainId: 1,
    nonce: 7,
    gas: 21_000n,
  });
  await fc.assert(
    fc.asyncProperty(fc.nat(bytes.length - 5), fc.nat(14), async (at, by) => {
      const digit = (Number.parseInt(bytes[at + 4] ?? '', 16) + 1 + by) % 16;
      const changed = `${bytes.slice(0, at + 4)}${digit.toString(16)}${bytes.slice(at + 5)}` as Hex;
      const signer = await readRawTransaction(changed).then(
        (read) => read.signer,
        () => 'malformed',
      );
      expect(signer).not.toBe(account.address);
    }),
    { numRuns: 200, examples: [[20, 3]] },
  );
});

it('names nobody for bytes that are not signed', async () => {
  const unsigned = '0x02d00107808082520880808080c0' as TransactionSerializedEIP1559;
  await expect(
    readRawTransaction(unsigned).then(
      ({ signer }) => signer,
      () => null,
    ),
  ).resolves.toBeNull();
});
