import { type Hex, hashTypedData, type TypedDataDefinition } from 'viem';

/** The digest that is signed for a payload: EIP-712 typed data as JSON text. Throws when it is none. */
export function hashTypedPayload(payload: string): Hex {
  return hashTypedData(JSON.parse(payload) as TypedDataDefinition);
}
