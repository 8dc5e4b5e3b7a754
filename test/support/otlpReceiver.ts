import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as it was exported. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly attributes: { readonly [name: string]: string | number };
}

/** A collector that takes traces by OTLP over HTTP, as JSON. */
export interface OtlpReceiver {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  /** All that was sent, headers too. */
  text(): string;
  /** Whether it takes requests and answers none. */
  hang(hangs: boolean): void;
  /** Whether it refuses what it is sent. */
  refuse(refuses: boolean): void;
  /** How many requests wait for an answer. */
  hanging(): number;
  stop(): Promise<void>;
}

/** As OTLP has attributes. */
interface SentSpan extends Omit<ReceivedSpan, 'attributes'> {
  readonly attributes: readonly {
    readonly key: string;
    readonly value: { readonly stringValue?: string; readonly intValue?: number };
  }[];
}

function spansIn(body: string): ReceivedSpan[] {
  const { resourceSpans } = JSON.parse(body) as {
    resourceSpans: { scopeSpans: { spans: SentSpan[] }[] }[];
  };
  const sent = resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
  return sent.map(({ attributes, ...span }) => ({
    ...span,
    attributes: Object.fromEntries(
      attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? '']),
    ),
  }));
}

/** Starts a collector. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const texts: string[] = [];
  let hangs = false;
  let refuses = false;
  let hanging = 0;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (hangs) {
      hanging += 1;
      return;
    }
    if (refuses) {
      response.writeHead(400).end();
      return;
    }
    const body = Buffer.concat(chunks).toString();
    texts.push(JSON.stringify(request.headers), body);
    if (request.url === '/v1/traces') spans.push(...spansIn(body));
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    text: () => texts.join('\n'),
    hang(next) {
      hangs = next;
    },
    refuse(next) {
      refuses = next;
    },
    hanging: () => hanging,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
