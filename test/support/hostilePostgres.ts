import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import {
  type Column,
  encoded,
  type Field,
  type Message,
  MessageReader,
  readBinding,
  readColumns,
  readParse,
  readRow,
  readText,
  rebound,
  rowMessage,
  textMessage,
} from './postgresMessages';

/** A statement on its way to the server. */
export interface Statement {
  readonly text: string;
  parameters: Field[];
}

/** What a statement is answered with. */
export interface Answer {
  readonly columns: readonly Column[];
  rows: Field[][];
  /** As CommandComplete says it: `SELECT 2`. */
  tag: string;
}

/** Where an exchange is answered and not carried out, or where its connection ends. */
export type Fate = 'lost' | 'cut' | undefined;

/** What a hostile server does. It may change what it is given. */
export interface Interference {
  /** Before the server gets a statement. `lost`: it is answered, and rolled back. */
  readonly before?: (statement: Statement) => Fate;
  /** Before the client gets an answer. A promise delays it. `cut`: it is carried out and not answered. */
  readonly after?: (statement: Statement, answer: Answer) => Fate | Promise<Fate>;
}

/** A server that speaks for the real one, as whoever runs the database or its pooler does. */
export interface HostilePostgres {
  /** The connection string of a login that leads through it. */
  readonly url: string;
  interfere(interference: Interference): void;
  close(): void;
}

/** What was sent until the next ReadyForQuery. */
interface Exchange {
  readonly statement: Statement;
  /** The client knows nothing of it. */
  readonly hidden?: true;
  /** As which command the client sees it. */
  readonly shownAs?: string;
  /** The client believes that no transaction is open. */
  readonly shownIdle?: true;
}

/** A message of an answer, or rows that may have been changed. */
type Part = Message | { readonly answer: Answer; readonly description: Message | undefined };

const READY = 'Z';
const IDLE = 'I';
const ENDS_REQUEST = new Set(['Q', 'S']);

function isAnswer(part: Part): part is Exclude<Part, Message> {
  return 'answer' in part;
}

/** The parts of an answer: what one statement selects is one part. `known`: columns of a statement that is not described. */
function partsOf(messages: readonly Message[], known: readonly Column[]): Part[] {
  const parts: Part[] = [];
  let open: { answer: Answer; description: Message | undefined } | undefined;
  for (const message of messages) {
    const { type, body } = message;
    if (type === 'T') {
      open = { answer: { columns: readColumns(body), rows: [], tag: '' }, description: message };
    } else if (type === 'D') {
      open ??= { answer: { columns: known, rows: [], tag: '' }, description: undefined };
      open.answer.rows.push(readRow(body));
    } else if (type === 'C') {
      const { answer, description } = open ?? {
        answer: { columns: [], rows: [], tag: '' },
        description: undefined,
      };
      answer.tag = readText(body);
      parts.push({ answer, description });
      open = undefined;
    } else parts.push(message);
  }
  // An error came between.
  if (open?.description) parts.push(open.description);
  return parts;
}

function messagesOf(part: Part): Message[] {
  if (!isAnswer(part)) return [part];
  const { answer, description } = part;
  return [
    ...(description ? [description] : []),
    ...answer.rows.map(rowMessage),
    textMessage('C', answer.tag),
  ];
}

/** One connection that passes through. */
class Passing {
  private readonly fromClient = new MessageReader(true);
  private readonly fromServer = new MessageReader(false);
  private readonly exchanges: Exchange[] = [];
  private readonly texts = new Map<string, string>();
  private readonly columns = new Map<string, readonly Column[]>();
  private request: Message[] = [];
  private reply: Message[] = [];
  private isReady = false;
  private isIdle = true;
  private sending: Promise<void> = Promise.resolve();

