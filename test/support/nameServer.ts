import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import ipaddr from 'ipaddr.js';

/** What a name server says of a name: its addresses, a code of an error (RFC 1035, section 4.1.1), or nothing at all. */
export type NameAnswer = readonly string[] | { readonly code: number } | 'silent';

/** A name server on a port of its own (UDP). */
interface NameServer {
  /** For the setting of a resolver. */
  readonly address: string;
  /** The queries that it was sent, as `name/type`. */
  readonly queries: string[];
  close(): void;
}

const TYPES: Readonly<Record<number, string>> = { 1: 'A', 28: 'AAAA' };
const NO_SUCH_NAME = 3;

function question(query: Buffer) {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('ascii', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return {
    name: labels.join('.').toLowerCase(),
    type: query.readUInt16BE(at + 1),
    bytes: query.subarray(12, at + 5),
  };
}

function record(address: string, type: number): Buffer {
  const data = Buffer.from(ipaddr.parse(address).toByteArray());
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0); // the name of the question
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

/** Starts a name server. `answer` is asked anew for each query: it may say something else each time. */
export async function startNameServer(
  answer: (name: string, type: 'A' | 'AAAA') => NameAnswer,
): Promise<NameServer> {
  const socket = createSocket('udp4');
  const queries: string[] = [];
  socket.on('message', (query: Buffer, from: RemoteInfo) => {
    const { name, type, bytes } = question(query);
    const kind = TYPES[type];
    queries.push(`${name}/${kind ?? type}`);
    const found = kind ? answer(name, kind as 'A' | 'AAAA') : { code: NO_SUCH_NAME };
    if (found === 'silent') return;
    const records = 'code' in found ? [] : found.map((address) => record(address, type));
    const head = Buffer.alloc(12);
    head.writeUInt16BE(query.readUInt16BE(0), 0);
    head.writeUInt16BE(0x8180 + ('code' in found ? found.code : 0), 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(records.length, 6);
    socket.send(Buffer.concat([head, bytes, ...records]), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { address: `127.0.0.1:${socket.address().port}`, queries, close: () => socket.close() };
}
