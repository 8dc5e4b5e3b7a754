import { type Hex, hashTypedData, type TypedDataDefinition } from 'viem';

/** Digests by payload, the oldest first: each signature is verified several times over the same payload. */
const digests = new Map<string, Hex>();
const MAX_DIGESTS = 100;
/** In characters; a longer payload is hashed each time. */
const MAX_CACHED_LENGTH = 16_384;

function cache(payload: string, digest: Hex): void {
  if (payload.length > MAX_CACHED_LENGTH) return;
  const [oldest] = digests.keys();
  if (digests.size >= MAX_DIGESTS && oldest !== undefined) digests.delete(oldest);
  digests.set(payload, digest);
}

/**
 * The EIP-712 digest of typed data given as JSON text, as `eth_signTypedData_v4` takes it. Throws when the text is
 * not JSON or its values do not fit its types. The last 100 digests are cached.
 */
export function hashTypedPayload(payload: string): Hex {
  const known = digests.get(payload);
  if (known) return known;
  const digest = hashTypedData(JSON.parse(payload) as TypedDataDefinition);
  cache(payload, digest);
  return digest;
}
