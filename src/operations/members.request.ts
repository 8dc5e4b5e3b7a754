import { findResource, type OrganizationState } from '../domain/governance';
import { refuse } from '../domain/refusal';
/** The claim on the new wallet of a member. */
export function walletSubject(walletAddress: string): string {
  return `wallet:${walletAddress.toLowerCase()}`;
}

/** Refuses the first id that belongs to no member of the organization; `fieldOf` gives its field. */
export function unknownMember(
  state: OrganizationState,
  ids: readonly string[],
  fieldOf: (index: number) => string,
) {
  const index = ids.findIndex((id) => !findResource(state, 'member', id));
  return index < 0
    ? undefined
    : refuse('validationError', `member ${ids[index]} not found in this organization`, fieldOf(index));
}
