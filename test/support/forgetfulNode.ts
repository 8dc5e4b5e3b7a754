import { random } from './random';
import { REFUSALS } from './refusals';
import { type RpcProxy, startRpcProxy } from './rpcProxy';

interface Asked {
  readonly id: number;
  readonly method: string;
}

/** How often it loses the answer to a send, and how often it then denies what it has. */
const LOST_SENDS = 2;
const DENIALS = 6;

/** What it answers while it denies that it has a transaction; counts are those from before. */
const DENIED: { readonly [method: string]: (truth: unknown) => unknown } = {
  eth_getTransactionReceipt: () => null,
  eth_getTransactionByHash: () => null,
  eth_getLogs: () => [],
  eth_getTransactionCount: (truth) => `0x${(BigInt(String(truth)) - 1n).toString(16)}`,
};

/** A node that takes a transaction, and neither says so nor admits it. */
export interface ForgetfulNode extends RpcProxy {
  /** From now on, for a number of requests. */
  forget(): void;
}

/** Starts a node that passes everything on to a real one, until it forgets. */
export async function startForgetfulNode(realUrl: string): Promise<ForgetfulNode> {
  let left = { sends: 0, denials: 0 };

  /** What it says instead; undefined for the truth. */
  function lieAbout({ method }: Asked, { result }: { result?: unknown }): object | null | undefined {
    if (method === 'eth_sendRawTransaction' && left.sends > 0 && result !== undefined) {
      left = { ...left, sends: left.sends - 1 };
      // Without any answer, or with one of those that nodes and gateways give.
      const refusals = [null, ...REFUSALS];
      const refusal = refusals[random(refusals.length)] ?? null;
      return refusal && { error: refusal };
    }
    const deny = left.sends < LOST_SENDS && left.denials > 0 ? DENIED[method] : undefined;
    if (!deny || result === undefined) return undefined;
    left = { ...left, denials: left.denials - 1 };
    return { result: deny(result) };
  }

  const proxy = await startRpcProxy(realUrl, async (body, pass) => {
    const asked: Asked | Asked[] = JSON.parse(body);
    const text = await pass();
    const truths = [JSON.parse(text)].flat();
    const answers = [asked].flat().map((one) => {
      const truth = truths.find(({ id }) => id === one.id);
      const lie = truth && lieAbout(one, truth);
      return lie === undefined ? truth : lie && { jsonrpc: '2.0', id: one.id, ...lie };
    });
    if (answers.includes(null)) return undefined;
    return JSON.stringify(Array.isArray(asked) ? answers : answers[0]);
  });
  const forget = () => {
    left = { sends: LOST_SENDS, denials: DENIALS };
  };
  return Object.assign(proxy, { forget });
}
