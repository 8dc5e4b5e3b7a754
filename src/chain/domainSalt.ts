import { type Hex, keccak256, stringToBytes } from 'viem';

/**
 * The EIP-712 domain salt of an organization's operations: keccak256 of the UTF-8 text
 * `<deployment id>/<organization id>`. A copy of a deployment with another id shares no signatures with it.
 */
export function operationDomainSalt(deploymentId: string, organizationId: string): Hex {
  return keccak256(stringToBytes(`${deploymentId}/${organizationId}`));
}
