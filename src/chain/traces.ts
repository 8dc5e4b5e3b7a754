import { type Address, type Hex, isHex } from 'viem';
import { isSameAddress } from '../domain/address';
import type { ChainClient } from './clients';
import type { InnerCall } from './simulation';

/** A call inside a transaction, as `callTracer` reports it. Source: geth, "Built-in tracers". */
interface TracedCall {
  readonly type?: string;
  readonly from?: Address;
  readonly to?: Address;
  readonly value?: Hex;
  readonly input?: Hex;
  readonly output?: Hex;
  readonly error?: string;
  readonly calls?: readonly TracedCall[];
}

function isFailed(call: TracedCall, wanted: InnerCall): boolean {
  return (
    call.type === 'CALL' &&
    call.error !== undefined &&
    isSameAddress(call.from ?? '', wanted.account) &&
    isSameAddress(call.to ?? '', wanted.to) &&
    BigInt(call.value ?? '0x0') === wanted.value &&
    (call.input ?? '0x') === wanted.data.toLowerCase()
  );
}

function find(call: TracedCall, wanted: InnerCall): TracedCall | undefined {
  if (isFailed(call, wanted)) return call;
  for (const inner of call.calls ?? []) {
    const found = find(inner, wanted);
    if (found) return found;
  }
  return undefined;
}

/**
 * What an account's call that failed inside a transaction returned, exactly as it happened. Undefined when the node
 * does not support tracing, as many do not.
 */
export async function tracedRevert(
  { rpc }: ChainClient,
  transactionHash: Hex,
  call: InnerCall,
): Promise<Hex | undefined> {
  try {
    const request = rpc.request as (request: { method: string; params: unknown[] }) => Promise<unknown>;
    const trace = (await request({
      method: 'debug_traceTransaction',
      params: [transactionHash, { tracer: 'callTracer' }],
    })) as TracedCall;
    const failed = find(trace, call);
    if (!failed) return undefined;
    const output = failed.output ?? '0x';
    return isHex(output) ? output : undefined;
  } catch {
    return undefined;
  }
}
