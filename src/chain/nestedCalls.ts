import {
  type NestedCall,
  type NestedCalls,
  readContent,
  type TransactionCall,
} from '../domain/transactionContent';
import { checksumAddress } from './address';
import { restrictedEncodingFault } from './decode';
import { functionMentions } from './functionMentions';
import { readNestedCalls } from './nestingFunctions';

/** How deeply calls that carry calls are read: each level reads all bytes below it once more. */
const MAX_DEPTH = 4;
/** How many calls are read in all: every policy is evaluated for each of them. */
const MAX_CALLS = 256;

/** How many more calls are read. */
type Counted = { left: number };

const bytesOf = ({ data }: TransactionCall) => Buffer.from(data.slice(2), 'hex');

/** What of the outer mentions is not one of the inner ones, each as often as it is mentioned. */
function firstUnmatched(outer: readonly string[], inner: readonly string[]): string | null {
  const left = new Map<string, number>();
  for (const signature of inner) left.set(signature, (left.get(signature) ?? 0) + 1);
  for (const signature of outer) {
    const count = left.get(signature) ?? 0;
    if (count === 0) return signature;
    left.set(signature, count - 1);
  }
  return null;
}

function readCalls(call: TransactionCall, depth: number, count: Counted): readonly NestedCall[] | null {
  const read = depth <= MAX_DEPTH ? readNestedCalls(call) : null;
  if (read === null) return null;
  count.left -= read.length;
  if (count.left < 0) return null;
  const calls: NestedCall[] = [];
  for (const one of read) {
    const content = readContent(one, checksumAddress);
    if (!content.ok) return null;
    const encodingFault = restrictedEncodingFault(one.data);
    calls.push({ call: one, content: content.value, encodingFault, nested: readAll(one, depth + 1, count) });
  }
  return count.left < 0 ? null : calls;
}

function readAll(call: TransactionCall, depth: number, count: Counted): NestedCalls {
  const calls = readCalls(call, depth, count);
  // Its own selector does not count, bytes that overlap with it do.
  const mentioned = functionMentions(bytesOf(call).subarray(1));
  const nested = (calls ?? []).flatMap((one) => functionMentions(bytesOf(one.call)));
  return { calls, mentions: firstUnmatched(mentioned, nested) };
}

/**
 * What a call carries: the calls of a function that makes others, each with those that it carries itself, and what its bytes
 * mention elsewhere. The calls are null where they cannot be read: the function is another one, the encoding is not canonical, a
 * call has invalid content or is a delegatecall, there are more than four levels, or more than 256 calls.
 */
export function nestedCallsOf(call: TransactionCall): NestedCalls {
  return readAll(call, 1, { left: MAX_CALLS });
}
