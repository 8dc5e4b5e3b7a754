import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Listens and returns the port; on all interfaces without `host`. Throws an error that names the settings
 * (`<name>_HOST`, `<name>_PORT`) when the port is taken or the host is not of this machine.
 */
export async function listen(server: Server, name: string, port: number, host?: string): Promise<number> {
  server.listen({ port, host });
  try {
    await once(server, 'listening');
  } catch (error) {
    const settings = host === undefined ? `${name}_PORT` : `${name}_HOST, ${name}_PORT`;
    throw new Error(`${settings}: cannot listen: ${(error as Error).message}`, { cause: error });
  }
  return (server.address() as AddressInfo).port;
}
