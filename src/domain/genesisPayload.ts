import { canonicalJson } from './canonicalJson';
import { adminsOf, type OrganizationState } from './governance';
import { refuse } from './refusal';
import { quotedName, summaryLines, summaryText } from './summary';
import { walletText } from './wallet';

const DOMAIN_TYPE = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'salt', type: 'bytes32' },
] as const;

const GENESIS_TYPE = [
  { name: 'organization', type: 'string' },
  { name: 'summary', type: 'string[]' },
  { name: 'signingKey', type: 'address' },
  { name: 'sealKey', type: 'address' },
  { name: 'state', type: 'string' },
] as const;

function summaryOf(state: OrganizationState): string {
  const { threshold, members } = adminsOf(state);
  const others = Object.keys(state.members).length - members.length;
  return summaryText(
    [
      `Found ${quotedName(state.name)}: ${threshold} of ${members.length} admins decide, other members: ${others}`,
    ],
    members.map((member) => [`Admin ${quotedName(member.name)} (${walletText(member)})`]),
    'state',
  );
}

/**
 * The payload that every admin of a new organization signs: EIP-712 typed data as canonical JSON text. It shows the whole
 * state that the organization begins with, as canonical JSON (RFC 8785), and the addresses of its two keys.
 */
export function genesisPayload(state: OrganizationState): string {
  return canonicalJson({
    types: { EIP712Domain: DOMAIN_TYPE, FoundOrganization: GENESIS_TYPE },
    primaryType: 'FoundOrganization',
    domain: { name: 'orgwallet', version: '1', salt: state.domainSalt },
    message: {
      organization: state.id,
      summary: summaryLines(summaryOf(state)),
      signingKey: state.signingKey,
      sealKey: state.sealKey,
      state: canonicalJson(state),
    },
  });
}

/** Why an organization can change nothing yet. */
export function notAdmitted(organizationId: string) {
  return refuse(
    'conflict',
    `the genesis of organization ${organizationId} is not admitted yet: every admin signs it, then the signer admits it`,
  );
}
