import {
  type Address,
  decodeFunctionData,
  type Hex,
  keccak256,
  parseAbi,
  recoverAddress,
  stringToHex,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { executionsIn } from '../../../src/chain/executions';
import { executionGas, mostSafeTxGas } from '../../../src/chain/gas';
import { cancellation, executionCall, safeTransactionHash } from '../../../src/chain/safeTransaction';
import { hasTransferFrom } from '../../../src/chain/transferLogs';
import { signSafeTransaction } from '../../support/safeSignature';

const ACCOUNT: Address = '0x00000000000000000000000000000000000000aa';
const OTHER: Address = '0x00000000000000000000000000000000000000bb';

const transaction = {
  networkId: 31_337,
  account: ACCOUNT,
  to: OTHER,
  value: 5n,
  data: '0x1234' as Hex,
  safeTxGas: 60_000n,
  nonce: 3n,
};

test('what the owner signs is recovered to the owner', async () => {
  const owner = privateKeyToAccount(generatePrivateKey());
  const signature = await signSafeTransaction(owner, transaction);
  const hash = safeTransactionHash(transaction);
  expect(await recoverAddress({ hash, signature })).toBe(owner.address);
});

test('every field but the fixed ones changes the hash', () => {
  const changes = [
    { networkId: 1 },
    { account: OTHER },
    { to: ACCOUNT },
    { value: 6n },
    { data: '0x' as Hex },
  ];
  const all = [{}, ...changes, { safeTxGas: 1n }, { nonce: 4n }];
  const hashes = all.map((change) => safeTransactionHash({ ...transaction, ...change }));
  expect(new Set(hashes).size).toBe(all.length);
});

test('an execution pays nobody and calls, never delegates', () => {
  const { to, data } = executionCall(transaction, '0xabcd');
  const abi = parseAbi([
    'function execTransaction(address to, uint256 value, bytes data, uint8 operation, uint256 safeTxGas, uint256 baseGas, uint256 gasPrice, address gasToken, address refundReceiver, bytes signatures)',
  ]);
  const zero = '0x0000000000000000000000000000000000000000';
  expect(to).toBe(ACCOUNT);
  expect(
    decodeFunctionData({ abi, data }).args.map((arg) => (typeof arg === 'string' ? arg.toLowerCase() : arg)),
  ).toEqual([...[transaction.to, 5n, '0x1234', 0, 60_000n], ...[0n, 0n, zero, zero, '0xabcd']]);
});

test('a cancellation is an empty call of the account to itself', () => {
  expect(cancellation(transaction)).toMatchObject({ to: ACCOUNT, value: 0n, data: '0x', nonce: 3n });
  expect(cancellation(transaction).safeTxGas).toBeGreaterThan(0n);
});

test('the most gas of an inner call stays within the ceiling, and hardly below', () => {
  for (const data of ['0x', '0x00ff', `0x${'00ff'.repeat(10_000)}`] as Hex[]) {
    const safeTxGas = mostSafeTxGas(5_000_000n, data);
    expect(executionGas({ safeTxGas, data })).toBeLessThanOrEqual(5_000_000n);
    expect(executionGas({ safeTxGas: safeTxGas + 3n, data })).toBeGreaterThan(5_000_000n);
  }
  expect(mostSafeTxGas(5_000_000n, `0x${'ff'.repeat(131_072)}`)).toBeLessThan(0n);
});

describe('executions in logs', () => {
  const topic = (signature: string) => keccak256(stringToHex(signature));
  const begun = {
    address: ACCOUNT,
    topics: [
      topic(
        'SafeMultiSigTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes,bytes)',
      ),
    ] as [Hex],
    data: '0x' as Hex,
  };
  const hash = (name: string) => keccak256(stringToHex(name));
  const ended = (name: string, kind: 'Success' | 'Failure' = 'Success', address = ACCOUNT) => ({
    address,
    topics: [topic(`Execution${kind}(bytes32,uint256)`), hash(name)] as [Hex, Hex],
    data: '0x' as Hex,
  });
  const transfer = (from: Address, token = OTHER) => ({
    address: token,
    topics: [
      topic('Transfer(address,address,uint256)'),
      `0x${'0'.repeat(24)}${from.slice(2).toLowerCase()}`,
    ] as [Hex, Hex],
    data: '0x' as Hex,
  });

  test('that follow each other keep their own logs', () => {
    const logs = [begun, transfer(ACCOUNT), ended('one'), begun, ended('two', 'Failure')];
    const found = executionsIn(ACCOUNT, logs);
    expect(found).toMatchObject([
      { kind: 'success', safeTxHash: hash('one') },
      { kind: 'failure', safeTxHash: hash('two') },
    ]);
    expect(found.map(({ logs }) => hasTransferFrom(logs, OTHER, ACCOUNT))).toEqual([true, false]);
  });

  test('of which one stands in the other keep their own logs, before and after it', () => {
    const inner = [begun, ended('inner')];
    const outer = (...logs: (typeof inner)[number][]) =>
      executionsIn(ACCOUNT, [begun, ...logs, ended('outer')]).map(({ logs }) =>
        hasTransferFrom(logs, OTHER, ACCOUNT),
      );
    expect(outer(transfer(ACCOUNT), ...inner)).toEqual([false, true]);
    expect(outer(...inner, transfer(ACCOUNT))).toEqual([false, true]);
    expect(outer(begun, transfer(ACCOUNT), ended('inner'))).toEqual([true, false]);
  });

  test('of other accounts are not executions of this one', () => {
    expect(executionsIn(ACCOUNT, [begun, ended('one', 'Success', OTHER)])).toEqual([]);
  });

  test('a transfer counts from this account, of this token', () => {
    const logs = [transfer(OTHER), transfer(ACCOUNT, ACCOUNT)];
    expect(hasTransferFrom(logs, OTHER, ACCOUNT)).toBe(false);
  });
});
