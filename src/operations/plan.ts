import type { Db, Tx } from '../db/database';
import { readOrganizationState } from '../db/seals';
import { notAdmitted } from '../domain/admission';
import type { JsonValue } from '../domain/canonicalJson';
import { type Edit, findExcess, type OrganizationState } from '../domain/governance';
import type { ResourceType } from '../domain/proposal';
import { accept, type Result, refuse } from '../domain/refusal';
import { editedState, editsOf, wellKnownKeyRefused } from './change';
import type { ExternalReads, Plan, ProposalKind } from './kind';
import { refuseTakenName } from './takenNames';

/**
 * Refuses a request that gives an organization more resources of a kind than it may have, with the first item beyond;
 * undefined otherwise. Kinds that create resources create one for each of their items, in their order.
 */
function refuseExcess(
  state: OrganizationState,
  resourceType: ResourceType,
  edits: readonly Edit[],
): ReturnType<typeof refuse> | undefined {
  const excess = findExcess(state, edits);
  if (!excess) return undefined;
  return refuse(
    'conflict',
    excess.message,
    `${resourceType === 'policies' ? 'policies' : 'items'}[${excess.place}]`,
  );
}

/** An operation as it would be proposed, and the state that it was planned from. */
interface PlannedOperation extends Plan<JsonValue> {
  readonly summary: string;
  readonly state: OrganizationState;
  /** The state that it would make. */
  readonly after: OrganizationState;
}

/** What planning reads; `production`: well-known keys are refused. */
interface PlanReads extends ExternalReads {
  readonly db: Db | Tx;
  readonly production: boolean;
}

/**
 * Plans an operation from the body of a request, and tries its change on what the admins have decided. Refuses with
 * validationError or conflict.
 */
export async function planOperation(
  { db, production, networks, readToken }: PlanReads,
  organizationId: string,
  kind: ProposalKind,
  body: JsonValue,
): Promise<Result<PlannedOperation>> {
  const state = await readOrganizationState(db, organizationId);
  if (!state) return notAdmitted(organizationId);
  const observed = await kind.observe?.({ networks, readToken }, body);
  if (observed && !observed.ok) return observed;
  const planned = await kind.plan({ db, state, networks }, body, observed?.value);
  if (!planned.ok) return planned;
  const { data } = planned.value;
  const edits = editsOf(kind, state, data);
  if (!edits.ok) return edits;
  const refused =
    refuseExcess(state, kind.resourceType, edits.value) ??
    refuseTakenName(state, kind.resourceType, edits.value);
  if (refused) return refused;
  const changed = editedState(state, edits.value);
  if (!changed.ok) return changed;
  const wellKnown = wellKnownKeyRefused({ production }, changed.value);
  return (
    wellKnown ??
    accept({
      ...{ ...planned.value, summary: kind.summary({ state, networks }, data), state },
      after: changed.value.state,
    })
  );
}
