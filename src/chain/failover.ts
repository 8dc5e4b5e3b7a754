import { setTimeout as sleep } from 'node:timers/promises';
import {
  BaseError,
  createTransport,
  type EIP1193RequestFn,
  HttpRequestError,
  isHex,
  RpcRequestError,
  TimeoutError,
  type Transport,
} from 'viem';
import { retryAfterMs } from '../retryAfter';
import { currentSpan } from '../tracing';
import { type CallNode, type CallOptions, isHttpResponse, jsonRpc, type RpcRequest } from './jsonRpc';
import { halvesOf, logRange } from './logRange';

/** How an endpoint took a request. `limited`: it wants fewer; `refused`: it refuses this one, and not others. */
export type EndpointResult = 'answered' | 'failed' | 'limited' | 'refused';

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

const TOO_MANY_REQUESTS = 429;
/** A request that every node answers while it answers any. */
const SIMPLEST: RpcRequest = { method: 'eth_blockNumber' };
/** How long it is remembered for how many blocks an endpoint refuses logs. */
const LOG_LIMIT_MS = 3_600_000;
/** After so many answers for as many blocks as it is asked for, an endpoint that was too slow is asked for twice as many. */
const FIRST_GROWTH_ANSWERS = 4n;

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
export function endpointHost(url: string): string {
  return new URL(url).host;
}

/** How long an answer asks to be left alone, in milliseconds; undefined where it does not say. */
function askedRestMs(error: unknown): number | undefined {
  if (!(error instanceof HttpRequestError)) return undefined;
  return retryAfterMs(error.headers?.get('retry-after'), { mostMs: LONGEST_LIMIT_MS });
}

/** The error that a node has answered; undefined where it has not. */
function nodeError(error: unknown): RpcRequestError | undefined {
  const found = error instanceof BaseError && error.walk((cause) => cause instanceof RpcRequestError);
  return found instanceof RpcRequestError ? found : undefined;
}

/**
 * How an endpoint took a request that threw. What the EVM has returned to a call is an answer; any other error may be
 * that of this endpoint alone, whatever its code and its text say.
 */
function resultOf(error: unknown): EndpointResult {
  if (error instanceof HttpRequestError && error.status === TOO_MANY_REQUESTS) return 'limited';
  const answer = nodeError(error);
  if (!answer) return 'failed';
  return isHex(answer.data) ? 'answered' : 'refused';
}

/** A read that may be answered when it is repeated, while an endpoint is not down. */
function isRepeatable({ method }: RpcRequest, error: unknown, endpoints: readonly Endpoint[]): boolean {
  const isRead = method !== 'eth_sendRawTransaction';
  const result = resultOf(error);
  const isPassing = result === 'refused' || (result === 'failed' && !(error instanceof WrongChain));
  return isRead && isPassing && endpoints.some(({ isDown }) => !isDown);
}

/** Whether an endpoint that failed at a range of logs is reachable, and may answer for fewer blocks. */
function isReachable(error: unknown): boolean {
  return resultOf(error) === 'refused' || isHttpResponse(error);
}

/** How endpoints are asked. */
interface FailoverOptions extends CallOptions {
  readonly observe: ObserveEndpoint;
}

/** From how many blocks on an endpoint is not asked for their logs, and until when. */
interface LogLimit {
  readonly blocks: bigint;
  readonly until: number;
}

/** A limit, unless its time is over. */
function inTime<T extends LogLimit>(limit: T | undefined): T | undefined {
  return limit && performance.now() < limit.until ? limit : undefined;
}

/** One endpoint, which rests after a failure: 1 s, then twice as long each time up to 30 s, or as long as it says. */
class Endpoint {
  private restsFrom = 0;
  private restsUntil = 0;
  private failures = 0;
  private isLimited = false;
  /** Resolves once it is known to serve its chain; undefined: to be asked. */
  private checked: Promise<void> | undefined;
  /** Whether it answers the simplest request, while that is being asked. */
  private answering: Promise<boolean> | undefined;
  /** The fewest blocks for which it has refused logs, and until when that counts. */
  private refusedBlocks: LogLimit | undefined;
  /** The fewest blocks for whose logs it was too slow. That may have been its load: the limit grows with its answers. */
  private slowBlocks: (LogLimit & { readonly growsAfter: bigint; answers: bigint }) | undefined;
  readonly host: string;
  private readonly call: CallNode;

