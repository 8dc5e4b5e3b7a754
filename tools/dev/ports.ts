import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:net';

/** A port that has to be free, and its setting. */
export interface WantedPort {
  readonly setting: string;
  readonly port: number;
  /** Offset of this port from the configured one. */
  readonly offset?: number;
  readonly host?: string | undefined;
}

/** True when nothing listens on the port, or the host is not of this machine, which whoever listens there reports. */
function isPortFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', ({ code = '' }: NodeJS.ErrnoException) =>
      resolve(['EADDRNOTAVAIL', 'ENOTFOUND'].includes(code)),
    );
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/**
 * Reserves a port for this process until it ends: binds the UDP port of the same number, which is otherwise unused and
 * exclusive to one process. False when another process has reserved it.
 */
function reservePort(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4');
    socket.unref();
    socket.once('error', () => resolve(false));
    socket.bind({ port, address: '127.0.0.1', exclusive: true }, () => resolve(true));
  });
}

/**
 * Finds `count` different ports on the loopback interface that are free, each with the next one, and reserves them:
 * their users may not listen yet. None is in `except`, nor is its next one. They are below the range of ephemeral ports. Not
 * get-port: it does not support pairs and reserves only within one process.
 */
export async function freePorts(count: number, except: readonly number[] = []): Promise<number[]> {
  const found: number[] = [];
  for (let attempt = 0; found.length < count; attempt += 1) {
    if (attempt > 1_000) throw new Error('there are no free ports between 20000 and 32000');
    const port = 2 * randomInt(10_000, 16_000);
    if (except.includes(port) || except.includes(port + 1) || !(await reservePort(port))) continue;
    if ((await isPortFree(port)) && (await isPortFree(port + 1))) found.push(port);
  }
  return found;
}

/** The process that listens on a port, if this user can see it: `node (process 4711)`. */
function portHolder(port: number): string | undefined {
  return holderFromProc(port) ?? holderFromLsof(port);
}

/** Inodes of the sockets that listen on a port, from the tables of the kernel; empty where there are none. */
function listeningInodes(port: number): Set<string> {
  const hexPort = port.toString(16).toUpperCase().padStart(4, '0');
  const inodes = new Set<string>();
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    if (!existsSync(table)) continue;
    for (const line of readFileSync(table, 'utf8').split('\n').slice(1)) {
      const fields = line.trim().split(/\s+/);
      // State 0A is LISTEN.
      if (fields[1]?.endsWith(`:${hexPort}`) && fields[3] === '0A' && fields[9]) inodes.add(fields[9]);
    }
  }
  return inodes;
}

/** True when a process has one of these sockets open. Throws for another user's process, and for one that has ended. */
function holdsSocket(pid: string, inodes: ReadonlySet<string>): boolean {
  return readdirSync(`/proc/${pid}/fd`).some((fd) => {
    const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1];
    return inode !== undefined && inodes.has(inode);
  });
}

function holderFromProc(port: number): string | undefined {
  const inodes = listeningInodes(port);
  if (inodes.size === 0) return undefined;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (holdsSocket(pid, inodes)) {
        return `${readFileSync(`/proc/${pid}/comm`, 'utf8').trim()} (process ${pid})`;
      }
    } catch {
      // not readable, or gone
    }
  }
  return undefined;
}

function holderFromLsof(port: number): string | undefined {
  try {
    const text = execFileSync('lsof', ['-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-Fpc'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 3_000,
    });
    const pid = /^p(\d+)$/m.exec(text)?.[1];
    const command = /^c(.+)$/m.exec(text)?.[1];
    return pid ? `${command ?? 'a program'} (process ${pid})` : undefined;
  } catch {
    return undefined;
  }
}

/** One sentence for each wanted port that is taken or that two settings use; empty when all are free. */
export async function takenPorts(wanted: readonly WantedPort[]): Promise<string[]> {
  const problems: string[] = [];
  const owners = new Map<number, string>();
  for (const { setting: variable, port, offset = 0, host } of wanted) {
    const setting = offset === 0 ? variable : `${variable} + ${offset}`;
    const other = owners.get(port);
    if (other) {
      problems.push(
        `Port ${port} is set twice, by ${other} and by ${setting}. Choose another port for one of them.`,
      );
      continue;
    }
    owners.set(port, setting);
    if (!(await isPortFree(port, host))) {
      const holder = portHolder(port);
      problems.push(
        `Port ${port} (${setting}) is taken${holder ? ` by ${holder}` : ''}. End that program, or choose another port with ${variable}=<port>.`,
      );
    }
  }
  return problems;
}
