import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type RequestHandler, Router } from 'express';
import type { Config } from '../config';
import { openApiText } from '../contract/openapi';
import { endpoints, scopeOf } from './endpoints';
import { exchangeOf, sendJson } from './exchange';
import { PAGE_HEADERS } from './pageHeaders';

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Organization Wallet Management Service</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
</head>
<body>
<div id="page"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

const START = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#page', deepLinking: true, validatorUrl: null });
`;

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * The paths that need no key: the OpenAPI document and a page to read it, all served from here. The document names the one
 * of `origins` that it is asked at, or the first: a generated client needs a whole URL.
 */
export function docsRoutes({ origins }: Pick<Config, 'origins'>): { paths: string[]; router: Router } {
  const folder = dirname(require.resolve('swagger-ui-dist/package.json'));
  const files: { [path: string]: { type: string; bytes: Buffer } } = {
    '/docs': { type: 'text/html; charset=utf-8', bytes: Buffer.from(PAGE) },
    '/docs/start.js': { type: 'text/javascript; charset=utf-8', bytes: Buffer.from(START) },
  };
  for (const [name, type] of [
    ['swagger-ui.css', 'text/css; charset=utf-8'],
    ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
    ['favicon-32x32.png', 'image/png'],
  ] as const) {
    files[`/docs/${name}`] = { type, bytes: readFileSync(join(folder, name)) };
  }
  // Generated on the first request: it takes longer than the rest of the API's start.
  const documents = new Map<string | undefined, string>();
  const router = Router({ caseSensitive: true, strict: true });
  router.get('/openapi.json', (request, response) => {
    exchangeOf(response).route = '/openapi.json';
    const origin = origins.find((one) => new URL(one).host === request.headers.host) ?? origins[0];
    const document = documents.get(origin) ?? openApiText(endpoints, scopeOf, origin);
    documents.set(origin, document);
    sendJson(request, response, 200, document);
  });
  for (const [path, { type, bytes }] of Object.entries(files)) {
    const serve: RequestHandler = (request, response) => {
      exchangeOf(response).route = path;
      response.setHeader('Content-Type', type);
      response.setHeader('Content-Security-Policy', POLICY);
      for (const [name, value] of Object.entries(PAGE_HEADERS)) response.setHeader(name, value);
      response.setHeader('Content-Length', bytes.length);
      response.setHeader('Cache-Control', 'public, max-age=3600');
      response.end(request.method === 'HEAD' ? undefined : bytes);
    };
    router.get(path, serve);
  }
  return { paths: ['/openapi.json', ...Object.keys(files)], router };
}
