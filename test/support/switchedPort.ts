import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A port of this machine that leads to another one: the name of a primary, or a load balancer. */
export interface SwitchedPort {
  readonly port: number;
  /** New connections lead there; those that are open stay where they are. */
  lead(port: number): void;
  /** Ends the connections that are open. */
  cut(): void;
  close(): void;
}

/** Opens one that leads to a port at first. */
export async function openSwitchedPort(first: number): Promise<SwitchedPort> {
  let leadsTo = first;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const behind = connect(leadsTo, '127.0.0.1');
    for (const socket of [client, behind]) sockets.add(socket.on('error', () => undefined));
    client.on('close', () => behind.destroy()).pipe(behind);
    behind.on('close', () => client.destroy()).pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  return {
    port: (server.address() as AddressInfo).port,
    lead(port) {
      leadsTo = port;
    },
    cut,
    close() {
      server.close();
      cut();
    },
  };
}
