import { TemporaryRefusal } from './refusal';
import type { SignerContext } from './signerContext';

/** Throws TemporaryRefusal while an organization, or every one, is frozen: only cancellations are signed then. */
export function assertNotFrozen({ journal }: Pick<SignerContext, 'journal'>, organizationId: string): void {
  const freeze = journal.freezeOf(organizationId);
  if (!freeze) return;
  const { organizationId: of, since } = freeze;
  const ending = `./orgwallet unfreeze${of === null ? '' : ` --org ${of}`}`;
  throw new TemporaryRefusal(
    'frozen',
    `${of ?? 'every organization'} is frozen since ${since}: nothing is signed until an operator runs \`${ending}\` on the host of the signer`,
  );
}
