import type { Payload } from '@temporalio/common';
import { z } from 'zod';
import { EncryptingCodec, type PayloadKeys } from '../temporal/payloadCodec';

/** The longest body that the Temporal UI sends, in bytes: the payloads of a page of history. */
export const MAX_CODEC_BYTES = 8 * 1024 * 1024;

const EMPTY = new Uint8Array();
const base64 = z.base64().transform((text) => new Uint8Array(Buffer.from(text, 'base64')));
const payloadsBody = z.object({
  payloads: z.array(
    z.object({ metadata: z.record(z.string(), base64).default({}), data: base64.default(EMPTY) }),
  ),
});

const toBase64 = (data: Uint8Array) => Buffer.from(data).toString('base64');

function toJson(payloads: readonly Payload[]): object {
  return {
    payloads: payloads.map(({ metadata, data }) => ({
      metadata: Object.fromEntries(
        Object.entries(metadata ?? {}).map(([name, value]) => [name, toBase64(value)]),
      ),
      data: toBase64(data ?? EMPTY),
    })),
  };
}

/**
 * What the Temporal UI asks to show encrypted payloads (a remote codec): from and to `{"payloads": [{"metadata", "data"}]}` with
 * values in base64. Throws Error for another body, an unknown key or changed bytes.
 */
export function createDecoder(keys: PayloadKeys): (body: string) => Promise<object> {
  const codec = new EncryptingCodec(keys);
  return async (body) => {
    const { payloads } = payloadsBody.parse(JSON.parse(body));
    return toJson(await codec.decode(payloads));
  };
}