  constructor(
    private readonly client: Socket,
    private readonly server: Socket,
    private readonly interference: () => Interference,
  ) {
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
    }
    client.on('data', (chunk) => {
      for (const message of this.fromClient.take(chunk)) this.takeRequest(message);
    });
    server.on('data', (chunk) => {
      for (const message of this.fromServer.take(chunk)) this.takeReply(message);
    });
    client.on('close', () => server.destroy());
    server.on('close', () => {
      this.sending = this.sending.then(() => {
        this.toClient(...this.reply);
        client.end();
      });
    });
  }

  cut(): void {
    this.client.destroy();
    this.server.destroy();
  }

  private toClient(...messages: readonly Message[]): void {
    if (this.client.writable) this.client.write(Buffer.concat(messages.map(encoded)));
  }

  private takeRequest(message: Message): void {
    // Before the first ReadyForQuery come the startup and a password; X ends the connection.
    if (!this.isReady || message.type === 'X') this.server.write(encoded(message));
    else {
      this.request.push(message);
      if (ENDS_REQUEST.has(message.type)) this.sendRequest(this.request.splice(0));
    }
  }

  private statementOf(messages: readonly Message[]): Statement {
    let text = '';
    let parameters: Field[] = [];
    for (const { type, body } of messages) {
      if (type === 'Q') text = readText(body);
      if (type === 'P') {
        const parsed = readParse(body);
        this.texts.set(parsed.name, parsed.text);
        text = parsed.text;
      }
      if (type === 'B') {
        const binding = readBinding(body);
        text = this.texts.get(binding.statement) ?? text;
        parameters = [...binding.parameters];
      }
    }
    return { text, parameters };
  }

  private send(exchange: Exchange, ...messages: readonly Message[]): void {
    this.exchanges.push(exchange);
    this.server.write(Buffer.concat(messages.map(encoded)));
  }

  private sendHidden(text: string): void {
    this.send({ statement: { text, parameters: [] }, hidden: true }, textMessage('Q', text));
  }

  private sendRequest(messages: readonly Message[]): void {
    const statement = this.statementOf(messages);
    const fate = this.interference().before?.(statement);
    const changed = messages.map((message) =>
      message.type === 'B' ? rebound(message.body, statement.parameters) : message,
    );
    const isCommit = /^\s*commit\b/i.test(statement.text);
    if (fate === 'cut') this.cut();
    else if (fate === 'lost' && isCommit) {
      this.send({ statement, shownAs: 'COMMIT' }, textMessage('Q', 'ROLLBACK'));
    } else if (fate === 'lost' && this.isIdle) {
      this.sendHidden('BEGIN');
      this.send({ statement, shownIdle: true }, ...changed);
      this.sendHidden('ROLLBACK');
    } else this.send({ statement }, ...changed);
  }

  private takeReply(message: Message): void {
    if (this.isReady) {
      this.reply.push(message);
      if (message.type === READY) this.endReply(message, this.reply.splice(0));
      return;
    }
    this.isReady = message.type === READY;
    this.toClient(message);
  }

  private endReply(ready: Message, messages: readonly Message[]): void {
    const exchange = this.exchanges.shift();
    if (!exchange) throw new Error('the server answers what nobody has sent');
    this.isIdle = ready.body.toString('latin1') === IDLE;
    if (exchange.hidden) return;
    this.sending = this.sending.then(() => this.sendReply(exchange, messages));
  }

  private async sendReply(exchange: Exchange, messages: readonly Message[]): Promise<void> {
    const { statement, shownAs, shownIdle } = exchange;
    const parts = partsOf(messages, this.columns.get(statement.text) ?? []);
    for (const part of parts) {
      if (!isAnswer(part)) continue;
      if (part.description) this.columns.set(statement.text, part.answer.columns);
      if (shownAs !== undefined) part.answer.tag = shownAs;
      const fate = await this.interference().after?.(statement, part.answer);
      if (fate === 'cut') return this.cut();
    }
    const shown = (message: Message) =>
      shownIdle && message.type === READY ? { type: READY, body: Buffer.from(IDLE) } : message;
    this.toClient(...parts.flatMap(messagesOf).map(shown));
  }
}

/** Starts a server that passes everything on to the one of a connection string, until it is told to interfere. */
export async function startHostilePostgres(url: string): Promise<HostilePostgres> {
  const target = new URL(url);
  let interference: Interference = {};
  const open = new Set<Passing>();
  const proxy = createServer((client) => {
    const server = connect({ host: '127.0.0.1', port: Number(target.port) });
    const passing = new Passing(client, server, () => interference);
    open.add(passing);
    client.on('close', () => open.delete(passing));
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const through = new URL(`${target}`);
  through.hostname = '127.0.0.1';
  through.port = String((proxy.address() as AddressInfo).port);
  return {
    url: through.toString(),
    interfere(next) {
      interference = next;
    },
    close() {
      for (const passing of open) passing.cut();
      proxy.close();
    },
  };
}