  constructor(url: string, options: CallOptions) {
    this.host = endpointHost(url);
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

  /** Whether it answers the simplest request, though it has refused another one: asked, because no error says so. */
  answersSimplest({ method }: RpcRequest): Promise<boolean> {
    if (method === SIMPLEST.method) return Promise.resolve(false);
    this.answering ??= this.call(SIMPLEST)
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        this.answering = undefined;
      });
    return this.answering;
  }

  /** Whether it may answer for the logs of so many blocks, as far as is known. */
  takesBlocks(blocks: bigint): boolean {
    this.refusedBlocks = inTime(this.refusedBlocks);
    this.slowBlocks = inTime(this.slowBlocks);
    return [this.refusedBlocks, this.slowBlocks].every(
      (limit) => limit === undefined || blocks < limit.blocks,
    );
  }

  /** Records that it has refused the logs of so many blocks. Where it refuses one, their number is not why. */
  noteRefusedBlocks(blocks: bigint): void {
    const isRange = blocks > 1n && this.takesBlocks(blocks);
    if (isRange) this.refusedBlocks = { blocks, until: performance.now() + LOG_LIMIT_MS };
    if (blocks <= 1n) this.refusedBlocks = undefined;
  }

  /** Records that it was too slow for the logs of so many blocks: each time it takes twice as many answers to grow. */
  noteSlowBlocks(blocks: bigint): void {
    if (!this.takesBlocks(blocks)) return;
    const growsAfter = this.slowBlocks ? 2n * this.slowBlocks.growsAfter : FIRST_GROWTH_ANSWERS;
    const until = performance.now() + LOG_LIMIT_MS;
    this.slowBlocks = blocks > 1n ? { blocks, until, growsAfter, answers: 0n } : undefined;
  }

  /** Records that it has answered for the logs of so many blocks. */
  noteAnsweredBlocks(blocks: bigint): void {
    const slow = this.slowBlocks;
    // Few blocks say nothing about more of them.
    if (!slow || 2n * blocks + 1n < slow.blocks) return;
    slow.answers += 1n;
    if (slow.answers >= slow.growsAfter) this.slowBlocks = { ...slow, blocks: 2n * slow.blocks, answers: 0n };
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
    if (sentAt < this.restsFrom) return;
    this.isLimited = result === 'limited';
    if (result === 'answered' || result === 'refused') {
      this.failures = 0;
      this.restsUntil = 0;
      return;
    }
    const now = performance.now();
    const grownMs = Math.min(FIRST_REST_MS * 2 ** this.failures, LONGEST_REST_MS);
    this.failures += 1;
    this.checked = undefined;
    this.restsFrom = now;
    // No pause at all, or a date that is over, asks for nothing.
    this.restsUntil = now + (askedRestMs(error) || grownMs);
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

/** How an endpoint took a request that threw; asked again where its error does not show that. */
async function classify(endpoint: Endpoint, request: RpcRequest, error: unknown): Promise<EndpointResult> {
  const result = resultOf(error);
  const blocks = logRange(request)?.blocks;
  if (blocks !== undefined && result !== 'limited') {
    if (isReachable(error)) endpoint.noteRefusedBlocks(blocks);
    else if (error instanceof TimeoutError) endpoint.noteSlowBlocks(blocks);
    // Fewer blocks show whether it answers.
    if (blocks > 1n && isReachable(error)) return 'refused';
  }
  return result === 'refused' && !(await endpoint.answersSimplest(request)) ? 'failed' : result;
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
    const blocks = logRange(request)?.blocks;
    if (blocks !== undefined) endpoint.noteAnsweredBlocks(blocks);
    ended('answered');
    return { answer };
  } catch (error) {
    const result = await classify(endpoint, request, error);
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
 * Asks them in turn. For the logs of many blocks, those that answer for so many; where none does, twice for half of them.
 * Nodes limit an eth_getLogs by its blocks or by its logs, and each reports that in its own way.
 */
async function askInParts(
  endpoints: readonly Endpoint[],
  request: RpcRequest,
  asking: Asking,
): Promise<unknown> {
  const range = logRange(request);
  if (!range || range.blocks <= 1n) return askInTurn(endpoints, request, asking);
  const able = endpoints.filter((endpoint) => endpoint.takesBlocks(range.blocks));
  try {
    if (able.length > 0) return await askInTurn(able, request, asking);
  } catch (error) {
    if (!isReachable(error)) throw error;
  }
  const [earlier, later] = halvesOf(request, range);
  const logs = await askInParts(endpoints, earlier, asking);
  return (logs as unknown[]).concat(await askInParts(endpoints, later, asking));
}

/**
 * Asks the endpoints of one network in their order until one answers, and leaves alone for a while those that failed or
 * want fewer requests (HTTP 429 with Retry-After). One that answers with an error, of whatever code, is asked for the number
 * of the newest block: where it answers that, it refuses only this request, and is not left alone. Each request is one HTTP
 * call of at most `timeoutMs` per endpoint, or a batch of at most `batchSize`. The logs of more blocks than any endpoint
 * answers for are read in parts. A read that fails within a second is repeated at most twice, after 100 and 300 ms, unless
 * every endpoint is down: that costs less than the work of whoever asked. Throws the node's own error; else the first
 * failure that is not a limit, or the limit; EndpointsLimited where none may be asked.
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
            return await askInParts(endpoints, request, asking);
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
