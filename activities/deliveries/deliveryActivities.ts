import type { Db } from '../../src/db/database';
import { type DeliverInput, type DeliveryDeps, deliver } from '../../src/delivery/deliver';
import { setPaused } from '../../src/delivery/operatorPause';
import type { DeliveryState } from '../../src/domain/delivery';
import type { WithoutSlot } from '../../src/temporal/waitingActivities';

/** The activity that sends. It waits for receivers without a slot of its worker. */
export function createDeliveryActivities(deps: DeliveryDeps & { readonly withoutSlot: WithoutSlot }) {
  const { withoutSlot, ...sending } = deps;
  return {
    deliver: withoutSlot(
      (input: DeliverInput, signal): Promise<DeliveryState> => deliver(sending, input, signal),
    ),
  };
}

/** The activity that sends, as its workflow sees it. */
export type DeliveryActivities = ReturnType<typeof createDeliveryActivities>;

/** The activities of a destination's workflow that only write in the database. */
export function createDeliveryRecords({ db }: { readonly db: Db }) {
  return {
    /** Pauses or resumes a destination, as an operator. */
    async setDeliveryPaused({
      id,
      isPaused,
    }: {
      readonly id: string;
      readonly isPaused: boolean;
    }): Promise<void> {
      await setPaused(db, id, isPaused);
    },
  };
}

/** The activities of a destination's workflow that only write in the database. */
export type DeliveryRecords = ReturnType<typeof createDeliveryRecords>;
