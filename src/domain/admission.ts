import { refuse } from './refusal';

/** Why an organization can change nothing yet. */
export function notAdmitted(organizationId: string) {
  return refuse(
    'conflict',
    `the genesis of organization ${organizationId} is not admitted yet: every admin signs it, then the signer admits it`,
  );
}
