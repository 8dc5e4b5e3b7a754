import { TemporalUnavailable } from '../temporal/client';
import { unavailable } from './refusals';

/** Sends a message to a workflow; an unavailable one is a 500 that can be repeated. */
export async function deliver<Answer>(send: () => Promise<Answer>): Promise<Answer> {
  try {
    return await send();
  } catch (error) {
    if (error instanceof TemporalUnavailable) {
      throw unavailable('the workflow service is unavailable; send the same request again', error);
    }
    throw error;
  }
}
