import { createRequire } from 'node:module';
import { createServer, type Socket } from 'node:net';
import {
  type Address,
  concatHex,
  encodeAbiParameters,
  encodeDeployData,
  type Hex,
  numberToHex,
  size,
  stringToHex,
  toFunctionSelector,
} from 'viem';
import { checksumAddress } from '../../src/chain/address';
import { type ChainClient, createChainClient } from '../../src/chain/clients';
import { createReadToken, readToken } from '../../src/chain/tokens';
import type { NetworkConfig } from '../../src/config';
import { freePorts, sharedStack } from '../support/stack';
import { putCode, sendAsFunder } from './wallets';

const artifacts = createRequire(__filename);

function network(rpcUrl: string): NetworkConfig {
  const nativeAsset = { symbol: 'ETH', name: 'Ether', decimals: 18 };
  return {
    id: 31337,
    name: 'Local One',
    rpcUrls: [rpcUrl],
    signerRpcUrls: [],
    relayers: 1,
    nativeAsset,
    confirmations: 1,
    maxFeePerGas: 10n ** 12n,
  };
}

let url: string;
let client: ChainClient;

beforeAll(() => {
  const [chain] = sharedStack().chains;
  if (!chain) throw new Error('there are no chains');
  url = chain.rpcUrl;
  client = createChainClient(network(url));
});

const string = (text: string) => encodeAbiParameters([{ type: 'string' }], [text]);
const word = (value: bigint) => numberToHex(value, { size: 32 });
const bytes32 = (text: string) => stringToHex(text, { size: 32 });

/** Runtime code that answers each of these functions with these bytes, and reverts on any other. */
function answering(answers: { readonly [signature: string]: Hex }): Hex {
  const entries = Object.entries(answers);
  const DISPATCH = 11;
  const ANSWER = 16;
  const tableEnd = 6 + entries.length * DISPATCH + 5;
  let dataAt = tableEnd + entries.length * ANSWER;
  const dispatch: Hex[] = [];
  const bodies: Hex[] = [];
  const data: Hex[] = [];
  entries.forEach(([signature, answer], index) => {
    const target = numberToHex(tableEnd + index * ANSWER, { size: 2 });
    const length = numberToHex(size(answer), { size: 2 });
    // DUP1 PUSH4 selector EQ PUSH2 target JUMPI
    dispatch.push(concatHex(['0x8063', toFunctionSelector(signature), '0x1461', target, '0x57']));
    // JUMPDEST; CODECOPY(0, data, length); RETURN(0, length)
    bodies.push(
      concatHex(['0x5b61', length, '0x61', numberToHex(dataAt, { size: 2 }), '0x600039', '0x61', length]),
      '0x6000f3',
    );
    data.push(answer);
    dataAt += size(answer);
  });
  return concatHex(['0x60003560e01c', ...dispatch, '0x60006000fd', ...bodies, ...data]);
}

const token = (answers: { readonly [signature: string]: Hex } = {}) =>
  answering({ 'symbol()': string('TOK'), 'name()': string('A Token'), 'decimals()': word(6n), ...answers });

let seed = 0;
async function put(code: Hex): Promise<Address> {
  seed += 1;
  return checksumAddress(await putCode(url, `token ${seed} ${process.pid}`, code));
}

