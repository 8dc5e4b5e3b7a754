import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { listen } from '../../src/listen';

const server = () => createServer((_, response) => response.end());

/** Whether a connection to a host is accepted. */
async function reaches(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

test('a server listens on all interfaces unless it has a host', async () => {
  const everywhere = server();
  const here = server();
  try {
    const port = await listen(everywhere, 'HTTPS', 0);
    expect([await reaches('127.0.0.1', port), await reaches('127.0.0.2', port)]).toEqual([true, true]);
    const other = await listen(here, 'HTTPS', 0, '127.0.0.1');
    expect([await reaches('127.0.0.1', other), await reaches('127.0.0.2', other)]).toEqual([true, false]);
  } finally {
    everywhere.close();
    here.close();
  }
});

test('a port that is taken, or a host of another machine, is reported with its settings', async () => {
  const first = server();
  try {
    const port = await listen(first, 'HTTP', 0);
    await expect(listen(server(), 'HTTP', port)).rejects.toThrow(
      /^HTTP_PORT: cannot listen: listen EADDRINUSE.*:\d+$/,
    );
    await expect(listen(server(), 'OPS', port, '192.0.2.1')).rejects.toThrow(
      /^OPS_HOST, OPS_PORT: cannot listen: listen EADDRNOTAVAIL.*192\.0\.2\.1/,
    );
  } finally {
    first.close();
  }
});
