import type { IncomingMessage } from 'node:http';
import getRawBody from 'raw-body';
import type { JsonValue } from '../domain/canonicalJson';
import { JsonError, parseJson } from './json';
import { badRequest, Refused } from './refusals';

/** The largest body of a request that is authenticated before it is read, in bytes. */
const MAX_BODY_BYTES = 1_048_576;

const JSON_TYPE = /^application\/json(?:[ \t]*;[ \t]*charset=(?:"utf-8"|utf-8))?[ \t]*;?[ \t]*$/i;

function tooLarge(maxBytes: number): Refused {
  return new Refused(
    { code: 'validationError', message: `body is larger than ${maxBytes} bytes`, field: 'body' },
    // The rest of the body is not read.
    { headers: { Connection: 'close' } },
  );
}

async function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  try {
    return await getRawBody(request, {
      length: request.headers['content-length'] ?? null,
      limit: maxBytes,
    });
  } catch (error) {
    if ((error as getRawBody.RawBodyError).type === 'entity.too.large') throw tooLarge(maxBytes);
    throw badRequest([{ field: 'body', message: 'was not received completely' }]);
  }
}

/** Reads the JSON body of a request. Refuses with validationError what is not JSON in UTF-8 of at most `maxBytes`, 1 MiB. */
export async function readJsonBody(
  request: IncomingMessage,
  maxBytes: number = MAX_BODY_BYTES,
): Promise<JsonValue> {
  const bytes = await readBytes(request, maxBytes);
  if (bytes.length === 0) throw badRequest([{ field: 'body', message: 'is required' }]);
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw badRequest([
      { field: 'Content-Encoding', message: 'is not supported: send the body uncompressed' },
    ]);
  }
  if (!JSON_TYPE.test(request.headers['content-type'] ?? '')) {
    throw badRequest([{ field: 'Content-Type', message: 'must be application/json, in UTF-8' }]);
  }
  try {
    return parseJson(bytes);
  } catch (error) {
    if (error instanceof JsonError) throw badRequest(error.issues);
    throw error;
  }
}
