import {
  BaseError,
  createTransport,
  type EIP1193RequestFn,
  HttpRequestError,
  http,
  LimitExceededRpcError,
  type Transport,
} from 'viem';

/** How an endpoint took a request. `limited`: it wants fewer; `behind`: it lacks a block that others have. */
export type EndpointResult = 'answered' | 'failed' | 'limited' | 'behind';

/** Hears of every request to an endpoint. */
export type ObserveEndpoint = (host: string, result: EndpointResult) => void;

/** All endpoints of a network want fewer requests. */
export class EndpointsLimited extends BaseError {
  override readonly name = 'EndpointsLimited';
}

/** The codes by which providers limit requests: that of EIP-1474, and those that some have beside it. */
const LIMIT_CODES: readonly unknown[] = [LimitExceededRpcError.code, 429, -32_007];
const TOO_MANY_REQUESTS = 429;
/** What a node says of a block, or of the state at one, that it does not have. */
const LACKS_BLOCK = /header not found|missing trie node|unknown block/i;

const FIRST_REST_MS = 1_000;
const LONGEST_REST_MS = 30_000;
const LONGEST_LIMIT_MS = 60_000;

/** How long a response asks to be left alone, in milliseconds; undefined where it does not say. Source: RFC 9110, 10.2.3. */
function retryAfterMs(error: unknown, now: number): number | undefined {
  const text = error instanceof HttpRequestError ? error.headers?.get('retry-after') : null;
  if (!text) return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now;
  return ms >= 0 ? Math.min(ms, LONGEST_LIMIT_MS) : undefined;
}

/** How an endpoint took a request that threw. An error that the network itself gives (a revert) is an answer. */
function resultOf(error: unknown): EndpointResult {
  if (error instanceof HttpRequestError && error.status === TOO_MANY_REQUESTS) return 'limited';
  if (!(error instanceof Error && 'code' in error)) return 'failed';
  if (LIMIT_CODES.includes(error.code)) return 'limited';
  return LACKS_BLOCK.test(error.message) ? 'behind' : 'answered';
}

/** One endpoint, which rests after a failure: 1 s, then twice as long each time up to 30 s, or as long as it says. */
class Endpoint {
  private restsUntil = 0;
  private failures = 0;
  private isLimited = false;
  /** Its path may hold a secret. */
  readonly host: string;
  private readonly transport: Transport;

  constructor(
    readonly url: string,
    options: { readonly timeoutMs: number; readonly batchSize: number },
  ) {
    this.host = new URL(url).host;
    const { timeoutMs: timeout, batchSize } = options;
    this.transport = http(url, { timeout, retryCount: 0, batch: batchSize > 1 ? { batchSize } : false });
  }

  connect(config: Parameters<Transport>[0]): ReturnType<Transport> {
    return this.transport(config);
  }

  /** For how long it rests, in milliseconds. `limited`: it has asked for that. */
  rest(now: number): { readonly ms: number; readonly limited: boolean } {
    const ms = Math.max(0, this.restsUntil - now);
    return { ms, limited: this.isLimited && ms > 0 };
  }

  note(result: EndpointResult, error?: unknown): void {
    if (result === 'behind') return;
    this.isLimited = result === 'limited';
    if (result === 'answered') {
      this.failures = 0;
      this.restsUntil = 0;
      return;
    }
    const now = Date.now();
    const grownMs = Math.min(FIRST_REST_MS * 2 ** this.failures, LONGEST_REST_MS);
    this.failures += 1;
    this.restsUntil = now + (retryAfterMs(error, now) ?? grownMs);
  }
}

/**
 * Those to ask, in this order: as configured without those that rest; where all rest, the one whose rest ends first.
 * None that wants fewer requests.
 */
function choose<T extends { readonly endpoint: Endpoint }>(all: readonly T[], now: number): readonly T[] {
  const rested = all.map((one) => ({ one, ...one.endpoint.rest(now) }));
  const awake = rested.filter(({ ms }) => ms === 0);
  if (awake.length > 0) return awake.map(({ one }) => one);
  const able = rested.filter(({ limited }) => !limited).sort((a, b) => a.ms - b.ms);
  return able.slice(0, 1).map(({ one }) => one);
}

/**
 * Asks the endpoints of one network in their order until one answers, and leaves alone for a while those that failed or
 * want fewer requests (HTTP 429 with Retry-After, EIP-1474's limit). Each request is one HTTP call of at most `timeoutMs`
 * per endpoint, or a batch of at most `batchSize`. Throws the error of the first that failed, and EndpointsLimited.
 */
export function failover(
  urls: readonly string[],
  options: { readonly timeoutMs: number; readonly batchSize: number; readonly observe: ObserveEndpoint },
): Transport {
  const endpoints = urls.map((url) => new Endpoint(url, options));
  return (config) => {
    const connected = endpoints.map((endpoint) => ({ endpoint, transport: endpoint.connect(config) }));
    return createTransport({
      key: 'failover',
      name: 'JSON-RPC over HTTP with failover',
      type: 'failover',
      retryCount: 0,
      request: (async (args) => {
        const failures: unknown[] = [];
        for (const { endpoint, transport } of choose(connected, Date.now())) {
          const told = (result: EndpointResult, error?: unknown) => {
            endpoint.note(result, error);
            options.observe(endpoint.host, result);
          };
          try {
            const answer = await transport.request(args);
            told('answered');
            return answer;
          } catch (error) {
            const result = resultOf(error);
            told(result, error);
            if (result === 'answered') throw error;
            failures.push(error);
          }
        }
        if (failures.length > 0) throw failures[0];
        const ms = Math.min(...endpoints.map((endpoint) => endpoint.rest(Date.now()).ms));
        throw new EndpointsLimited(
          `${endpoints.map(({ host }) => host).join(', ')} limits requests for ${ms} ms more`,
        );
      }) as EIP1193RequestFn,
    });
  };
}
