// A ledger of payments that is kept from the feed of events, and the proof that it missed nothing:
//   npm run example -- ledger <file> <seconds>
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { FeedEvent } from '@orgwallet/client';
import { orgwallet } from './demo.mjs';

const [file = 'ledger.jsonl', seconds = '10'] = process.argv.slice(2);
const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
const events: FeedEvent[] = text
  .split('\n')
  .filter(Boolean)
  .map((line) => JSON.parse(line).event);
const signal = AbortSignal.timeout(Number(seconds) * 1_000);

try {
  for await (const event of orgwallet.events({ after: events.at(-1)?.cursor, signal })) {
    const isPayment = event.type === 'transaction.executed';
    const { summary, result } = isPayment ? await orgwallet.getTransaction(event.resource.id) : {};
    const payment = { summary, transactionHash: result?.transactionHash, fee: result?.fee };
    // The entry is stored with the place in the feed, as one line: a program that is killed goes on where it was.
    appendFileSync(file, `${JSON.stringify({ event, ...(isPayment ? { payment } : {}) })}\n`);
    events.push(event);
    if (isPayment) console.log(`${event.position}: ${summary}`);
  }
} catch (error) {
  if (!signal.aborted) throw error;
}

// Each event names the hash of the one before it: none is missing, and none was changed.
for (const [n, { position, previousHash }] of events.entries()) {
  const before = events[n - 1]?.hash ?? '0'.repeat(64);
  if (position !== String(n + 1) || previousHash !== before)
    throw new Error(`event ${n + 1} is missing or changed`);
}
// The service refuses a cursor that its log does not have: up to there both are the same.
const later = await orgwallet.listEvents({ after: events.at(-1)?.cursor ?? '0' });
console.log(`${events.length} events, none missed; ${later.length} since`);
