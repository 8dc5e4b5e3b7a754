import { createRequire } from 'node:module';
import { rpc } from './rpc';

/** anvil's first account: publicly known, used on local chains only. */
export const LOCAL_FUNDER = {
  address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  privateKey: '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
} as const;

/** The CREATE2 factory of a new anvil chain; it accepts salt and creation code, like Safe's factory. */
const ANVIL_FACTORY = '0x4e59b44847b379578588920cA78FbF26c0B4956C';
/** Safe's singleton factory, the origin of the canonical addresses. */
const SAFE_SINGLETON_FACTORY = '0x914d7Fec6aaC8cd542e72Bca78B30650d45643d7';

const SALT = '00'.repeat(32);
/** Derives from the factory, the salt and the creation code with its parameters below. */
const DEMO_TOKEN_ADDRESS = '0x468f18d57bC8bAE33874e6429638edf9F6F77c41';
const DEMO_TOKEN_SUPPLY = 10n ** 27n;

const artifacts = createRequire(__filename);

/**
 * The contracts of Safe 1.4.1 at their canonical addresses: those that accounts are made of, and those that Safe's own
 * tools look for. Source: Safe's published deployments of 1.4.1.
 */
export const LOCAL_SAFE_CONTRACTS = [
  { artifact: 'SafeL2.sol/SafeL2.json', address: '0x29fcB43b46531BcA003ddC8FCB67FFE91900C762' },
  {
    artifact: 'proxies/SafeProxyFactory.sol/SafeProxyFactory.json',
    address: '0x4e1DCf7AD4e460CfD30791CCC4F9c8a4f820ec67',
  },
  {
    artifact: 'handler/CompatibilityFallbackHandler.sol/CompatibilityFallbackHandler.json',
    address: '0xfd0732Dc9E303f09fCEf3a7388Ad10A83459Ec99',
  },
  {
    artifact: 'libraries/MultiSend.sol/MultiSend.json',
    address: '0x38869bf66a61cF6bDB996A6aE40D5853Fd43B526',
  },
  {
    artifact: 'libraries/MultiSendCallOnly.sol/MultiSendCallOnly.json',
    address: '0x9641d764fc13c8B624c04430C7356C1C7C8102e2',
  },
  {
    artifact: 'libraries/SignMessageLib.sol/SignMessageLib.json',
    address: '0xd53cd0aB83D845Ac265BE939c57F53AD838012c9',
  },
  {
    artifact: 'libraries/CreateCall.sol/CreateCall.json',
    address: '0x9b35Af71d77eaf8d7e40252370304687390A1A52',
  },
  {
    artifact: 'accessors/SimulateTxAccessor.sol/SimulateTxAccessor.json',
    address: '0x3d4BA2E0884aa488718476ca2FB8Efc291A46199',
  },
] as const;

/** The test token of the local chains. */
export interface TestToken {
  readonly address: string;
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
}

async function hasCode(url: string, address: string): Promise<boolean> {
  return (await rpc<string>(url, 'eth_getCode', [address, 'latest'])) !== '0x';
}

/** Sends creation code to a CREATE2 factory; the caller checks the code at the address afterwards. */
async function deploy(url: string, factory: string, creationCode: string): Promise<void> {
  const hash = await rpc<string>(url, 'eth_sendTransaction', [
    { from: LOCAL_FUNDER.address, to: factory, data: `0x${SALT}${creationCode}`, gas: '0x989680' },
  ]);
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const receipt = await rpc<{ status: string } | null>(url, 'eth_getTransactionReceipt', [hash]);
    if (receipt?.status === '0x1') return;
    if (receipt) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`The chain at ${url} did not deploy a contract of the local set-up (transaction ${hash}).`);
}

/** Deploys the missing Safe contracts at their canonical addresses on an anvil chain. */
export async function ensureSafeContracts(url: string): Promise<void> {
  if (!(await hasCode(url, SAFE_SINGLETON_FACTORY))) {
    const code = await rpc<string>(url, 'eth_getCode', [ANVIL_FACTORY, 'latest']);
    await rpc(url, 'anvil_setCode', [SAFE_SINGLETON_FACTORY, code]);
  }
  for (const { artifact, address } of LOCAL_SAFE_CONTRACTS) {
    if (await hasCode(url, address)) continue;
    const { bytecode } = artifacts(`@safe-global/safe-contracts/build/artifacts/contracts/${artifact}`);
    await deploy(url, SAFE_SINGLETON_FACTORY, String(bytecode).slice(2));
    if (!(await hasCode(url, address))) {
      throw new Error(`The Safe contract ${artifact} was not deployed at ${address} on ${url}.`);
    }
  }
}

function word(value: bigint | string): string {
  return (typeof value === 'bigint' ? value.toString(16) : value.slice(2).toLowerCase()).padStart(64, '0');
}

function shortText(text: string): string {
  const bytes = Buffer.from(text, 'utf8');
  return word(BigInt(bytes.length)) + bytes.toString('hex').padEnd(64, '0');
}

/** Deploys the ERC-20 `DEMO` (18 decimals, total supply with the funder) at one address on every anvil chain. */
export async function ensureDemoToken(url: string): Promise<TestToken> {
  const token = { name: 'Demo Token', symbol: 'DEMO', decimals: 18 };
  const { bytecode } = artifacts('@openzeppelin/contracts/build/contracts/ERC20PresetFixedSupply.json');
  // constructor(string name, string symbol, uint256 initialSupply, address owner): two heads, two values, two tails.
  const parameters = [
    word(128n),
    word(192n),
    word(DEMO_TOKEN_SUPPLY),
    word(LOCAL_FUNDER.address),
    shortText(token.name),
    shortText(token.symbol),
  ].join('');
  const creationCode = String(bytecode).slice(2) + parameters;
  if (!(await hasCode(url, DEMO_TOKEN_ADDRESS))) {
    await deploy(url, ANVIL_FACTORY, creationCode);
    if (!(await hasCode(url, DEMO_TOKEN_ADDRESS))) {
      throw new Error(`The demo token was not deployed at ${DEMO_TOKEN_ADDRESS} on ${url}.`);
    }
  }
  return { ...token, address: DEMO_TOKEN_ADDRESS };
}
