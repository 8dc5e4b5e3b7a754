import type { Request, Response } from 'express';
import { traceparentOf } from '../temporal/traceHeader';
import type { Span, Tracer } from '../tracing';
import { type Exchange, finalStatus } from './exchange';

/**
 * Begins the span of a request, in the trace of its caller if it sends a `traceparent`. The response names it in
 * `traceresponse` (W3C Trace Context, level 3): whoever gets an error finds its trace.
 */
export function beginRequestSpan(tracer: Tracer, request: Request, response: Response): Span {
  const { method } = request;
  const parent = traceparentOf(request.headers.traceparent);
  const span = tracer.begin(method, {
    kind: 'server',
    parent,
    attributes: { 'http.request.method': method },
  });
  response.setHeader('traceresponse', span.traceparent);
  response.once('close', () => {
    const exchange = response.locals.exchange as Exchange | undefined;
    const status = finalStatus(response);
    span.rename(`${method} ${exchange?.route ?? 'unknown'}`);
    span.set({
      'http.route': exchange?.route,
      'http.response.status_code': status,
      'orgwallet.request_id': exchange?.requestId,
      'orgwallet.organization_id': exchange?.credential?.organizationId,
      'orgwallet.resource_id': exchange?.resourceId,
    });
    span.end(status >= 500 ? status : undefined);
  });
  return span;
}
