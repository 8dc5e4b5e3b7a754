import { AsyncLocalStorage } from 'node:async_hooks';

/** What a span says beside its name and times. Nothing that a caller sent, no secret: spans leave the installation. */
export type Attributes = { readonly [name: string]: string | number | undefined };

/** Who does the work: `server` answers somebody else, `client` asks somebody else. */
type SpanKind = 'server' | 'client' | 'internal';

interface SpanOptions {
  readonly kind?: SpanKind;
  readonly attributes?: Attributes;
}

/** One piece of work of a trace, from its beginning until `end`. */
export interface Span {
  /** 32 hex digits. */
  readonly traceId: string;
  /** How others refer to it. Source: W3C Trace Context, `traceparent`. */
  readonly traceparent: string;
  /** Begins a span within this one. */
  begin(name: string, options?: SpanOptions): Span;
  rename(name: string): void;
  set(attributes: Attributes): void;
  /** Ends it; with an error, as failed. A second call changes nothing. */
  end(error?: unknown): void;
}

/** A span that is over, whose id was chosen by whoever did the work. Times are in ms since the epoch. */
export interface EndedSpan {
  readonly name: string;
  readonly parent: string;
  /** 16 hex digits. */
  readonly id: string;
  readonly beganAtMs: number;
  readonly endedAtMs: number;
  readonly attributes: Attributes;
}

/** Begins traces, and goes on with those that others have begun. */
export interface Tracer {
  /** Begins a span within that of a `traceparent`, or a new trace. */
  begin(name: string, options?: SpanOptions & { readonly parent?: string | undefined }): Span;
  record(span: EndedSpan): void;
}

const current = new AsyncLocalStorage<Span | undefined>();

/** The span that this work belongs to; undefined where nothing is traced. */
export function currentSpan(): Span | undefined {
  return current.getStore();
}

/** Runs work within a span, which it does not end; undefined: within none. */
export function withSpan<T>(span: Span | undefined, work: () => T): T {
  return current.run(span, work);
}
