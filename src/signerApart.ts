/** Why a process must not have the signer and another role in production. */
export const SIGNER_APART =
  'the signer must be a process of its own in production (here "api,worker,chain"; "signer" where the keystore is)';

/** True for roles of one process that are the signer and more. */
export function sharesSigner(roles: readonly string[]): boolean {
  return roles.includes('signer') && roles.some((role) => role !== 'signer');
}

/** True for the roles of one process that are the signer alone. */
export function isSignerAlone(roles: readonly string[]): boolean {
  return roles.length > 0 && roles.every((role) => role === 'signer');
}