describe('a token', () => {
  it('returns its symbol, name and decimals', async () => {
    const { abi, bytecode } = artifacts(
      '@openzeppelin/contracts/build/contracts/ERC20PresetMinterPauser.json',
    );
    const { contractAddress } = await sendAsFunder(url, {
      data: encodeDeployData({ abi, bytecode, args: ['Zwölf Ünzen 黄金', '金'] }),
    });
    expect(await readToken(client, checksumAddress(contractAddress ?? ''))).toEqual({
      ok: true,
      token: { symbol: '金', name: 'Zwölf Ünzen 黄金', decimals: 18 },
    });
  });

  it('may have its texts as bytes32', async () => {
    const address = await put(token({ 'symbol()': bytes32('MKR'), 'name()': bytes32('Maker') }));
    expect(await readToken(client, address)).toEqual({
      ok: true,
      token: { symbol: 'MKR', name: 'Maker', decimals: 6 },
    });
  });

  it('may fill all of its bytes32', async () => {
    const name = 'x'.repeat(32);
    const address = await put(token({ 'name()': bytes32(name) }));
    expect(await readToken(client, address)).toMatchObject({ ok: true, token: { name } });
  });

  it.each([0n, 255n])('may have %s decimals', async (decimals) => {
    const address = await put(token({ 'decimals()': word(decimals) }));
    expect(await readToken(client, address)).toMatchObject({ token: { decimals: Number(decimals) } });
  });

  it('has long texts truncated', async () => {
    const address = await put(
      token({ 'symbol()': string('S'.repeat(33)), 'name()': string('😀'.repeat(101)) }),
    );
    expect(await readToken(client, address)).toMatchObject({
      token: { symbol: `${'S'.repeat(31)}…`, name: `${'😀'.repeat(99)}…` },
    });
  });

  it('has the logo of the token list, and none when it is not in it', async () => {
    const [listed, other] = await Promise.all([put(token()), put(token())]);
    const read = createReadToken(new Map([[31337, client]]), [
      { networkId: 31338, address: other, symbol: '', name: '', decimals: 0, logoUrl: 'https://o.example' },
      { networkId: 31337, address: listed, symbol: '', name: '', decimals: 0, logoUrl: 'https://l.example' },
    ]);
    const facts = { symbol: 'TOK', name: 'A Token', decimals: 6 };
    expect(await read(31337, listed)).toEqual({
      ok: true,
      token: { ...facts, logoUrl: 'https://l.example' },
    });
    expect(await read(31337, other)).toEqual({ ok: true, token: { ...facts, logoUrl: null } });
    expect(await read(5, listed)).toEqual({ ok: false, reason: 'network 5 is not configured' });
  });
});

describe('an address without code', () => {
  it('is not a token', async () => {
    const address = checksumAddress(`0x${'ab'.repeat(20)}`);
    const reason = `there is no contract at ${address} on network 31337`;
    expect(await readToken(client, address)).toEqual({ ok: false, reason });
  });
});

