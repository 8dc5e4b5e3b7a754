import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { concatHex, encodeAbiParameters, type Hex, numberToHex, size } from 'viem';
import { ChainUnavailable } from '../../../src/chain/clients';
import { signerEndpoints } from '../../../src/chain/contractSignatures';
import { SHIPPED_TOKENS } from '../../../src/chain/tokenList';
import type { TokenFacts } from '../../../src/chain/tokens';
import type { NetworkConfig } from '../../../src/config';
import { NATIVE_CURRENCY } from '../../../src/domain/policy';
import { assertTokens } from '../../../src/signer/tokens';
import { anAddress } from '../../support/builders';

const GOLD = { symbol: 'AU', name: 'Gold', decimals: 18 };
const ETHER = { symbol: 'ETH', name: 'Ether', decimals: 18 };
const GETTERS = { '95d89b41': 'symbol', '06fdde03': 'name', '313ce567': 'decimals' } as const;
const MAINNET = 1;

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

/** What a call of a getter returns: success, the size, the bytes. */
function answerOf(code: string, facts: TokenFacts): Hex {
  const getter = Object.entries(GETTERS).find(([selector]) => code.endsWith(selector))?.[1];
  if (!getter) throw new Error(`an unknown call: ${code}`);
  const bytes =
    getter === 'decimals'
      ? numberToHex(facts.decimals ?? 0, { size: 32 })
      : encodeAbiParameters([{ type: 'string' }], [facts[getter] ?? '']);
  return concatHex([numberToHex(1, { size: 32 }), numberToHex(size(bytes), { size: 32 }), bytes]);
}

/** An endpoint of the mainnet with one token; null for one where no contract answers. */
async function endpoint(facts: TokenFacts | null): Promise<string> {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { id, method, params } = JSON.parse(body);
    const results: { [method: string]: () => Hex } = {
      eth_chainId: () => numberToHex(MAINNET),
      eth_getCode: () => (facts ? '0x00' : '0x'),
      eth_call: () => (facts ? answerOf(params[0].data, facts) : numberToHex(0, { size: 64 })),
    };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: results[method]?.() }));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A signer with these endpoints of its own. */
function signerWith(signerRpcUrls: readonly string[]) {
  const network: NetworkConfig = {
    id: MAINNET,
    name: 'Ethereum',
    rpcUrls: ['http://127.0.0.1:9'],
    signerRpcUrls,
    relayers: 1,
    nativeAsset: ETHER,
    confirmations: 1,
    maxFeePerGas: 1n,
  };
  const { clients } = signerEndpoints(network);
  return { networks: [network], endpointsOf: () => clients };
}

/** Why it throws; undefined when it does not. Endpoints in this process may answer too late where it is busy. */
async function faultOf(...asked: Parameters<typeof assertTokens>): Promise<unknown> {
  for (let attempt = 0; ; attempt += 1) {
    const fault = await assertTokens(...asked).then(
      () => undefined,
      (error) => error,
    );
    const isLate = fault instanceof ChainUnavailable && !fault.message.includes('disagree');
    if (!isLate || attempt === 5) return fault;
  }
}

const tokenAddress = anAddress();
const shown = (change: object = {}) => ({ networkId: MAINNET, tokenAddress, ...GOLD, ...change });

describe('the tokens of a policy that is sealed', () => {
  it('are those that every endpoint of the signer reads', async () => {
    const signer = signerWith([await endpoint(GOLD), await endpoint(GOLD)]);
    expect(await faultOf(signer, [shown(), shown()])).toBeUndefined();
    for (const change of [{ decimals: 6 }, { symbol: 'USDC' }, { name: 'USD Coin' }]) {
      expect(await faultOf(signer, [shown(), shown(change)])).toMatchObject({
        code: 'stale',
        message: expect.stringContaining(
          `reads ${tokenAddress} on network 1 as "AU" ("Gold") with 18 decimals`,
        ),
      });
    }
  });

  it('wait for endpoints that do not answer, or disagree', async () => {
    const [truth, lie] = [await endpoint(GOLD), await endpoint({ ...GOLD, decimals: 6 })];
    expect(await faultOf(signerWith([truth, lie]), [shown()])).toMatchObject({
      name: 'ChainUnavailable',
      message: expect.stringContaining(`its endpoints disagree about the token ${tokenAddress}`),
    });
    expect(await faultOf(signerWith([truth, await endpoint(null)]), [shown()])).toMatchObject({
      name: 'ChainUnavailable',
    });
    expect(await faultOf(signerWith([truth, 'http://127.0.0.1:9']), [shown()])).toMatchObject({
      name: 'ChainUnavailable',
    });
  });

  it('are refused where no contract answers', async () => {
    expect(await faultOf(signerWith([await endpoint(null)]), [shown()])).toMatchObject({
      code: 'stale',
      message: expect.stringContaining(tokenAddress),
    });
  });

  it('are those of the shipped list where the signer has no endpoints', async () => {
    const signer = signerWith([]);
    const [known] = SHIPPED_TOKENS.filter(({ networkId }) => networkId === MAINNET);
    if (!known) throw new Error('the list has no token of the mainnet');
    const { address, symbol, name, decimals } = known;
    const listed = { networkId: MAINNET, tokenAddress: address, symbol, name, decimals };
    expect(await faultOf(signer, [listed])).toBeUndefined();
    for (const token of [shown(), { ...listed, decimals: (decimals ?? 0) + 1 }]) {
      expect(await faultOf(signer, [token])).toMatchObject({
        code: 'endpoints',
        message: `the token ${token.tokenAddress} cannot be verified: network Ethereum (1) has no signerRpcUrls`,
      });
    }
  });

  it('may be the native currency as the signer is configured', async () => {
    const native = shown({ tokenAddress: NATIVE_CURRENCY, ...ETHER });
    expect(await faultOf(signerWith([]), [native])).toBeUndefined();
    expect(await faultOf(signerWith([]), [{ ...native, decimals: 36 }])).toMatchObject({
      code: 'stale',
    });
  });
});
