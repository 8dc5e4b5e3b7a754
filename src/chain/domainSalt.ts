import type { Hex } from 'viem';
import { textHash } from './keccak';

/**
 * The EIP-712 domain salt of an organization's operations: keccak256 of the UTF-8 text
 * `<installation id>/<organization id>`. A copy of an installation with another id shares no signatures with it.
 */
export function operationDomainSalt(installationId: string, organizationId: string): Hex {
  return textHash(`${installationId}/${organizationId}`);
}
