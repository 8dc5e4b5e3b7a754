import {
  type CallOptions,
  type DataOf,
  ENDPOINTS,
  type EndpointName,
  type ItemOf,
  type Methods,
  type PagedEndpoint,
  type QueryOf,
  type ResponseOf,
} from './endpoints.ts';
import { type EventOptions, type FeedEvent, followEvents } from './events.ts';
import { type Connection, type Exchange, send } from './exchange.ts';
import { isObject, match } from './expectation.ts';

function withQuery(path: string, query: object | undefined): string {
  const given = Object.entries(query ?? {}).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

/** A page of a list. */
export type Page<E extends PagedEndpoint> = {
  readonly data: DataOf<E>;
  /** Absent where the list is whole. */
  readonly pagination?: { readonly cursor: string; readonly hasMore: boolean };
};

/** Every endpoint as a method, and the pages of lists. */
export type Api = Methods & {
  /** Every row of a list, page after page. */
  each<E extends PagedEndpoint>(
    list: E,
    query?: QueryOf<E>,
    options?: CallOptions,
  ): AsyncGenerator<ItemOf<E>, void>;
  /** Every event in its order, without an end: it waits for what comes, and survives restarts. */
  events(options?: EventOptions): AsyncGenerator<FeedEvent, void>;
  /** One page of a list. */
  page<E extends PagedEndpoint>(list: E, query?: QueryOf<E>, options?: CallOptions): Promise<Page<E>>;
};

/** Checks and completes where the service is. Throws TypeError for an address that is not the API's, or over which the key would be readable. */
function connectionTo(connection: Connection): Connection {
  const url = new URL(connection.baseUrl);
  const isLocal = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(url.hostname);
  const isSafe = url.protocol === 'https:' || (url.protocol === 'http:' && isLocal);
  if (!isSafe || !/\/api\/v1\/*$/.test(url.pathname) || url.search || url.hash) {
    throw new TypeError(`baseUrl is ${connection.baseUrl} (expected https://…/api/v1)`);
  }
  return { ...connection, baseUrl: connection.baseUrl.replace(/\/+$/, '') };
}

/**
 * The data of an answer about one thing: the record of another id of the same kind, or of another address, is refused. Throws
 * PayloadMismatch.
 */
function dataAbout<T>(asked: string | undefined, data: T): T {
  if (asked === undefined || !isObject(data)) return data;
  const { id, address } = data;
  if (asked.startsWith('0x')) match('address', asked, address);
  else if (typeof id === 'string' && id.split('_')[0] === asked.split('_')[0]) match('id', asked, id);
  return data;
}

/** Method and path of an endpoint. */
function partsOf(name: EndpointName) {
  const [method = '', text = ''] = ENDPOINTS[name].split(' ');
  const [path = ''] = text.split('?');
  return { method, path, hasQuery: method === 'GET' && (text.endsWith('?') || !path.includes('{')) };
}

/** Connects to the API. Nothing is sent before the first call. */
export function createApi(settings: Connection): Api {
  const connection = connectionTo(settings);
  const ask = <E extends EndpointName>(
    name: E,
    exchange: Omit<Exchange, 'method'>,
    options?: CallOptions,
  ) => {
    const { method } = partsOf(name);
    return send(connection, { method, ...exchange }, options) as Promise<ResponseOf<E> & { data: DataOf<E> }>;
  };
  const page = <E extends PagedEndpoint>(list: E, query?: QueryOf<E>, options?: CallOptions) => {
    const { path } = partsOf(list);
    return ask(list, { path: withQuery(path, query as object | undefined) }, options) as Promise<Page<E>>;
  };
  async function* each<E extends PagedEndpoint>(list: E, query?: QueryOf<E>, options?: CallOptions) {
    const first: { limit?: number } = { limit: 100, ...(query as object | undefined) };
    let asked: object = first;
    for (;;) {
      const { data, pagination } = await page(list, asked as QueryOf<E>, options);
      yield* data as ItemOf<E>[];
      if (!pagination?.hasMore) return;
      // A cursor includes the filters of the first request.
      asked = { limit: first.limit, cursor: pagination.cursor };
    }
  }
  const methods = (Object.keys(ENDPOINTS) as EndpointName[]).map((name) => {
    const { method, path, hasQuery } = partsOf(name);
    const hasId = path.includes('{');
    const hasBody = method === 'POST' || method === 'PATCH';
    const hasContent = hasBody || hasQuery;
    const call = async (...given: unknown[]) => {
      const id = hasId ? String(given.shift()) : undefined;
      // A URL drops such a segment: the request would go to the list, or to another endpoint.
      if (id !== undefined && /^\.{0,2}$/.test(id)) throw new TypeError(`${name}: invalid id "${id}"`);
      const content = hasContent ? (given.shift() as object) : undefined;
      const below = path.replace('{id}', encodeURIComponent(id ?? ''));
      const exchange = hasBody ? { path: below, body: content } : { path: withQuery(below, content) };
      return dataAbout(id, (await ask(name, exchange, given[0] as CallOptions | undefined)).data);
    };
    return [name, call];
  });
  const events = (options?: EventOptions) => followEvents(connection, options);
  return { ...Object.fromEntries(methods), each, events, page };
}
