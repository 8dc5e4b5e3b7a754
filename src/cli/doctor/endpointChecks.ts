import { assertChainId, type ChainClient, createChainClient, READ_TIMEOUT_MS } from '../../chain/clients';
import { hostOf } from '../../chain/contractSignatures';
import type { NetworkConfig } from '../../config';
import { withTimeLimit } from '../../timeLimit';
import { problemText } from '../problems';
import { ANSWER_LIMIT_MS, type Finding, fail, isSlow, ok, PATIENCE_MS, slow, warn } from './finding';

/** One endpoint, and what it has answered. */
interface Asked {
  readonly client: ChainClient;
  /** How long its answer took; absent where it has not answered. */
  readonly tookMs?: number;
  /** Why it cannot be used. */
  readonly refusal?: string;
}

async function askEndpoint(network: NetworkConfig, url: string, limitMs: number): Promise<Asked> {
  // One endpoint, so that what is asked after this is answered by the same node.
  const client = createChainClient(
    { ...network, rpcUrls: [url], rpcBatchSize: 1 },
    { timeoutMs: PATIENCE_MS },
  );
  const askedAt = performance.now();
  try {
    const isAnswered = await withTimeLimit(
      assertChainId(client).then(() => true),
      limitMs,
    );
    if (!isAnswered)
      return { client, refusal: `${hostOf(client)} has not answered within ${limitMs / 1_000} s` };
    return { client, tookMs: performance.now() - askedAt };
  } catch (error) {
    return { client, refusal: problemText(error).split('\n')[0] ?? 'failed' };
  }
}

/** The endpoints of a network that have answered, the quickest first, and what is to be said about the others. */
interface ReachedEndpoints {
  readonly clients: readonly ChainClient[];
  readonly findings: readonly Finding[];
}

/**
 * Asks each of some endpoints of a network by itself, for longer than the service does. `needsAll`: one that does not answer
 * is a failure even if the others do.
 */
export async function reachEndpoints(
  network: NetworkConfig,
  urls: readonly string[],
  {
    part,
    todo,
    needsAll,
    limitMs = ANSWER_LIMIT_MS,
  }: { readonly part: string; readonly todo: string; readonly needsAll: boolean; readonly limitMs?: number },
): Promise<ReachedEndpoints> {
  const asked = await Promise.all(urls.map((url) => askEndpoint(network, url, limitMs)));
  const answered = asked
    .flatMap(({ client, tookMs }) => (tookMs === undefined ? [] : [{ client, tookMs }]))
    .toSorted((a, b) => a.tookMs - b.tookMs);
  const isFailure = needsAll || answered.length === 0;
  const findings = asked.flatMap(({ client, tookMs, refusal }): Finding[] => {
    if (refusal !== undefined) {
      return [isFailure ? fail(part, refusal, todo) : warn(part, `${refusal}; the others are asked`, todo)];
    }
    if (tookMs === undefined || !isSlow(tookMs)) return [];
    return [slow(part, tookMs, { who: hostOf(client), waitsMs: READ_TIMEOUT_MS })];
  });
  return { clients: answered.map(({ client }) => client), findings };
}

/** The endpoints that the signer itself asks. */
export async function reachSignerEndpoints(
  network: NetworkConfig,
  limitMs?: number,
): Promise<ReachedEndpoints> {
  const part = `endpoints ${network.id}`;
  const { signerRpcUrls } = network;
  if (signerRpcUrls.length === 0) {
    return {
      clients: [],
      findings: [ok(part, 'the signer has none: votes of contract wallets are refused')],
    };
  }
  const todo = 'see the log of the node, or correct signerRpcUrls in NETWORKS_FILE';
  const options = { part, todo, needsAll: true, ...(limitMs === undefined ? {} : { limitMs }) };
  const { clients, findings } = await reachEndpoints(network, signerRpcUrls, options);
  return {
    clients,
    findings: [...clients.map((client) => ok(part, `${hostOf(client)} answers the signer`)), ...findings],
  };
}
