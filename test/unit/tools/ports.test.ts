import { execFileSync } from 'node:child_process';
import { freePorts } from '../../../tools/dev/ports';

/** Reserves a UDP port as another process would, and prints whether it could. */
const RESERVE = `
const socket = require('node:dgram').createSocket('udp4');
const done = (line) => { console.log(line); socket.close(); };
socket.once('error', () => done('taken'));
socket.bind({ port: Number(process.argv[1]), address: '127.0.0.1' }, () => done('reserved'));
`;

const reserveElsewhere = (port: number) =>
  execFileSync(process.execPath, ['-e', RESERVE, String(port)], { encoding: 'utf8' }).trim();

describe('free ports', () => {
  it('are different, and reserved against other processes', async () => {
    const ports = await freePorts(20);
    expect(new Set(ports).size).toBe(20);
    expect(ports.slice(0, 3).map(reserveElsewhere)).toEqual(['taken', 'taken', 'taken']);
    expect(reserveElsewhere((ports[0] ?? 0) + 1)).toBe('reserved');
  });

  it('are none that a setting wants, before anybody listens there', async () => {
    const wanted = Array.from({ length: 6_000 }, (_, index) => 20_000 + 4 * index);
    const ports = await freePorts(30, wanted);
    expect(ports.filter((port) => wanted.includes(port) || wanted.includes(port + 1))).toEqual([]);
  });
});
