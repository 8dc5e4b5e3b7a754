import { Agent, request } from 'node:http';

const ANSWER_LIMIT_MS = 10_000;
const agent = new Agent({ keepAlive: true });
let nextId = 1;

/** The response body of a node. Not fetch, which is slower for many calls to a local chain. */
function post(url: string, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request(
      url,
      {
        agent,
        method: 'POST',
        headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
        signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
      },
    );
    asked.on('error', reject);
    asked.end(body);
  });
}

/** One JSON-RPC call to a chain. Throws when the node cannot be reached or answers with an error. */
export async function rpc<T>(url: string, method: string, params: readonly unknown[] = []): Promise<T> {
  const text = await post(url, JSON.stringify({ jsonrpc: '2.0', id: nextId++, method, params }));
  const answer: { result?: T; error?: { message: string } } = JSON.parse(text);
  if (answer.error) throw new Error(`${method} at ${url}: ${answer.error.message}`);
  return answer.result as T;
}
