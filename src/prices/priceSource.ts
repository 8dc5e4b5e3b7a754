import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/** Prices cannot be read now. The message says why, without the address, which may have a key. */
export class PricesUnavailable extends Error {
  override readonly name = 'PricesUnavailable';
}

/** Longest text that is read, in bytes. */
const MAX_BYTES = 1_048_576;
/** How long an address may take for its whole answer, in milliseconds. */
const TIME_LIMIT_MS = 3_000;

const TOO_LONG = `is longer than ${MAX_BYTES} bytes`;

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new PricesUnavailable('is not UTF-8');
  }
}

/** Reads a file whole. Throws PricesUnavailable. */
export async function readPricesFile(file: string): Promise<string> {
  try {
    // A pipe or a device may have no end.
    const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) throw new PricesUnavailable('is not a file');
      const buffer = Buffer.alloc(MAX_BYTES + 1);
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
      if (bytesRead > MAX_BYTES) throw new PricesUnavailable(TOO_LONG);
      return textOf(buffer.subarray(0, bytesRead));
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof PricesUnavailable) throw error;
    throw new PricesUnavailable(`cannot be read (${(error as NodeJS.ErrnoException).code ?? 'failed'})`);
  }
}

async function bodyOf(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new PricesUnavailable(TOO_LONG);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Why a request has failed, without its address. */
function failureText({ name, cause }: Error): string {
  if (name === 'TimeoutError') return `did not answer within ${TIME_LIMIT_MS / 1_000} s`;
  const { code = name } = (cause ?? {}) as NodeJS.ErrnoException;
  return `does not answer (${code})`;
}

/** Asks an address once, and follows no redirect. Throws PricesUnavailable. */
export async function readPricesUrl(url: string): Promise<string> {
  const signal = AbortSignal.timeout(TIME_LIMIT_MS);
  const headers = { accept: 'application/json' };
  try {
    const response = await fetch(url, { redirect: 'manual', signal, headers });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new PricesUnavailable(`answers with status ${response.status}`);
    }
    return textOf(await bodyOf(response));
  } catch (error) {
    if (error instanceof PricesUnavailable) throw error;
    throw new PricesUnavailable(failureText(error as Error));
  }
}
