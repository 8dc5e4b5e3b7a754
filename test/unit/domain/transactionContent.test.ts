import { encodeFunctionData, type Hex, parseAbi } from 'viem';
import { checksumAddress } from '../../../src/chain/address';
import { nestedCallsOf } from '../../../src/chain/nestedCalls';
import { NATIVE_CURRENCY } from '../../../src/domain/policy';
import {
  checkTarget,
  MAX_CALLDATA_BYTES,
  readContent,
  type TransactionContent,
} from '../../../src/domain/transactionContent';
import { anAddress } from '../../support/builders';
import { transferData } from '../../support/transactions';

const TO = anAddress();
const RECIPIENT = anAddress();
const MAX = 2n ** 256n - 1n;

function content(data: string, value = 0n, to = TO) {
  const read = readContent({ to, value, data }, checksumAddress);
  return read.ok ? read.value : read.refusal.field;
}

const call = (selector: string | null, value = 0n) => ({
  type: 'CONTRACT_INTERACTION',
  contractAddress: TO,
  selector,
  value,
});
const transfer = (amount: bigint, destination: string = RECIPIENT) => ({
  type: 'TOKEN_TRANSFER',
  tokenAddress: TO,
  destination,
  amount,
});

describe('a transaction with a value and no data', () => {
  it.each([1n, 10n ** 18n, MAX])('transfers the native currency: %p', (value) => {
    expect(content('0x', value)).toEqual({
      type: 'TOKEN_TRANSFER',
      tokenAddress: NATIVE_CURRENCY,
      destination: TO,
      amount: value,
    });
  });
});

describe('a transaction without a value and without data', () => {
  it('is a call of no function', () => expect(content('0x')).toEqual(call(null)));
});

describe('calldata of transfer(address,uint256)', () => {
  it.each([0n, 1n, MAX])('transfers the token: %p', (amount) => {
    expect(content(transferData(RECIPIENT, amount))).toEqual(transfer(amount));
  });

  it('transfers it in upper case as well', () => {
    const data = `0x${transferData(RECIPIENT, 7n).slice(2).toUpperCase()}`;
    expect(content(data)).toEqual(transfer(7n));
  });

  it('transfers it to whoever is named, the zero address too', () => {
    expect(content(transferData(NATIVE_CURRENCY, 7n))).toEqual(transfer(7n, NATIVE_CURRENCY));
  });

  const good = transferData(RECIPIENT, 7n);
  it.each([
    ['without its arguments', '0xa9059cbb', 0n],
    ['in upper case without its arguments', '0xA9059CBB', 0n],
    ['with one byte too few', good.slice(0, -2), 0n],
    ['with one byte too many', `${good}00`, 0n],
    ['with one word too many', `${good}${'0'.repeat(64)}`, 0n],
    ['with a dirty first byte of the address word', good.replace('cbb00', 'cbb01'), 0n],
    ['with a dirty last byte before the address', `${good.slice(0, 32)}80${good.slice(34)}`, 0n],
    ['with a value', good, 1n],
  ])('%s is refused', (_, data, value) => {
    expect(content(data, value)).toBe('data');
  });
});

describe('any other calldata', () => {
  it.each<[string, string, string | null]>([
    ['one byte less than a selector', '0xa9059c', null],
    ['one byte', '0xa9', null],
    ['a selector', '0x12345678', '0x12345678'],
    ['a selector in upper case', '0xDEADBEEF', '0xdeadbeef'],
    ['approve(address,uint256)', transferData(TO, 1n).replace('a9059cbb', '095ea7b3'), '0x095ea7b3'],
    ['transferFrom(address,address,uint256)', `0x23b872dd${'0'.repeat(192)}`, '0x23b872dd'],
    ['a transfer later on', `0x00${transferData(TO, 1n).slice(2)}`, '0x00a9059c'],
  ])('is a call: %s', (_, data, selector) => {
    expect(content(data)).toEqual(call(selector));
    expect(content(data, 5n)).toEqual(call(selector, 5n));
  });

  it('may be of 128 KiB and no byte more', () => {
    const data = `0x12345678${'00'.repeat(MAX_CALLDATA_BYTES - 4)}`;
    expect(content(data)).toEqual(call('0x12345678'));
    expect(content(`${data}00`)).toBe('data');
  });
});

