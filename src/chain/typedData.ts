import { createHash } from 'node:crypto';
import { type Hex, hashTypedData, type TypedDataDefinition } from 'viem';
import { setNewest } from '../setNewest';

/**
 * Digests by the SHA-256 of their payload, the oldest first: each signature is verified several times over the same payload,
 * and SHA-256 of it takes a hundredth of the time.
 */
const digests = new Map<string, Hex>();
const MAX_DIGESTS = 1_000;

/**
 * The EIP-712 digest of typed data given as JSON text, as `eth_signTypedData_v4` takes it. Throws when the text is
 * not JSON or its values do not fit its types. The last 1,000 digests are cached.
 */
export function hashTypedPayload(payload: string): Hex {
  // UTF-16: two texts never have the same bytes.
  const key = createHash('sha256').update(payload, 'utf16le').digest('base64');
  const known = digests.get(key);
  if (known) return known;
  const digest = hashTypedData(JSON.parse(payload) as TypedDataDefinition);
  setNewest(digests, key, digest, MAX_DIGESTS);
  return digest;
}