describe('a token that reports nothing about itself', () => {
  it.each<[string, Hex]>([
    ['answers nothing', '0x00'],
    ['reverts', '0x60006000fd'],
    ['breaks off', '0xfe'],
    ['never ends', '0x5b600056'],
    ['returns 100,000 bytes', '0x620186a06000f3'],
    ['returns 10 MB', '0x629896806000f3'],
    // SSTORE(0, 1): not allowed in a call that only reads.
    ['writes when it is asked', '0x60016000556000'],
  ])('is read without symbol, name and decimals where it %s', async (_, code) => {
    expect(await readToken(client, await put(code))).toEqual({
      ok: true,
      token: { symbol: '', name: null, decimals: null },
    });
  });

  it.each<[string, Hex, object]>([
    [
      'symbol',
      answering({ 'name()': string('A'), 'decimals()': word(6n) }),
      { symbol: '', name: 'A', decimals: 6 },
    ],
    [
      'name',
      answering({ 'symbol()': string('A'), 'decimals()': word(6n) }),
      { symbol: 'A', name: null, decimals: 6 },
    ],
    [
      'decimals',
      answering({ 'symbol()': string('A'), 'name()': string('B') }),
      { symbol: 'A', name: 'B', decimals: null },
    ],
  ])('is read without a %s that it does not have', async (_, code, facts) => {
    expect(await readToken(client, await put(code))).toEqual({ ok: true, token: facts });
  });

  it.each<[string, { [signature: string]: Hex }, object]>([
    ['256 decimals', { 'decimals()': word(256n) }, { decimals: null }],
    ['2^255 decimals', { 'decimals()': word(2n ** 255n) }, { decimals: null }],
    ['one byte of decimals', { 'decimals()': '0x06' }, { decimals: null }],
    ['two words of decimals', { 'decimals()': concatHex([word(6n), word(0n)]) }, { decimals: null }],
    ['a symbol of one byte', { 'symbol()': '0x41' }, { symbol: '' }],
    ['a symbol of 10,000 bytes', { 'symbol()': string('S'.repeat(10_000)) }, { symbol: '' }],
    ['an empty symbol', { 'symbol()': string('') }, { symbol: '' }],
    ['a blank symbol', { 'symbol()': string(' \u3000 ') }, { symbol: '' }],
    ['a bytes32 of zeros as its symbol', { 'symbol()': word(0n) }, { symbol: '' }],
    ['zeros inside its bytes32', { 'name()': bytes32('A\0B') }, { name: null }],
    ['zeros inside its text', { 'name()': string('A\0B') }, { name: null }],
    [
      'zeros behind its text',
      { 'name()': string('Build\0\0\0'), 'symbol()': string('B\0') },
      { name: 'Build', symbol: 'B' },
    ],
    ['a line break', { 'name()': string('USD Coin\nApproved') }, { name: null }],
    ['a paragraph separator', { 'name()': string('USD Coin\u2029Approved') }, { name: null }],
    ['an escape code of terminals', { 'symbol()': string('\u001b[2J') }, { symbol: '' }],
    ['an unseen space', { 'symbol()': string('US\u200bDC') }, { symbol: '' }],
    ['an unseen hyphen', { 'name()': string('USD\u00ad Coin') }, { name: null }],
    ['a filler', { 'name()': string('USD\u3164Coin') }, { name: null }],
    ['a blank pattern', { 'symbol()': string('US\u2800DC') }, { symbol: '' }],
    ['a tag', { 'symbol()': string('USDC\u{e0041}') }, { symbol: '' }],
    ['a text that turns round', { 'symbol()': string('CD\u202eSU') }, { symbol: '' }],
    ['no UTF-8', { 'name()': concatHex([word(32n), word(2n), '0xc328']) }, { name: null }],
    ['half a character', { 'name()': concatHex([word(32n), word(3n), '0xeda080']) }, { name: null }],
    [
      'a text that is longer than its answer',
      { 'name()': concatHex([word(32n), word(64n), word(0n)]) },
      { name: null },
    ],
    ['a text of 2^256-1 bytes', { 'name()': concatHex([word(32n), word(2n ** 256n - 1n)]) }, { name: null }],
    [
      'a text somewhere else',
      { 'name()': concatHex([word(64n), word(0n), word(1n), word(0n)]) },
      { name: null },
    ],
    ['a text at the end of the world', { 'name()': concatHex([word(2n ** 255n), word(1n)]) }, { name: null }],
  ])('is read without what cannot be shown: %s', async (_, answers, facts) => {
    expect(await readToken(client, await put(token(answers)))).toEqual({
      ok: true,
      token: { symbol: 'TOK', name: 'A Token', decimals: 6, ...facts },
    });
  });
});

describe('an unavailable network', () => {
  it('is named when it refuses connections', async () => {
    const [port] = await freePorts(1);
    const unavailable = createChainClient(network(`http://127.0.0.1:${port}`));
    expect(await readToken(unavailable, checksumAddress(`0x${'11'.repeat(20)}`))).toEqual({
      ok: false,
      reason: expect.stringMatching(/^network Local One \(31337\) is unavailable: /),
      unavailable: true,
    });
  });

  it('is named when it does not answer in time', async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => sockets.push(socket));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as { port: number };
    const unavailable = createChainClient(network(`http://127.0.0.1:${port}`), { timeoutMs: 300 });
    expect(await readToken(unavailable, checksumAddress(`0x${'11'.repeat(20)}`))).toEqual({
      ok: false,
      reason: expect.stringMatching(/^network Local One \(31337\) is unavailable: /),
      unavailable: true,
    });
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => silent.close(resolve));
  });
});
