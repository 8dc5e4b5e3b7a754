import { headOf } from '../../chain/atNonce';
import { ask, assertChainId, ChainUnavailable } from '../../chain/clients';
import { readSafe, type SafeFound } from '../../chain/safeState';
import type { NetworkConfig } from '../../config';
import { min } from '../../domain/bigint';
import type { SignerContext } from '../signerContext';

/** How long an endpoint is known to serve its chain, in milliseconds. */
const CHAIN_ID_MS = 60_000;

/** A Safe by the signer's own endpoints. */
export interface ObservedSafe {
  /** With the network's confirmations; all endpoints agree. */
  readonly confirmed: SafeFound;
  /** Whether there is a contract now, by one of them: what is sent depends on it, and nothing else. */
  readonly isPresent: boolean;
}

/** The same in one text, to be compared. */
const textOf = (found: SafeFound) =>
  JSON.stringify(found, (_, value) => (typeof value === 'bigint' ? String(value) : value));

/** Reads Safes from the signer's own endpoints, in order. Throws ChainUnavailable: none, one does not answer, or they disagree. */
export async function observeSafes(
  context: Pick<SignerContext, 'endpointsOf'>,
  network: NetworkConfig,
  addresses: readonly string[],
): Promise<readonly ObservedSafe[]> {
  const endpoints = context.endpointsOf(network);
  const [first] = endpoints;
  if (!first) throw new ChainUnavailable(network, 'the signer has no endpoints there (signerRpcUrls)');
  const heads = await Promise.all(
    endpoints.map(async (chain) => {
      await assertChainId(chain, { withinMs: CHAIN_ID_MS });
      return headOf(chain);
    }),
  );
  const blockNumber = heads.reduce(min) - BigInt(network.confirmations);
  const confirmedOf = async (address: string): Promise<SafeFound> => {
    if (blockNumber < 0n) return { kind: 'missing' };
    const answers = await Promise.all(
      endpoints.map((chain) => ask(chain, (rpc) => readSafe(rpc, address, { blockNumber }))),
    );
    if (new Set(answers.map(textOf)).size > 1) {
      throw new ChainUnavailable(network, `the signer's endpoints disagree about ${address}`);
    }
    return answers[0] ?? { kind: 'missing' };
  };
  return Promise.all(
    addresses.map(async (address) => ({
      confirmed: await confirmedOf(address),
      isPresent: (await ask(first, (rpc) => readSafe(rpc, address))).kind !== 'missing',
    })),
  );
}
