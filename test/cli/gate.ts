import { type RpcProxy, startRpcProxy } from '../support/rpcProxy';

/** A proxy of a chain's RPC that a test closes, so that only that network is unavailable. */
export interface Gate extends RpcProxy {
  shut(): void;
  open(): void;
}

/** Starts a gate that is open. */
export async function startGate(rpcUrl: string): Promise<Gate> {
  let isOpen = true;
  const proxy = await startRpcProxy(rpcUrl, async (_, pass) => (isOpen ? pass() : undefined));
  return {
    ...proxy,
    shut() {
      isOpen = false;
    },
    open() {
      isOpen = true;
    },
  };
}
