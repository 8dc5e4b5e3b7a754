import { connect, type NetConnectOpts } from 'node:net';
import { urlHost } from '../../config';
import { withTimeLimit } from '../../timeLimit';

const CONNECT_LIMIT_MS = 3_000;

/** Whether something accepts connections there, within 3 s. Never rejects. */
export async function accepts(target: NetConnectOpts): Promise<boolean> {
  const socket = connect(target);
  const connected = new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  });
  const isConnected = await withTimeLimit(connected, CONNECT_LIMIT_MS, () => false);
  socket.destroy();
  return isConnected;
}

/** Where something listens, as a message names it. */
export function targetText(target: NetConnectOpts): string {
  if ('path' in target) return target.path;
  return `${target.host ?? '127.0.0.1'}:${target.port}`;
}

/** Where something of this machine listens: on all interfaces without a host. */
export function listenerTarget(host: string | undefined, port: number): NetConnectOpts {
  return targetOfAddress(`${urlHost(host)}:${port}`);
}

/** Where `host:port` is, and `[::1]:port`. */
export function targetOfAddress(address: string): NetConnectOpts {
  const { hostname, port } = new URL(`tcp://${address}`);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) };
}
