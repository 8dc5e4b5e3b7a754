import type { DeliveryOutcome } from '../domain/delivery';
import { visible } from '../domain/quoted';
import { plainBeginning } from '../domain/summary';

/** Longest message of a fault, in bytes: it gets into the history of a workflow. */
const MAX_MESSAGE_BYTES = 300;

interface Answer {
  readonly status: number;
  readonly answer: string;
  readonly retryAfterMs?: number | undefined;
}

/** What became of something that was sent: an answer, or why there was none. */
type Sent = { readonly durationMs: number } & (Answer | { readonly fault: string; readonly message: string });

/** What a kind of receiver means by an answer, beside that 2xx takes it. */
type Meaning = Partial<Pick<DeliveryOutcome, 'isGone' | 'isRefused' | 'retryAfterMs'>>;

/** What became of an attempt. A 2xx is taken, whatever its body is. */
export function deliveryOutcomeOf(sent: Sent, meaningOf: (answer: Answer) => Meaning): DeliveryOutcome {
  const { durationMs } = sent;
  if ('fault' in sent) {
    const { fault } = sent;
    const message = plainBeginning(visible(sent.message), MAX_MESSAGE_BYTES);
    return { isTaken: false, isGone: false, status: null, answer: null, fault, message, durationMs };
  }
  const { status, answer, retryAfterMs } = sent;
  return {
    ...{ isTaken: status >= 200 && status < 300, isGone: false },
    ...{ status, answer, durationMs, retryAfterMs, fault: null, message: null },
    ...meaningOf({ status, answer, retryAfterMs }),
  };
}
