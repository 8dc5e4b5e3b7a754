import { operations, urlOf } from '../support/document';
import { worstBodies } from '../support/worstBodies';
import { measureAccepted } from './accepted';
import { HttpsConnection, requestBytes } from './connection';
import { type BenchOrganization, makeOrganization } from './organization';
import { type BenchStack, startBenchStack } from './stack';

/** A processor that does something else meanwhile is not what is measured: the shortest of so many times counts. */
const TIMES = 3;

/** What blocked the process for the longest, of the requests of one endpoint. */
interface Worst {
  readonly endpoint: string;
  readonly body: string;
  readonly ms: number;
  readonly answerBytes: number;
}

async function measureRequest(
  stack: BenchStack,
  connection: () => Promise<HttpsConnection>,
  bytes: () => Buffer,
): Promise<{ ms: number; answerBytes: number }> {
  let least = { ms: Number.POSITIVE_INFINITY, answerBytes: 0 };
  for (let time = 0; time < TIMES; time += 1) {
    const open = await connection();
    await stack.blockedMs();
    const { body } = await open.send(bytes());
    const ms = await stack.blockedMs();
    open.close();
    if (ms < least.ms) least = { ms, answerBytes: Buffer.byteLength(body) };
  }
  return least;
}

async function measureEndpoint(
  stack: BenchStack,
  { key }: BenchOrganization,
  operation: (typeof operations)[number],
): Promise<Worst> {
  const connection = () => HttpsConnection.open(stack.httpsPort, stack.ca);
  const path = urlOf(operation);
  const query = `${path.includes('?') ? '&' : '?'}${Array.from({ length: 2_500 }, (_, i) => `k${i}`).join('&')}`;
  const asks: readonly (() => { body: string; bytes: Buffer })[] =
    operation.method === 'get'
      ? [
          () => ({ body: 'as it is', bytes: requestBytes({ path, key }) }),
          () => ({ body: 'a long query', bytes: requestBytes({ path: path + query, key }) }),
        ]
      : worstBodies(operation).map(({ name, text }) => () => ({
          body: name,
          bytes: requestBytes({ path, key, text }),
        }));
  const measured: Worst[] = [];
  for (const ask of asks) {
    const figures = await measureRequest(stack, connection, () => ask().bytes);
    measured.push({ endpoint: operation.id, body: ask().body, ...figures });
  }
  return measured.reduce((worst, one) => (one.ms > worst.ms ? one : worst));
}

/** For how long one request blocks the service at most, per endpoint, as a table. */
export async function measureBlocking(say: (line: string) => void): Promise<string> {
  const stack = await startBenchStack(say, { preload: 'blockingProbe' });
  try {
    const organization = await makeOrganization(stack);
    const rows: string[] = [];
    for (const operation of operations) {
      say(`Measuring ${operation.id}`);
      const { endpoint, ms, answerBytes, body } = await measureEndpoint(stack, organization, operation);
      rows.push(
        `${endpoint.padEnd(26)} ${ms.toFixed(1).padStart(8)} ${String(answerBytes).padStart(12)}  ${body}`,
      );
    }
    const refused = `${'endpoint'.padEnd(26)} ${'ms'.padStart(8)} ${'answer bytes'.padStart(12)}  worst body\n${rows.join('\n')}\n`;
    return `${refused}\n${await measureAccepted(stack, organization, say)}`;
  } finally {
    await stack.stop();
  }
}
