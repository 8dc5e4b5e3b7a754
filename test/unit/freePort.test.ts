import { type AddressInfo, createServer, type Server } from 'node:net';
import { onFreePort } from '../../src/freePort';

let taken: Server;
const takenPort = () => (taken.address() as AddressInfo).port;

beforeAll(async () => {
  taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
});
afterAll(() => taken.close());

/** Listens as the metrics of the Temporal SDK do, which say so in their own words. */
function listen(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', () => reject(new Error('Address already in use (os error 98)')));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(port)));
  });
}

it('is another one when somebody takes it before it is used', async () => {
  const found = [takenPort(), takenPort(), 0];
  expect(await onFreePort(listen, async () => found.shift() ?? 0)).toBe(0);
  expect(found).toEqual([]);
  expect(await onFreePort(listen)).toBeGreaterThan(0);
});

it('is not looked for without end, nor after another error', async () => {
  let finds = 0;
  const find = async () => {
    finds += 1;
    return takenPort();
  };
  await expect(onFreePort(listen, find)).rejects.toThrow(/in use/);
  expect(finds).toBe(5);
  const refused = () => Promise.reject(new Error('not permitted'));
  await expect(onFreePort(refused, find)).rejects.toThrow('not permitted');
  expect(finds).toBe(6);
});
