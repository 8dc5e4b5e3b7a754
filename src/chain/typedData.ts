import { type Hex, hashTypedData, type TypedDataDefinition } from 'viem';

/**
 * The EIP-712 digest of typed data given as JSON text, as `eth_signTypedData_v4` takes it. Throws when the text is
 * not JSON or its values do not fit its types.
 */
export function hashTypedPayload(payload: string): Hex {
  return hashTypedData(JSON.parse(payload) as TypedDataDefinition);
}
