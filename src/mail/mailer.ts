import { createTransport, type NodemailerError } from 'nodemailer';
import type { MailSender } from './mailAddress';
import type { SmtpServer } from './smtpServer';

/** For connecting, for a greeting, and for each pause of the server. */
const TIME_LIMIT_MS = 15_000;
/** How many times that a mail may take as a whole. */
const WHOLE = 4;
/** What is kept of an answer, in characters. */
const KEPT = 1_024;

const TOO_LONG = 'the mail server took too long';

/** A mail in plain text to one address. */
interface Mail {
  /** An address that `mailAddress` accepts. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** The same for the same mail: a receiver that gets it twice recognizes it. Letters, digits, `.`, `_`, `-`. */
  readonly id: string;
  /** Ends it early; then it has failed. */
  readonly signal?: AbortSignal | undefined;
}

/** What became of a mail: the answer of the server, or why there is none. */
export type MailOutcome = { readonly durationMs: number } & (
  | { readonly status: number; readonly answer: string }
  | { readonly fault: 'connection' | 'certificate' | 'timeout'; readonly message: string }
);

/** Sends mail over SMTP. */
export interface Mailer {
  /** Never throws for what the server does. */
  send(mail: Mail): Promise<MailOutcome>;
  /** Connects and logs in, and sends nothing. Throws Error that says why that fails. */
  verify(): Promise<void>;
  stop(): void;
}

/** How to send. */
export interface MailerOptions {
  readonly server: SmtpServer;
  readonly from: MailSender;
  /** Certificates of authorities (PEM) instead of those of Node; absent: those of Node. */
  readonly authorities?: string | undefined;
  /** For each pause of the server; four times that for all together. Absent: 15 s. */
  readonly timeLimitMs?: number | undefined;
}

/** The code of a reply; undefined where it has none. Source: RFC 5321, section 4.2. */
function statusOf(response: string): number | undefined {
  const [, code] = /^([2-5]\d\d)(?:[ -]|$)/.exec(response) ?? [];
  return code === undefined ? undefined : Number(code);
}

function outcomeOf(
  error: NodemailerError,
): { status: number; answer: string } | { fault: 'connection' | 'certificate' | 'timeout'; message: string } {
  const { code = '', response, message } = error;
  if (response !== undefined) {
    const status = statusOf(response);
    if (status !== undefined) return { status, answer: response.slice(0, KEPT) };
    // What it says instead is not repeated.
    return { fault: 'connection', message: 'the mail server does not keep to SMTP' };
  }
  const text = message.slice(0, KEPT);
  if (code === 'EABORT') return { fault: 'timeout', message: TOO_LONG };
  if (code === 'ETIMEDOUT' || /timeout/i.test(text)) return { fault: 'timeout', message: text };
  if (code === 'ETLS' || /certificate/i.test(text)) return { fault: 'certificate', message: text };
  return { fault: 'connection', message: text };
}

/** Creates what sends mail. */
export function createMailer(options: MailerOptions): Mailer {
  const { server, from, authorities, timeLimitMs = TIME_LIMIT_MS } = options;
  const transport = createTransport({
    host: server.host,
    port: server.port,
    secure: server.secure,
    requireTLS: server.requireTls,
    ...(server.login ? { auth: server.login } : {}),
    ...(authorities === undefined ? {} : { tls: { ca: authorities } }),
    connectionTimeout: timeLimitMs,
    greetingTimeout: timeLimitMs,
    socketTimeout: timeLimitMs,
    dnsTimeout: timeLimitMs,
    // A text is a text, whatever it looks like.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    async send({ to, subject, text, id, signal }) {
      const startedAt = performance.now();
      const durationMs = () => performance.now() - startedAt;
      try {
        const { response } = await transport.sendMail({
          from,
          to: { name: '', address: to },
          // Not from the header: nothing that it holds adds a recipient.
          envelope: { from: from.address, to: [to] },
          subject,
          text,
          signal: AbortSignal.any([AbortSignal.timeout(timeLimitMs * WHOLE), ...(signal ? [signal] : [])]),
          messageId: `<${id}@${from.address.slice(from.address.indexOf('@') + 1)}>`,
          // No answer by a machine that is away. Source: RFC 3834, section 5.
          headers: { 'Auto-Submitted': 'auto-generated' },
        });
        const status = statusOf(response) ?? 250;
        return { status, answer: response.slice(0, KEPT), durationMs: durationMs() };
      } catch (error) {
        return { ...outcomeOf(error as NodemailerError), durationMs: durationMs() };
      }
    },
    async verify() {
      const over = AbortSignal.timeout(timeLimitMs * WHOLE);
      const late = new Promise<never>((_, reject) => {
        over.addEventListener('abort', () => reject(new Error(TOO_LONG)));
      });
      await Promise.race([transport.verify(), late]);
    },
    stop: () => transport.close(),
  };
}
