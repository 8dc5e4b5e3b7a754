import { type AddressInfo, createServer } from 'node:net';

const MOST_TRIES = 5;

/** A port of this machine that nobody uses now. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Uses a free port; another one where somebody else takes it before `use` does, which then throws that it is in use. */
export async function onFreePort<T>(use: (port: number) => T | Promise<T>, find = freePort): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await use(await find());
    } catch (error) {
      if (tries === MOST_TRIES || !/in use/i.test(String(error))) throw error;
    }
  }
}
