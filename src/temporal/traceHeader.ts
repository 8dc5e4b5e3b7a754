import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import type { EndedSpan } from '../tracing';

type Headers = Record<string, Payload>;

/** Under this name the SDKs of Temporal pass a trace on, as JSON with the fields of W3C Trace Context. */
const HEADER = '_tracer-data';

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-|$)/;

/** A `traceparent` as somebody else sent it; undefined for what is none. */
export function traceparentOf(given: unknown): string | undefined {
  return typeof given === 'string' && TRACEPARENT.test(given) ? given.slice(0, 55) : undefined;
}

/** The `traceparent` in the header of a message, a workflow or an activity: anybody who reaches Temporal can send one. */
export function traceparentIn(headers: Headers): string | undefined {
  const payload = headers[HEADER];
  if (!payload) return undefined;
  try {
    return traceparentOf(
      defaultPayloadConverter.fromPayload<{ traceparent?: unknown } | null>(payload)?.traceparent,
    );
  } catch {
    return undefined;
  }
}

/** A header with a `traceparent`. */
export function withTraceparent(headers: Headers, traceparent: string): Headers {
  return { ...headers, [HEADER]: defaultPayloadConverter.toPayload({ traceparent }) };
}

/** How workflows report their spans. */
export type TracingSinks = { tracing: { record(span: EndedSpan): void } };
