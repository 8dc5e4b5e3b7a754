import {
  encodeDeployData,
  encodeFunctionData,
  erc6492SignatureValidatorAbi,
  erc6492SignatureValidatorByteCode,
  type Hex,
  isErc6492Signature,
  parseAbi,
  parseErc6492Signature,
} from 'viem';
import type { NetworkConfig } from '../config';
import {
  ask,
  assertChainId,
  type ChainClient,
  ChainUnavailable,
  createChainClient,
  networkLabel,
} from './clients';
import { CallTooLarge, creationByte, staticCallWord } from './evmCalls';
import { endpointHost } from './failover';
import { EndpointsMissing, notMadeBy, type VerifiedSignature, type WalletClaim } from './signatures';

/** The endpoints of one network that are asked about signatures of contract wallets: all of them must agree. */
export interface WalletEndpoints {
  readonly network: NetworkConfig;
  /** Empty: no signature of a contract wallet can be verified. */
  readonly clients: readonly ChainClient[];
}

/** The endpoints of the signer itself: `signerRpcUrls` of the network of contract wallets. */
export function signerEndpoints(network: NetworkConfig): WalletEndpoints {
  return {
    network,
    clients: network.signerRpcUrls.map((url) =>
      createChainClient({ ...network, rpcUrls: [url], rpcBatchSize: 1 }),
    ),
  };
}

/**
 * The endpoint of the other roles, for an early answer. None where the signer has none: a vote that it would refuse is
 * refused at once.
 */
export function earlyEndpoints(client: ChainClient): WalletEndpoints {
  return { network: client.network, clients: client.network.signerRpcUrls.length === 0 ? [] : [client] };
}

/** Endpoints of one network give different answers about a signature. */
class EndpointsDisagree extends ChainUnavailable {
  constructor({ network }: WalletEndpoints, { signer }: WalletClaim, accepting: string, refusing: string) {
    super(network, 'its endpoints disagree');
    this.message =
      `the endpoints of network ${networkLabel({ network })} disagree about a signature of contract wallet ` +
      `${signer}: ${accepting} accepts it, ${refusing} does not`;
  }
}

/** The host of an endpoint, or of several. */
export function hostOf({ network }: ChainClient): string {
  return network.rpcUrls.map(endpointHost).join(', ');
}

/** Throws ChainUnavailable that names the endpoint, where there are several. */
async function askOne(client: ChainClient, claim: WalletClaim, several: boolean): Promise<VerifiedSignature> {
  try {
    return await askContract(client, claim);
  } catch (error) {
    if (error instanceof CallTooLarge) {
      return { valid: false, reason: 'the signature is too long to be checked on chain' };
    }
    if (!several || !(error instanceof ChainUnavailable)) throw error;
    throw new ChainUnavailable(client.network, `its endpoint ${hostOf(client)} does not answer`);
  }
}

/**
 * Verifies a signature of a contract wallet: EIP-1271 where there is code at its address, ERC-6492 only while there is
 * none; never as that of a key. All endpoints must give the same answer.
 *
 * A contract that fails or misbehaves makes the signature invalid. Throws EndpointsMissing without endpoints,
 * ChainUnavailable when one of them does not answer, and EndpointsDisagree.
 */
export async function verifyContractSignature(
  endpoints: WalletEndpoints,
  claim: WalletClaim,
): Promise<VerifiedSignature> {
  const { clients } = endpoints;
  const answers = await Promise.all(clients.map((client) => askOne(client, claim, clients.length > 1)));
  const [first] = answers;
  if (first === undefined) throw new EndpointsMissing(networkLabel(endpoints));
  const hosts = (valid: boolean) =>
    clients
      .filter((_client, index) => answers[index]?.valid === valid)
      .map(hostOf)
      .join(', ');
  if (answers.some(({ valid }) => valid !== first.valid)) {
    throw new EndpointsDisagree(endpoints, claim, hosts(true), hosts(false));
  }
  return first;
}

/** Gas that a contract may use to check one signature. */
const CONTRACT_GAS = 5_000_000n;
/** The same for one that has to be deployed first, inside the call. */
const COUNTERFACTUAL_GAS = 8_000_000n;

const erc1271Abi = parseAbi([
  'function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)',
]);
const EIP1271_MAGIC = '0x1626ba7e';

async function askContract(
  client: ChainClient,
  { hash, signer, bytes }: WalletClaim,
): Promise<VerifiedSignature> {
  const [code] = await Promise.all([
    ask(client, (rpc) => rpc.getCode({ address: signer })),
    assertChainId(client),
  ]);
  const wrapped = isErc6492Signature(bytes);
  if (code !== undefined && code !== '0x') {
    const inner = wrapped ? unwrap(bytes) : bytes;
    if (inner === null) return { valid: false, reason: 'the ERC-6492 wrapping cannot be decoded' };
    const data = encodeFunctionData({
      abi: erc1271Abi,
      functionName: 'isValidSignature',
      args: [hash, inner],
    });
    const word = await staticCallWord(client, { to: signer, data, gas: CONTRACT_GAS });
    if (word?.startsWith(EIP1271_MAGIC)) return { valid: true, scheme: 'eip1271' };
    return { valid: false, reason: `the contract ${signer} does not accept the signature over this payload` };
  }
  if (!wrapped) return notMadeBy(signer);
  const validator = encodeDeployData({
    abi: erc6492SignatureValidatorAbi,
    bytecode: erc6492SignatureValidatorByteCode,
    args: [signer, hash, bytes],
  });
  const accepted = await creationByte(client, { code: validator, gas: COUNTERFACTUAL_GAS });
  if (accepted === 1) return { valid: true, scheme: 'erc6492' };
  return {
    valid: false,
    reason: `the contract that would be at ${signer} does not accept the signature over this payload`,
  };
}

function unwrap(bytes: Hex): Hex | null {
  try {
    return parseErc6492Signature(bytes).signature;
  } catch {
    return null;
  }
}
