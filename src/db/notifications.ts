import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { closed, withTimeLimit } from '../timeLimit';
import { proveWritable } from './connections';
import type { Db } from './database';

const RECONNECT_MS = 1_000;
/** How a server is noticed that vanishes without closing the connection, or is demoted: it is asked so often, and answers within. */
interface Heartbeat {
  readonly everyMs: number;
  readonly answerLimitMs: number;
}

const PROOF_CHANNEL = 'doctor';
/** A listener that is idle is notified at once: after so long, it is asked once more. */
const PROOF_WAIT_MS = 3_000;

/**
 * Sends a notification with one login and receives it with another URL. Throws where it does not arrive: nothing listens behind
 * a pooler that gives each transaction another connection. `limitMs`: how long connecting, and each statement, may take. What
 * was sent on a connection before an answer arrives before it, so that a slow way is not taken for none.
 */
export async function proveNotified(db: Db, url: string, limitMs: number): Promise<void> {
  const listener = new Client({
    connectionString: url,
    connectionTimeoutMillis: limitMs,
    query_timeout: limitMs,
    application_name: 'orgwallet doctor',
  });
  listener.on('error', () => undefined);
  try {
    await listener.connect();
    const payload = randomUUID();
    await listener.query(`LISTEN ${PROOF_CHANNEL}`);
    const received = new Promise<true>((resolve) => {
      listener.on('notification', (notification) => notification.payload === payload && resolve(true));
    });
    await db.raw('SELECT pg_notify(?, ?)', [PROOF_CHANNEL, payload]);
    if (await withTimeLimit(received, PROOF_WAIT_MS)) return;
    await listener.query('SELECT 1');
    if (await withTimeLimit(received, 0)) return;
    throw new Error('a notification did not arrive: it leads through a pooler, or elsewhere');
  } finally {
    await closed(() => listener.end());
  }
}

const keyOf = (channel: string, payload: string) => `${channel}/${payload}`;

/** Receives the notifications that transactions send when they commit. */
export interface Notifications {
  /** Calls `listener` for each notification with that payload on that channel, until the returned function is called. */
  subscribe(channel: string, payload: string, listener: () => void): () => void;
  /** True while no notification can be missed. */
  connected(): boolean;
  stop(): Promise<void>;
}

/**
 * Listens on channels with a connection of its own and reconnects when it is lost. Notifications sent
 * meanwhile are missed, so listeners also poll. Without a URL it listens nowhere.
 */
export function listenForNotifications(
  url: string | undefined,
  channels: readonly string[],
  { everyMs, answerLimitMs }: Heartbeat = { everyMs: 5_000, answerLimitMs: 3_000 },
): Notifications {
  const listeners = new Map<string, Set<() => void>>();
  let client: Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let connected = false;

  function reconnect(): void {
    if (stopped || timer) return;
    timer = setTimeout(() => {
      timer = undefined;
      void connect();
    }, RECONNECT_MS);
    timer.unref();
  }

  async function connect(): Promise<void> {
    if (url === undefined) return;
    const connection = new Client({
      connectionString: url,
      connectionTimeoutMillis: 2_000,
      query_timeout: answerLimitMs,
      application_name: 'orgwallet notifications',
      keepAlive: true,
    });
    client = connection;
    const heartbeat = setInterval(() => {
      proveWritable(connection).catch(() => connection.connection.stream.destroy());
    }, everyMs);
    heartbeat.unref();
    const lost = () => {
      clearInterval(heartbeat);
      if (client === connection) {
        client = undefined;
        connected = false;
      }
      connection.end().catch(() => undefined);
      reconnect();
    };
    connection.once('error', lost);
    connection.on('error', () => undefined);
    connection.once('end', lost);
    connection.on('notification', ({ channel, payload }) => {
      for (const listener of listeners.get(keyOf(channel, payload ?? '')) ?? []) listener();
    });
    try {
      await connection.connect();
      // A server that is read-only announces nothing.
      await proveWritable(connection);
      for (const channel of channels)
        await connection.query(`LISTEN ${connection.escapeIdentifier(channel)}`);
      connected = client === connection;
    } catch {
      lost();
    }
  }

  void connect();
  return {
    subscribe(channel, payload, listener) {
      const key = keyOf(channel, payload);
      const known = listeners.get(key) ?? new Set();
      listeners.set(key, known.add(listener));
      return () => {
        known.delete(listener);
        if (known.size === 0) listeners.delete(key);
      };
    },
    connected: () => connected,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      const last = client;
      if (last) await closed(() => last.end());
    },
  };
}
