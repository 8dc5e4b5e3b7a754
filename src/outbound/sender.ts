import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { retryAfterMs } from '../retryAfter';
import { type AddressGuard, createAddressGuard } from './addressGuard';
import {
  createHostAddresses,
  type HostAddress,
  literalAddress,
  type ReadHostAddresses,
  UnresolvedHost,
} from './hostAddresses';

/** For resolving, connecting, sending and the whole answer together. */
const TIME_LIMIT_MS = 15_000;
/** Of what is sent, and of what is read of an answer. */
const MAX_BYTES = 65_536;
/** What is kept of an answer. */
const KEPT_BYTES = 1_024;
const MAX_URL_LENGTH = 2_048;
/** The longest pause that a receiver is granted, in ms. */
const MAX_PAUSE_MS = 24 * 3_600_000;
/** How long a connection that is not in use stays open. */
const IDLE_MS = 20_000;

/** What is sent to an address that somebody else has chosen. */
interface OutboundRequest {
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  /** At most 64 KB. */
  readonly body: string;
  /** Ends it early; then it has failed. */
  readonly signal?: AbortSignal | undefined;
}

/** Why nothing has answered. `refused`: nothing was sent, because of the address. */
type OutboundFault = 'refused' | 'unresolved' | 'connection' | 'certificate' | 'timeout' | 'aborted';

/** What became of a request. */
export type OutboundOutcome = {
  /** From the beginning to the end of the answer. */
  readonly durationMs: number;
} & (
  | {
      readonly status: number;
      /** The pause that its Retry-After asks for. */
      readonly retryAfterMs?: number | undefined;
      /** The first KB of the answer, as it came. */
      readonly answer: string;
    }
  | { readonly fault: OutboundFault; readonly message: string }
);

/** Sends to addresses that other people have chosen, and to nothing inside this network. */
export interface OutboundSender {
  /** Why a URL cannot be used: its scheme, its form, its addresses, or a name that does not resolve. Undefined where it can. */
  refuse(url: string): Promise<string | undefined>;
  /** Sends a POST. Follows no redirect and parses no answer. Never throws for what the receiver does. */
  post(request: OutboundRequest): Promise<OutboundOutcome>;
  stop(): void;
}

/** How to send. */
export interface OutboundOptions {
  /** Private ranges (CIDR) that may be sent to all the same. */
  readonly allowedRanges: readonly string[];
  /** Only https. */
  readonly production: boolean;
  /** Absent: those of this machine. */
  readonly nameServers?: readonly string[] | undefined;
  /** Certificates of authorities (PEM) besides those of Node; absent: none. */
  readonly authorities?: string | undefined;
  /** Absent: 15 s. */
  readonly timeLimitMs?: number | undefined;
}

/** Nothing is sent to this address. */
class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

/** How addresses of hosts are read, and which of them are permitted. */
interface HostCheck {
  readonly read: ReadHostAddresses;
  readonly guard: AddressGuard;
}

/** Reads the addresses of a host. Throws UnresolvedHost; AddressRefused where one of them is refused: another look-up may choose it. */
async function permittedAddresses({ read, guard }: HostCheck, host: string): Promise<HostAddress[]> {
  const addresses = await read(host);
  for (const { address } of addresses) {
    const refusal = guard(address);
    if (refusal !== undefined) throw new AddressRefused(refusal);
  }
  return addresses;
}

/** Why a URL cannot be used, whatever its addresses are. */
function refuseForm(text: string, production: boolean): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || url.hostname === '') return 'is not a URL (expected e.g. https://example.com/hook)';
  if (text.length > MAX_URL_LENGTH) return `is longer than ${MAX_URL_LENGTH} characters`;
  if (url.protocol !== 'https:' && (production || url.protocol !== 'http:')) {
    return `must begin with https:// (has ${url.protocol}//)`;
  }
  if (url.username !== '' || url.password !== '') return 'must not have a user name or a password';
  return url.hash === '' ? undefined : 'must not have a fragment (#)';
}

const CERTIFICATE_CODE = /CERT|ALTNAME|^(UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO)/;

function faultOf(error: NodeJS.ErrnoException & { readonly errors?: readonly Error[] }): {
  fault: OutboundFault;
  message: string;
} {
  // Of a name with several addresses, none of which takes a connection: an AggregateError without a message.
  if (error.errors?.[0]) return faultOf(error.errors[0]);
  const { name, code = '', message } = error;
  if (error instanceof AddressRefused) return { fault: 'refused', message };
  if (error instanceof UnresolvedHost) return { fault: 'unresolved', message };
  if (name === 'TimeoutError') return { fault: 'timeout', message };
  if (name === 'AbortError') return { fault: 'aborted', message: 'was ended' };
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    // The message of Node lists the names that the receiver has written into its certificate.
    return { fault: 'certificate', message: `its certificate is for another name (${code})` };
  }
  if (CERTIFICATE_CODE.test(code)) return { fault: 'certificate', message: `${message} (${code})` };
  return {
    fault: 'connection',
    message: code === '' || message.includes(code) ? message : `${message} (${code})`,
  };
}

