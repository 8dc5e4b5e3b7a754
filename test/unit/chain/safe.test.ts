import {
  type Address,
  concat,
  encodePacked,
  getContractAddress,
  type Hex,
  keccak256,
  pad,
  stringToBytes,
} from 'viem';
import { checksumAddress, isWellFormedAddress } from '../../../src/chain/address';
import { deriveAccount, MULTI_SEND, PROXY, SAFE_CONTRACTS } from '../../../src/chain/safeAccount';
import { anAddress } from '../../support/builders';

const OWNER = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';

test('the code of the Safe contracts is that of the published 1.4.1', () => {
  expect([...Object.values(SAFE_CONTRACTS), MULTI_SEND].map(({ codeHash }) => codeHash)).toEqual([
    '0xb1f926978a0f44a2c0ec8fe822418ae969bd8c3f18d61e5103100339894f81ff',
    '0x50c3cdc4074750a7a974204a716c999edd37482f907608d960b2b025ee0b3317',
    '0x7c6007a5d711cea8dfd5d91f5940ec29c7f200fe511eb1fc1397b367af3c42f9',
    '0xecd5bd14a08c5d2122379900b2f272bdf107a7e92423c10dd5fe3254386c9939',
  ]);
});

test('an account follows from its owner and its id alone, whatever the case of the owner', () => {
  const account = deriveAccount(OWNER, 'acc_01');
  expect(deriveAccount(OWNER.toLowerCase(), 'acc_01')).toEqual(account);
  expect(account.ownerAddress).toBe(OWNER);
  expect(checksumAddress(account.address)).toBe(account.address);
  expect(deriveAccount(OWNER, 'acc_02').address).not.toBe(account.address);
  expect(deriveAccount('0x70997970C51812dc3A010C7d01b50e0d17dc79C8', 'acc_01').address).not.toBe(
    account.address,
  );
});

test('its address is that of CREATE2, as viem computes it', () => {
  const { singleton, factory } = SAFE_CONTRACTS;
  const proxy = concat([PROXY.bytecode, pad(singleton.address, { size: 32 })]);
  for (let at = 0; at < 50; at += 1) {
    const { address, initializer, saltNonce } = deriveAccount(anAddress(), `acc_${at}`);
    expect(BigInt(saltNonce)).toBe(BigInt(keccak256(stringToBytes(`acc_${at}`))));
    const salt = encodePacked(['bytes32', 'uint256'], [keccak256(initializer as Hex), BigInt(saltNonce)]);
    expect(address).toBe(
      getContractAddress({
        opcode: 'CREATE2',
        from: factory.address,
        salt: keccak256(salt),
        bytecode: proxy,
      }) satisfies Address,
    );
  }
});

test.each([
  [OWNER, true],
  [OWNER.toLowerCase(), true],
  [`0x${OWNER.slice(2).toUpperCase()}`, true],
  [OWNER.replace('39F', '39f'), false],
  [OWNER.slice(0, -1), false],
  [OWNER.slice(2), false],
  [OWNER.replace('0x', '0X'), false],
])('%s is well formed: %s', (text, expected) => {
  expect(isWellFormedAddress(text)).toBe(expected);
});
