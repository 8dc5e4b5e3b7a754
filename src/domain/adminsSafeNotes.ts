import { type AdminsSafeStatus, adminsSequence, wantedOwners } from './adminsSafe';
import { adminsOf, type OrganizationState } from './governance';

/** A note about the admins' Safe, as it is on a proposal before anybody signs. */
interface AdminsSafeNote {
  readonly code: 'adminsSafeImpossible' | 'adminsSafeNotCurrent';
  readonly message: string;
}

const networksOf = ({ accounts }: OrganizationState) =>
  new Set(Object.values(accounts).flatMap(({ networkIds }) => networkIds));

/** The networks of accounts on which nobody could own the admins' Safe after a change, and could before or had no account. */
function impossibleNotes(
  before: OrganizationState,
  after: OrganizationState,
  signerNetworkId: number | undefined,
): readonly AdminsSafeNote[] {
  const reasonOn = (state: OrganizationState, id: number) => {
    if (!state.admins.onChain || !networksOf(state).has(id)) return undefined;
    const wanted = wantedOwners(adminsOf(state), { id, signerNetworkId });
    return wanted.kind === 'impossible' ? wanted.reason : undefined;
  };
  return [...networksOf(after)].sort().flatMap((id) => {
    const reason = reasonOn(after, id);
    if (reason === undefined || reason === reasonOn(before, id)) return [];
    return {
      code: 'adminsSafeImpossible' as const,
      message: `nobody could take accounts over on network ${id}: ${reason}`,
    };
  });
}

/**
 * What is to be known before a change is signed: where the admins could not own their Safe after it, and for a change of the admins
 * where their Safe is not what they have decided. Pure.
 */
export function adminsSafeNotes(
  before: OrganizationState,
  after: OrganizationState,
  {
    signerNetworkId,
    safes,
  }: {
    readonly signerNetworkId: number | undefined;
    readonly safes: readonly {
      readonly networkId: number;
      readonly status: AdminsSafeStatus;
      readonly reason: string | null;
    }[];
  },
): readonly AdminsSafeNote[] {
  const isAboutAdmins = adminsSequence(before) !== adminsSequence(after);
  const lacking =
    isAboutAdmins && after.admins.onChain ? safes.filter(({ status }) => !isAsDecided(status)) : [];
  return [
    ...impossibleNotes(before, after, signerNetworkId),
    ...lacking.map(({ networkId, status, reason }) => ({
      code: 'adminsSafeNotCurrent' as const,
      message: `the admins' Safe on network ${networkId} is ${status}${reason === null ? '' : `: ${reason}`}`,
    })),
  ];
}

/** Nothing is wrong where there is no account yet, or nobody could own it. */
const isAsDecided = (status: AdminsSafeStatus) => ['current', 'missing', 'impossible'].includes(status);
