import { type Hex, hashTypedData, keccak256, stringToBytes, type TypedDataDefinition } from 'viem';

/**
 * The EIP-712 digest of typed data given as JSON text, as `eth_signTypedData_v4` takes it. Throws when the text is
 * no JSON or its values do not fit its types.
 */
export function hashTypedPayload(payload: string): Hex {
  return hashTypedData(JSON.parse(payload) as TypedDataDefinition);
}

/**
 * The EIP-712 domain salt of an organization's operations: keccak256 over `<deployment id>/<organization id>`. A
 * restored copy of a deployment has an id of its own and so shares no signatures.
 */
export function operationDomainSalt(deploymentId: string, organizationId: string): Hex {
  return keccak256(stringToBytes(`${deploymentId}/${organizationId}`));
}
