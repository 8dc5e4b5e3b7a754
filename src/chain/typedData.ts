import { type Hex, hashTypedData, type TypedDataDefinition } from 'viem';

/** Digests that were computed lately, the latest last: a signature is verified several times over the same payload. */
const digests = new Map<string, Hex>();
const KEPT = 100;
/** A longer payload is not kept, in characters. */
const LONGEST_KEPT = 16_384;

function keep(payload: string, digest: Hex): void {
  if (payload.length > LONGEST_KEPT) return;
  const [oldest] = digests.keys();
  if (digests.size >= KEPT && oldest !== undefined) digests.delete(oldest);
  digests.set(payload, digest);
}

/**
 * The EIP-712 digest of typed data given as JSON text, as `eth_signTypedData_v4` takes it. Throws when the text is
 * not JSON or its values do not fit its types.
 */
export function hashTypedPayload(payload: string): Hex {
  const known = digests.get(payload);
  if (known) return known;
  const digest = hashTypedData(JSON.parse(payload) as TypedDataDefinition);
  keep(payload, digest);
  return digest;
}