describe('what is not a transaction', () => {
  it.each<[string, string, bigint, string, string]>([
    ['half a byte', '0x1', 0n, TO, 'data'],
    ['no prefix', '12345678', 0n, TO, 'data'],
    ['no hex', '0x1234567g', 0n, TO, 'data'],
    ['no text', '', 0n, TO, 'data'],
    ['a negative value', '0x', -1n, TO, 'value'],
    ['a value of 2^256', '0x', MAX + 1n, TO, 'value'],
    ['the zero address', '0x', 1n, NATIVE_CURRENCY, 'to'],
    ['a transfer by the zero address as a token', transferData(TO, 1n), 0n, NATIVE_CURRENCY, 'to'],
  ])('is refused: %s', (_, data, value, to, field) => {
    expect(content(data, value, to)).toBe(field);
  });
});

describe('a target', () => {
  const account = {
    address: anAddress(),
    contracts: [anAddress(), anAddress(), anAddress()],
    adminsSafe: [anAddress(), anAddress()],
  };
  const fieldOf = (to: string, transaction: TransactionContent | null = null) => {
    const checked = checkTarget(
      to,
      transaction && { content: transaction, nested: { calls: null, mentions: null } },
      account,
    );
    return checked.ok ? null : checked.refusal.field;
  };
  const carrying = (...carried: { to: string; value?: bigint; data?: string }[]) => {
    const abi = parseAbi(['function executeBatch((address target, uint256 value, bytes data)[] calls)']);
    const calls = carried.map(({ to, value = 0n, data = '0x' }) => ({
      target: to as Hex,
      value,
      data: data as Hex,
    }));
    return encodeFunctionData({ abi, args: [calls] });
  };
  const fieldOfCarried = (...carried: Parameters<typeof carrying>) => {
    const to = anAddress();
    const call = { to, value: 0n, data: carrying(...carried) };
    const nested = nestedCallsOf(call);
    expect(nested.calls).not.toBeNull();
    const read = readContent(call, checksumAddress);
    if (!read.ok) throw new Error(read.refusal.message);
    const checked = checkTarget(to, { content: read.value, nested }, account);
    return checked.ok ? null : checked.refusal.field;
  };

  it("is neither the account itself, nor a contract that accounts are made of, nor the admins' Safe, in any case", () => {
    for (const address of [account.address, ...account.contracts, ...account.adminsSafe]) {
      expect(fieldOf(address)).toBe('to');
      expect(fieldOf(address.toLowerCase())).toBe('to');
    }
    expect(fieldOf(anAddress())).toBeNull();
  });

  it('of a token transfer is somebody who can have the token', () => {
    const token = anAddress();
    const to = (destination: string, amount = 0n) =>
      fieldOf(token, { type: 'TOKEN_TRANSFER', tokenAddress: token, destination, amount });
    for (const destination of [
      NATIVE_CURRENCY,
      token,
      token.toLowerCase(),
      account.address,
      ...account.adminsSafe,
    ]) {
      expect(to(destination)).toBe('data');
    }
    expect(to(anAddress())).toBeNull();
    expect(to(account.contracts[0] ?? '')).toBeNull();
  });

  it("of what a call carries is not the admins' Safe, at any depth, nor somebody who cannot have a token", () => {
    const token = anAddress();
    for (const safe of account.adminsSafe) {
      for (const lost of [
        { to: safe, value: 1n },
        { to: safe.toLowerCase(), value: 1n, data: '0x00' },
        { to: safe, data: '0x12345678' },
        { to: token, data: transferData(safe, 1n) },
      ]) {
        expect(fieldOfCarried({ to: anAddress(), value: 1n }, lost)).toBe('data');
        expect(fieldOfCarried({ to: anAddress(), data: carrying(lost) })).toBe('data');
      }
    }
    expect(fieldOfCarried({ to: token, data: transferData(token, 1n) })).toBe('data');
    expect(fieldOfCarried({ to: token, data: transferData(NATIVE_CURRENCY, 1n) })).toBe('data');
  });

  it('of what a call carries may be the account itself: what the contract has comes back', () => {
    expect(fieldOfCarried({ to: account.address, value: 1n })).toBeNull();
    expect(fieldOfCarried({ to: anAddress(), data: transferData(account.address, 1n) })).toBeNull();
    expect(
      fieldOfCarried({ to: anAddress(), value: 1n }, { to: anAddress(), data: '0x12345678' }),
    ).toBeNull();
  });
});
