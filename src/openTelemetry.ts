import {
  type Context,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  RandomIdGenerator,
  type SpanExporter,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Config } from './config';
import type { Lifetime } from './lifetime';
import type { Logger } from './logging';
import { withTimeLimit } from './timeLimit';
import type { Span, Tracer } from './tracing';

/** More that wait for the collector are dropped. */
const MAX_WAITING_SPANS = 8_192;
const EXPORT_EVERY_MS = 1_000;
const EXPORT_LIMIT_MS = 5_000;
const STOP_LIMIT_MS = 2_000;

/** Logs when the collector stops taking spans, and when it takes them again. */
function observed(exporter: SpanExporter, logger: Logger): SpanExporter {
  let failing = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const failed = result.code !== 0;
        if (failed && !failing)
          logger.warn({ err: result.error }, 'traces cannot be exported: they are dropped');
        if (!failed && failing) logger.info('traces are exported again');
        failing = failed;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };

/** The context of a `traceparent`, as somebody else has it. */
function contextOf(traceparent: string | undefined): Context {
  const [, traceId, spanId, flags] = traceparent?.split('-') ?? [];
  if (!traceId || !spanId || !flags) return ROOT_CONTEXT;
  const traceFlags = Number.parseInt(flags, 16);
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

/**
 * Exports spans in batches by OTLP over HTTP. Nothing waits for the collector, but a stop, for two seconds. This module
 * loads OpenTelemetry: it is imported where something is traced.
 */
export function startTracer(
  { tracing, roles }: { readonly tracing: NonNullable<Config['tracing']>; readonly roles: Config['roles'] },
  logger: Logger,
  lifetime: Pick<Lifetime, 'onStop'>,
): Tracer {
  const exporter = new OTLPTraceExporter({
    url: `${tracing.endpoint.replace(/\/+$/, '')}/v1/traces`,
    headers: { ...tracing.headers },
    timeoutMillis: EXPORT_LIMIT_MS,
  });
  const ids = new RandomIdGenerator();
  /** The id of the next span, when whoever did the work has chosen it (`record`). */
  let chosenId: string | undefined;
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'orgwallet', 'orgwallet.roles': [...roles] }),
    sampler: new ParentBasedSampler({ root: new AlwaysOnSampler() }),
    idGenerator: {
      generateTraceId: () => ids.generateTraceId(),
      generateSpanId: () => chosenId ?? ids.generateSpanId(),
    },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: observed(exporter, logger),
        maxQueueSize: MAX_WAITING_SPANS,
        scheduledDelayMillis: EXPORT_EVERY_MS,
        exportTimeoutMillis: EXPORT_LIMIT_MS,
      }),
    ],
  });
  lifetime.onStop('traces', async () => {
    await withTimeLimit(
      provider.shutdown().catch(() => undefined),
      STOP_LIMIT_MS,
    );
  });
  const tracer = provider.getTracer('orgwallet');

  function spanOf(span: OtelSpan): Span {
    const { traceId, spanId, traceFlags } = span.spanContext();
    return {
      traceId,
      traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
      begin: (name, { kind = 'internal', attributes = {} } = {}) =>
        spanOf(tracer.startSpan(name, { kind: KINDS[kind], attributes }, trace.setSpan(ROOT_CONTEXT, span))),
      rename: (name) => void span.updateName(name),
      set: (attributes) => void span.setAttributes(attributes),
      end(error) {
        // A message may contain what a caller sent.
        if (error !== undefined) {
          span.setAttribute('error.type', error instanceof Error ? error.name : typeof error);
          span.setStatus({ code: SpanStatusCode.ERROR });
        }
        if (span.isRecording()) span.end();
      },
    };
  }

  return {
    begin: (name, { kind = 'internal', attributes = {}, parent } = {}) =>
      spanOf(tracer.startSpan(name, { kind: KINDS[kind], attributes }, contextOf(parent))),
    record({ name, parent, id, beganAtMs, endedAtMs, attributes }) {
      chosenId = id;
      tracer.startSpan(name, { attributes, startTime: beganAtMs }, contextOf(parent)).end(endedAtMs);
      chosenId = undefined;
    },
  };
}
