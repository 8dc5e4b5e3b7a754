import { setTimeout as sleep } from 'node:timers/promises';
import {
  BaseError,
  createTransport,
  type EIP1193RequestFn,
  HttpRequestError,
  InternalRpcError,
  LimitExceededRpcError,
  RpcRequestError,
  type Transport,
} from 'viem';
import { currentSpan } from '../tracing';
import { type CallNode, type CallOptions, jsonRpc, type RpcRequest } from './jsonRpc';

/** How an endpoint took a request. `limited`: it wants fewer; `behind`: it lacks a block that others have. */
export type EndpointResult = 'answered' | 'failed' | 'limited' | 'behind';

/** Is notified of each request to an endpoint. */
type ObserveEndpoint = (host: string, result: EndpointResult) => void;

/** All endpoints of a network want fewer requests. */
class EndpointsLimited extends BaseError {
  override readonly name = 'EndpointsLimited';
}

/** An endpoint serves another chain. */
class WrongChain extends BaseError {
  override readonly name = 'WrongChain';
}

/** The codes by which providers limit requests: that of EIP-1474, and those that some have beside it. */
const LIMIT_CODES: readonly number[] = [LimitExceededRpcError.code, 429, -32_007];
const TOO_MANY_REQUESTS = 429;
/** What a node says of a block, or of the state at one, that it does not have. */
const LACKS_BLOCK = /header not found|missing trie node|unknown block/i;

const FIRST_REST_MS = 1_000;
const LONGEST_REST_MS = 30_000;
const LONGEST_LIMIT_MS = 60_000;
/** The pauses before a read is repeated which failed for no reason that lasts. */
const REPEAT_PAUSES_MS = [100, 300] as const;
/** What takes longer to fail is not repeated. */
const QUICK_FAILURE_MS = 1_000;
/** After so many failures in a row an endpoint is taken to be down. */
const DOWN_FAILURES = 4;

/** The host of an endpoint: its path may hold a secret. */
export function urlHost(url: string): string {
  return new URL(url).host;
}

/** How long a response asks to be left alone, in milliseconds; undefined where it does not say. Source: RFC 9110, 10.2.3. */
function retryAfterMs(error: unknown): number | undefined {
  const text = error instanceof HttpRequestError ? error.headers?.get('retry-after') : null;
  if (!text) return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return ms >= 0 ? Math.min(ms, LONGEST_LIMIT_MS) : undefined;
}

/** The error that a node has answered; undefined where it has not. */
function nodeError(error: unknown): RpcRequestError | undefined {
  const found = error instanceof BaseError && error.walk((cause) => cause instanceof RpcRequestError);
  return found instanceof RpcRequestError ? found : undefined;
}

/** How an endpoint took a request that threw. An error that the network itself gives (a revert) is an answer. */
function resultOf(error: unknown): EndpointResult {
  if (error instanceof HttpRequestError && error.status === TOO_MANY_REQUESTS) return 'limited';
  const answer = nodeError(error);
  if (!answer) return 'failed';
  if (LIMIT_CODES.includes(answer.code)) return 'limited';
  return LACKS_BLOCK.test(answer.message) ? 'behind' : 'answered';
}

/** Whether a node has failed at a request which it may answer when it gets it again: no answer, or an error without a reason. */
function isPassing(error: unknown): boolean {
  const result = resultOf(error);
  if (result !== 'answered') return result === 'failed' && !(error instanceof WrongChain);
  const answer = nodeError(error);
  return answer?.code === InternalRpcError.code && answer.data === undefined;
}

/** A read that failed in passing, while an endpoint is not down. */
function isRepeatable({ method }: RpcRequest, error: unknown, endpoints: readonly Endpoint[]): boolean {
  const isRead = method !== 'eth_sendRawTransaction';
  return isRead && isPassing(error) && endpoints.some(({ isDown }) => !isDown);
}

/** How endpoints are asked. */
interface FailoverOptions extends CallOptions {
  readonly observe: ObserveEndpoint;
}

/** One endpoint, which rests after a failure: 1 s, then twice as long each time up to 30 s, or as long as it says. */
class Endpoint {
  private restsFrom = 0;
  private restsUntil = 0;
  private failures = 0;
  private isLimited = false;
  /** Resolves once it is known to serve its chain; undefined: to be asked. */
  private checked: Promise<void> | undefined;
  readonly host: string;
  private readonly call: CallNode;

  constructor(url: string, options: CallOptions) {
    this.host = urlHost(url);
    this.call = jsonRpc(url, options);
  }

  /** Asks it. `chainId`: throws unless it serves this chain, which is asked first, and again after each failure. */
  async ask(request: RpcRequest, chainId: number | undefined): Promise<unknown> {
    if (chainId !== undefined && request.method !== 'eth_chainId') await this.assertChain(chainId);
    return this.call(request);
  }

  private async assertChain(chainId: number): Promise<void> {
    this.checked ??= this.checkChain(chainId);
    await this.checked.catch((error) => {
      this.checked = undefined;
      throw error;
    });
  }

  private async checkChain(chainId: number): Promise<void> {
    const served = Number(await this.call({ method: 'eth_chainId' }));
    if (served !== chainId) throw new WrongChain(`${this.host} serves chain ${served}`);
  }

  /** For how long it rests, in milliseconds. `limited`: it has asked for that. */
  rest(now: number): { readonly ms: number; readonly limited: boolean } {
    const ms = Math.max(0, this.restsUntil - now);
    return { ms, limited: this.isLimited && ms > 0 };
  }

