import { Client } from 'pg';

const RECONNECT_MS = 1_000;

/** Hears what transactions announce when they commit. */
export interface Notifications {
  /** Calls `listener` with each payload of the channel until the returned function is called. */
  subscribe(payload: string, listener: () => void): () => void;
  stop(): Promise<void>;
}

/**
 * Listens on one channel with a connection of its own and connects again when it is lost. What is announced
 * meanwhile is missed, so listeners also look for themselves from time to time.
 */
export function listenForNotifications(url: string, channel: string, role: string): Notifications {
  const listeners = new Map<string, Set<() => void>>();
  let client: Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  function reconnect(): void {
    if (stopped || timer) return;
    timer = setTimeout(() => {
      timer = undefined;
      void connect();
    }, RECONNECT_MS);
    timer.unref();
  }

  async function connect(): Promise<void> {
    const connection = new Client({
      connectionString: url,
      connectionTimeoutMillis: 2_000,
      options: `-c role=${role}`,
      application_name: `${role} notifications`,
      keepAlive: true,
    });
    client = connection;
    const lost = () => {
      if (client === connection) client = undefined;
      connection.end().catch(() => undefined);
      reconnect();
    };
    connection.once('error', lost);
    connection.on('error', () => undefined);
    connection.once('end', lost);
    connection.on('notification', ({ payload }) => {
      for (const listener of listeners.get(payload ?? '') ?? []) listener();
    });
    try {
      await connection.connect();
      await connection.query(`LISTEN ${connection.escapeIdentifier(channel)}`);
    } catch {
      lost();
    }
  }

  void connect();
  return {
    subscribe(payload, listener) {
      const known = listeners.get(payload) ?? new Set();
      listeners.set(payload, known.add(listener));
      return () => {
        known.delete(listener);
        if (known.size === 0) listeners.delete(payload);
      };
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await client?.end().catch(() => undefined);
    },
  };
}
