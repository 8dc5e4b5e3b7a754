import { type Hex, hashTypedData, type TypedDataDefinition } from 'viem';
import { setNewest } from '../setNewest';

/** Digests by payload, the oldest first: each signature is verified several times over the same payload. */
const digests = new Map<string, Hex>();
const MAX_DIGESTS = 100;
/** In characters; a longer payload is hashed each time. */
const MAX_CACHED_LENGTH = 16_384;

/**
 * The EIP-712 digest of typed data given as JSON text, as `eth_signTypedData_v4` takes it. Throws when the text is
 * not JSON or its values do not fit its types. The last 100 digests are cached.
 */
export function hashTypedPayload(payload: string): Hex {
  const known = digests.get(payload);
  if (known) return known;
  const digest = hashTypedData(JSON.parse(payload) as TypedDataDefinition);
  if (payload.length <= MAX_CACHED_LENGTH) setNewest(digests, payload, digest, MAX_DIGESTS);
  return digest;
}
