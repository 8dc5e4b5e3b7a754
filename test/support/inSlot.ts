import { Context } from '@temporalio/activity';
import type { WithoutSlot } from '../../src/temporal/waitingActivities';

/** Runs an activity that waits where there is no Temporal that could be told its end later. */
export const inSlot: WithoutSlot = (run) => (input) => run(input, Context.current().cancellationSignal);