/** An answer as it comes: its first KB, once it has ended, is broken or too long. A status that has come counts in any case. */
function readAnswer(response: http.IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    const kept: Buffer[] = [];
    let bytes = 0;
    const done = () => resolve(Buffer.concat(kept).subarray(0, KEPT_BYTES).toString('utf8'));
    response.on('data', (chunk: Buffer) => {
      if (bytes < KEPT_BYTES) kept.push(chunk);
      bytes += chunk.length;
      if (bytes > MAX_BYTES) response.destroy();
    });
    response.on('error', done);
    response.on('close', done);
  });
}

/** Whether the receiver had closed an idle connection before it got the request. */
function isStale({ reusedSocket }: http.ClientRequest, { code = '' }: NodeJS.ErrnoException): boolean {
  return reusedSocket && ['ECONNRESET', 'EPIPE'].includes(code);
}

type Answered = { readonly status: number; readonly header: string | undefined; readonly answer: string };

/** What keeps connections, of each protocol. */
interface Agents {
  readonly 'http:': http.Agent;
  readonly 'https:': https.Agent;
}

/** Connections to addresses that were checked, and to no other: there is no second look-up. */
function createAgents(check: HostCheck, authorities: OutboundOptions['authorities']): Agents {
  const lookup: LookupFunction = (host, { all, family }, callback) => {
    permittedAddresses(check, host).then(
      (addresses) => {
        if (all) return callback(null, addresses);
        const one = addresses.find((address) => !family || address.family === family) ?? addresses[0];
        callback(null, one?.address ?? '', one?.family);
      },
      (error) => callback(error, ''),
    );
  };
  const shared = { keepAlive: true, lookup, timeout: IDLE_MS };
  return {
    'http:': new http.Agent(shared),
    'https:': new https.Agent({ ...shared, ...(authorities === undefined ? {} : { ca: authorities }) }),
  };
}

/** Sends once. Rejects where no status has come. */
function sendOnce(
  agents: Agents,
  { url: text, headers, body }: OutboundRequest,
  signal: AbortSignal,
): Promise<Answered> {
  const url = new URL(text);
  const protocol = url.protocol as keyof Agents;
  const module = protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    let hasAnswered = false;
    const request = module.request(url, {
      method: 'POST',
      agent: agents[protocol],
      signal,
      headers: { ...headers, 'accept-encoding': 'identity', 'content-length': Buffer.byteLength(body) },
    });
    request.once('response', (response) => {
      hasAnswered = true;
      const { statusCode: status = 0 } = response;
      const header = response.headers['retry-after'];
      readAnswer(response).then((answer) => resolve({ status, header, answer }));
    });
    request.on('error', (error) => {
      if (hasAnswered) return;
      // The next one is new, or as stale.
      if (isStale(request, error) && !signal.aborted)
        resolve(sendOnce(agents, { url: text, headers, body }, signal));
      else reject(signal.aborted ? signal.reason : error);
    });
    // Without an answer and without an error it ends where the receiver changes the protocol (101).
    request.on('close', () => {
      if (!hasAnswered) reject(new Error('the receiver ended the connection without an answer'));
    });
    request.end(body);
  });
}

/** Creates what sends. Throws Error for a bad range. */
export function createOutboundSender(options: OutboundOptions): OutboundSender {
  const { production, timeLimitMs = TIME_LIMIT_MS } = options;
  const check = {
    read: createHostAddresses(options.nameServers),
    guard: createAddressGuard(options.allowedRanges),
  };
  const agents = createAgents(check, options.authorities);

  async function checkedPost(request: OutboundRequest, signal: AbortSignal): Promise<Answered> {
    const refusal = refuseForm(request.url, production);
    if (refusal !== undefined) throw new AddressRefused(`the URL ${refusal}`);
    if (Buffer.byteLength(request.body) > MAX_BYTES)
      throw new AddressRefused(`the body is longer than ${MAX_BYTES} bytes`);
    // An address that the URL itself has is looked up by nobody.
    const { hostname } = new URL(request.url);
    if (literalAddress(hostname)) await permittedAddresses(check, hostname);
    return sendOnce(agents, request, signal);
  }

  return {
    async refuse(url) {
      const refusal = refuseForm(url, production);
      if (refusal !== undefined) return refusal;
      try {
        await permittedAddresses(check, new URL(url).hostname);
        return undefined;
      } catch (error) {
        return faultOf(error as Error).message;
      }
    },
    async post(request) {
      const startedAt = performance.now();
      const over = new AbortController();
      const end = () => over.abort(new DOMException('was ended', 'AbortError'));
      const message = `did not answer within ${timeLimitMs / 1_000} s`;
      const timer = setTimeout(() => over.abort(new DOMException(message, 'TimeoutError')), timeLimitMs);
      request.signal?.addEventListener('abort', end);
      if (request.signal?.aborted) end();
      try {
        const { status, header, answer } = await checkedPost(request, over.signal);
        const pause = retryAfterMs(header, { mostMs: MAX_PAUSE_MS });
        return {
          ...{ status, answer, durationMs: performance.now() - startedAt },
          ...(pause === undefined ? {} : { retryAfterMs: pause }),
        };
      } catch (error) {
        return { ...faultOf(error as Error), durationMs: performance.now() - startedAt };
      } finally {
        clearTimeout(timer);
        request.signal?.removeEventListener('abort', end);
      }
    },
    stop() {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}