  /** Whether it has failed so often in a row that another try would be in vain. */
  get isDown(): boolean {
    return this.failures >= DOWN_FAILURES;
  }

  /** Counts a request that was sent at `sentAt`. What was in flight when the rest began says nothing new. */
  note(result: EndpointResult, sentAt: number, error?: unknown): void {
    if (result === 'behind' || sentAt < this.restsFrom) return;
    this.isLimited = result === 'limited';
    if (result === 'answered') {
      this.failures = 0;
      this.restsUntil = 0;
      return;
    }
    const now = performance.now();
    const grownMs = Math.min(FIRST_REST_MS * 2 ** this.failures, LONGEST_REST_MS);
    this.failures += 1;
    this.checked = undefined;
    this.restsFrom = now;
    this.restsUntil = now + (retryAfterMs(error) ?? grownMs);
  }
}

/**
 * Those to ask, in this order: as configured without those that rest; where all rest, the one whose rest ends first.
 * None that wants fewer requests.
 */
function choose(all: readonly Endpoint[], now: number): readonly Endpoint[] {
  const rested = all.map((one) => ({ one, ...one.rest(now) }));
  const awake = rested.filter(({ ms }) => ms === 0);
  if (awake.length > 0) return awake.map(({ one }) => one);
  const able = rested.filter(({ limited }) => !limited).sort((a, b) => a.ms - b.ms);
  return able.slice(0, 1).map(({ one }) => one);
}

/** How the endpoints of a network are asked. */
interface Asking {
  readonly chainId: number | undefined;
  /** One alone is checked by whoever depends on it. */
  readonly isAlone: boolean;
  readonly observe: ObserveEndpoint;
}

/** Asks one endpoint. Returns its answer, the error that the network itself gives, or why the endpoint failed. */
async function askOne(
  endpoint: Endpoint,
  request: RpcRequest,
  { chainId, isAlone, observe }: Asking,
): Promise<{ readonly answer: unknown } | { readonly error: unknown } | { readonly failure: unknown }> {
  const sentAt = performance.now();
  const span = currentSpan()?.begin(request.method, {
    kind: 'client',
    attributes: {
      'rpc.system': 'jsonrpc',
      'rpc.method': request.method,
      'server.address': endpoint.host,
      'orgwallet.network_id': chainId,
    },
  });
  const ended = (result: EndpointResult, error?: unknown) => {
    endpoint.note(result, sentAt, error);
    observe(endpoint.host, result);
    span?.set({ 'orgwallet.rpc_result': result });
    span?.end(error);
  };
  try {
    const answer = await endpoint.ask(request, isAlone ? undefined : chainId);
    ended('answered');
    return { answer };
  } catch (error) {
    const result = resultOf(error);
    ended(result, error);
    return result === 'answered' ? { error } : { failure: error };
  }
}

/** Throws why none has answered. */
function refuse(endpoints: readonly Endpoint[], failures: readonly unknown[]): never {
  // What may have been done counts more than what was not taken.
  const failure = failures.find((error) => resultOf(error) !== 'limited') ?? failures[0];
  if (failure) throw failure;
  const ms = Math.ceil(Math.min(...endpoints.map((endpoint) => endpoint.rest(performance.now()).ms)));
  const hosts = endpoints.map(({ host }) => host).join(', ');
  throw new EndpointsLimited(`all endpoints limit requests (${hosts}): again in ${ms} ms`);
}

/** Asks them in turn until one answers. Throws the error that the network itself gives, or why none has answered. */
async function askInTurn(
  endpoints: readonly Endpoint[],
  request: RpcRequest,
  asking: Asking,
): Promise<unknown> {
  const failures: unknown[] = [];
  for (const one of choose(endpoints, performance.now())) {
    const asked = await askOne(one, request, asking);
    if ('answer' in asked) return asked.answer;
    if ('error' in asked) throw asked.error;
    failures.push(asked.failure);
  }
  return refuse(endpoints, failures);
}

/**
 * Asks the endpoints of one network in their order until one answers, and leaves alone for a while those that failed or
 * want fewer requests (HTTP 429 with Retry-After, EIP-1474's limit). Each request is one HTTP call of at most `timeoutMs`
 * per endpoint, or a batch of at most `batchSize`. A read that fails within a second is repeated at most twice, after 100 and
 * 300 ms, unless every endpoint is down: that costs less than the work of whoever asked. Throws the node's own error; else
 * the first failure that is not a limit, or the limit; EndpointsLimited where none may be asked.
 */
export function failover(urls: readonly string[], options: FailoverOptions): Transport {
  const endpoints = urls.map((url) => new Endpoint(url, options));
  return (config) => {
    const asking = { chainId: config.chain?.id, isAlone: urls.length === 1, observe: options.observe };
    return createTransport({
      key: 'failover',
      name: 'JSON-RPC over HTTP with failover',
      type: 'failover',
      retryCount: 0,
      request: (async (request) => {
        for (let tries = 0; ; tries += 1) {
          const sentAt = performance.now();
          try {
            return await askInTurn(endpoints, request, asking);
          } catch (error) {
            const pauseMs = REPEAT_PAUSES_MS[tries];
            const isQuick = performance.now() - sentAt < QUICK_FAILURE_MS;
            if (pauseMs === undefined || !isQuick || !isRepeatable(request, error, endpoints)) throw error;
            await sleep(pauseMs);
          }
        }
      }) as EIP1193RequestFn,
    });
  };
}
