import { type DeliverInput, type DeliveryDeps, deliver } from '../../src/delivery/deliver';
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
