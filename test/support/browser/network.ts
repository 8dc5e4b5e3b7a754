import type { BrowserContext, Request, Route } from 'playwright-core';

/** Requests for approvals, and for what is about them. */
const APPROVALS = /\/api\/v1\/(transactions|proposals|[a-z]+\/proposals)/;

/** A text in answers, and what a malicious server puts in its place. */
export type Swap = readonly [from: string | RegExp, to: string];

function swapped(text: string, swaps: readonly Swap[]): string {
  return swaps.reduce(
    (changed, [from, to]) => changed.replaceAll(typeof from === 'string' ? from : new RegExp(from, 'gi'), to),
    text,
  );
}

/** An address wherever it stands: checksummed, in lower case, and as a word of calldata. */
export function swapAddress(from: string, to: string): Swap[] {
  return [
    [new RegExp(`0x${from.slice(2)}`), to],
    [new RegExp(from.slice(2)), to.slice(2).toLowerCase()],
  ];
}

/**
 * A server that lies from now on: it puts texts in the place of others in every answer about approvals, in their fields
 * and in what is signed alike; with `only: 'payloads'` in what is signed alone, while the fields show what was asked.
 */
export async function lie(
  context: BrowserContext,
  swaps: readonly Swap[],
  { only }: { only?: 'payloads' } = {},
): Promise<void> {
  await context.route(APPROVALS, async (route) => {
    const response = await route.fetch();
    const text = await response.text();
    const body =
      only === 'payloads'
        ? text.replaceAll(/"(\w+Payload)":("(?:[^"\\]|\\.)*")/g, (_, name, payload) => {
            return `"${name}":${JSON.stringify(swapped(JSON.parse(payload), swaps))}`;
          })
        : swapped(text, swaps);
    await route.fulfill({ response, body });
  });
}

/** A server that lies about one thing from now on: it changes the bodies of its answers to what matches. */
export async function changeAnswers<Body>(
  context: BrowserContext,
  path: RegExp,
  change: (body: Body) => Body,
): Promise<void> {
  await context.route(path, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: change(await response.json()) });
  });
}

/** What the page sends, to see whether it repeats itself. */
interface Sent {
  readonly method: string;
  readonly path: string;
  readonly idempotencyKey: string | undefined;
}

const sentOf = (request: Request): Sent => ({
  method: request.method(),
  path: new URL(request.url()).pathname,
  idempotencyKey: request.headers()['x-idempotency-key'],
});

/** What becomes of an answer that the page does not get. */
const FAILURES = {
  /** The service fails before it has done anything. */
  internalError: (route: Route) =>
    route.fulfill({
      status: 500,
      headers: { 'x-request-id': 'req_of_the_test' },
      json: { error: { code: 'internalError', message: 'the service could not do this now' } },
    }),
  /** The service has done it, and the connection breaks before the answer arrives. */
  lostAnswer: async (route: Route) => {
    await route.fetch();
    await route.abort('connectionreset');
  },
  /** Nothing reaches the service. */
  unreachable: (route: Route) => route.abort('connectionrefused'),
} as const;

/**
 * Lets the first `times` mutations whose path matches fail. Returns what the page sends to it, in order, until it is
 * told otherwise.
 */
export async function failMutations(
  context: BrowserContext,
  path: RegExp,
  how: keyof typeof FAILURES,
  times = 1,
): Promise<readonly Sent[]> {
  const sent: Sent[] = [];
  await context.route(path, async (route) => {
    const request = route.request();
    if (request.method() === 'GET') return route.fallback();
    sent.push(sentOf(request));
    return sent.length <= times ? FAILURES[how](route) : route.fallback();
  });
  return sent;
}
