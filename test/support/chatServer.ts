import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ChatKind } from '../../src/domain/delivery';
import { MessageRefused, readDiscord, readSlack, readTelegram, type ShownMessage } from './chatApps';

/** A message that a chat has shown. */
interface ChatMessage extends ShownMessage {
  readonly chat: ChatKind;
  readonly path: string;
  readonly atMs: number;
}

/** A server that takes what Slack, Discord and Telegram take, and answers as they do. */
export interface ChatServer {
  readonly messages: readonly ChatMessage[];
  /** Every request, also those that were refused. */
  readonly requests: () => number;
  /** Where a chat takes messages; `name` keeps one apart from others. */
  urlOf(chat: ChatKind, name: string): string;
  /** The messages of one chat. */
  of(url: string): readonly ChatMessage[];
  /** The next so many requests to a chat are too many: the body says for how long (s), as the real one does. */
  limit(url: string, requests: number, seconds: number): void;
  /** From now on a chat takes no message, whatever it is, and answers this with 400. */
  refuse(url: string, answer?: string): void;
  /** From now on a chat is gone. */
  remove(url: string): void;
  stop(): Promise<void>;
}

/** Something of each chat. */
type OfChats<T> = { readonly [chat in ChatKind]: T };

const READERS: OfChats<(body: unknown) => ShownMessage> = {
  slack: readSlack,
  discord: readDiscord,
  telegram: readTelegram,
};
const TAKEN: OfChats<readonly [number, string]> = {
  slack: [200, 'ok'],
  discord: [204, ''],
  telegram: [200, '{"ok":true,"result":{}}'],
};
const REMOVED: OfChats<readonly [number, string]> = {
  slack: [404, 'no_service'],
  discord: [404, '{"message": "Unknown Webhook", "code": 10015}'],
  telegram: [
    403,
    '{"ok":false,"error_code":403,"description":"Forbidden: bot was kicked from the group chat"}',
  ],
};
const LIMITED: OfChats<(seconds: number) => readonly [string, object]> = {
  slack: (seconds) => [`rate_limited`, { 'retry-after': String(seconds) }],
  discord: (seconds) => [
    JSON.stringify({ message: 'You are being rate limited.', retry_after: seconds }),
    {},
  ],
  telegram: (seconds) => [
    JSON.stringify({ ok: false, error_code: 429, parameters: { retry_after: seconds } }),
    {},
  ],
};

/** Starts one on this machine. */
export async function startChatServer(): Promise<ChatServer> {
  const messages: ChatMessage[] = [];
  const limits = new Map<string, { left: number; seconds: number }>();
  const removed = new Set<string>();
  const refusing = new Map<string, string>();
  let requests = 0;

  function answerTo(path: string, body: string): readonly [number, string, object?] {
    const chat = path.split('/')[1] as ChatKind;
    if (removed.has(path)) return REMOVED[chat];
    const refusal = refusing.get(path);
    if (refusal !== undefined) return [400, refusal];
    const limit = limits.get(path);
    if (limit && limit.left > 0) {
      limit.left -= 1;
      const [text, headers] = LIMITED[chat](limit.seconds);
      return [429, text, headers];
    }
    try {
      messages.push({ ...READERS[chat](JSON.parse(body)), chat, path, atMs: Date.now() });
      return TAKEN[chat];
    } catch (error) {
      if (error instanceof MessageRefused) return [error.status, error.answer];
      return [400, 'invalid_payload'];
    }
  }

  const server = createServer(async (request, response) => {
    requests += 1;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const [status, text, headers = {}] = answerTo(request.url ?? '', Buffer.concat(chunks).toString());
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const pathOf = (url: string) => new URL(url).pathname;
  return {
    messages,
    requests: () => requests,
    urlOf: (chat, name) => `http://127.0.0.1:${port}/${chat}/${name}`,
    of: (url) => messages.filter(({ path }) => path === pathOf(url)),
    limit: (url, count, seconds) => void limits.set(pathOf(url), { left: count, seconds }),
    refuse: (url, answer = 'invalid_payload') => void refusing.set(pathOf(url), answer),
    remove: (url) => void removed.add(pathOf(url)),
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
