import { canonicalJson } from '../domain/canonicalJson';
import { adminsOf, checkState, type OrganizationState } from '../domain/governance';
import type { Result } from '../domain/refusal';
import { quotedName, summaryLines, summaryText } from '../domain/summary';
import { walletText } from '../domain/wallet';
import { adminsSafeText, refuseOwnWallet } from './adminsSafe';

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

/** Refuses with conflict a state that no organization may begin with. */
export function checkFounded(state: OrganizationState): Result<null> {
  const checked = checkState(state);
  return checked.ok ? (refuseOwnWallet(state) ?? checked) : checked;
}

function summaryOf(state: OrganizationState): string {
  const { threshold, members } = adminsOf(state);
  const others = Object.keys(state.members).length - members.length;
  return summaryText(
    [
      `Found ${quotedName(state.name)}: ${threshold} of ${members.length} admins decide, other members: ${others}`,
      ...(state.admins.onChain ? [adminsSafeText(state, threshold)] : []),
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
