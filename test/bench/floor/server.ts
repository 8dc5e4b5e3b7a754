import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import express from 'express';
import { floorPool } from './database';

/**
 * The least that answers a GET, with Express over TLS: `/documents/:id` reads one row by its key with a prepared
 * statement, `/document` has the answer in memory. `node server.js <port> <cert> <key> <database> <document>`.
 */
function main([port, certFile = '', keyFile = '', databaseUrl = '', documentFile = '']: string[]): void {
  const document = JSON.parse(readFileSync(documentFile, 'utf8'));
  const pool = floorPool(databaseUrl);
  const app = express();
  // Without what costs time and is not needed, so that it is harder to come near.
  app.disable('x-powered-by');
  app.disable('etag');
  app.get('/document', (_request, response) => {
    response.json(document);
  });
  app.get('/documents/:id', async (request, response) => {
    const text = 'SELECT body FROM documents WHERE id = $1';
    const { rows } = await pool.query({ name: 'document', text, values: [request.params.id] });
    response.json(rows[0].body);
  });
  createServer(
    { cert: readFileSync(certFile), key: readFileSync(keyFile), minVersion: 'TLSv1.2' },
    app,
  ).listen(Number(port), '127.0.0.1');
}

main(process.argv.slice(2));
