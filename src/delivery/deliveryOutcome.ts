import { type DeliveryOutcome, isTaking } from '../domain/delivery';
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

/** What a kind of receiver means by an answer, beside that it takes what was sent. */
type Meaning = Partial<Pick<DeliveryOutcome, 'isGone' | 'isRefused' | 'retryAfterMs'>>;

/** What became of an attempt. */
export function deliveryOutcomeOf(sent: Sent, meaningOf: (answer: Answer) => Meaning): DeliveryOutcome {
  const { durationMs } = sent;
  if ('fault' in sent) {
    const { fault } = sent;
    const message = plainBeginning(visible(sent.message), MAX_MESSAGE_BYTES);
    return { isTaken: false, isGone: false, status: null, answer: null, fault, message, durationMs };
  }
  const { status, answer, retryAfterMs } = sent;
  return {
    ...{ isTaken: isTaking(status), isGone: false },
    ...{ status, answer, durationMs, retryAfterMs, fault: null, message: null },
    ...meaningOf({ status, answer, retryAfterMs }),
  };
}
