import type { RequestHandler } from 'express';
import { Refused } from './refusals';

function allowOf(methods: readonly string[]): string {
  const all = methods.flatMap((method) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]));
  return [...new Set([...all, 'OPTIONS'])].join(', ');
}

/** Answers OPTIONS with `Allow`, and any other method with 404 and `Allow`. */
export function otherMethods(methods: readonly string[]): RequestHandler {
  const allow = allowOf(methods);
  return (request, response) => {
    response.setHeader('Allow', allow);
    if (request.method === 'OPTIONS') {
      response.statusCode = 204;
      response.end();
      return;
    }
    throw new Refused({ code: 'notFound', message: `method ${request.method} is not allowed on this path` });
  };
}
