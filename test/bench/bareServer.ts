import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import express from 'express';

/** Serves one JSON document with Express and nothing else: `node bareServer.js <port> <cert> <key> <document>`. */
function main([port, certFile = '', keyFile = '', documentFile = '']: string[]): void {
  const document = JSON.parse(readFileSync(documentFile, 'utf8'));
  const app = express();
  // Without what costs time and is not needed, so that it is harder to come near.
  app.disable('x-powered-by');
  app.disable('etag');
  app.get('/document', (_request, response) => {
    response.json(document);
  });
  createServer(
    { cert: readFileSync(certFile), key: readFileSync(keyFile), minVersion: 'TLSv1.2' },
    app,
  ).listen(Number(port), '127.0.0.1');
}

main(process.argv.slice(2));
