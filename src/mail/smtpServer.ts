import { isLoopback } from '../domain/loopback';

/** A server that takes mail, as the setting SMTP_URL names it. */
export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte on; without it STARTTLS, which is required of every server but one of this machine. */
  readonly secure: boolean;
  readonly requireTls: boolean;
  readonly login?: { readonly user: string; readonly pass: string };
}

const PORTS: { readonly [protocol: string]: number } = { 'smtps:': 465, 'smtp:': 587 };

/** Reads `smtps://user:password@host:port` or `smtp://…`. Throws Error that says what is wrong, without the login. */
export function readSmtpServer(text: string): SmtpServer {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const usual = PORTS[url?.protocol ?? ''];
  if (!url || usual === undefined || url.hostname === '') {
    throw new Error(
      'is not an address of a mail server (expected e.g. smtps://user:password@smtp.example.com)',
    );
  }
  if (!['', '/'].includes(url.pathname) || url.search !== '' || url.hash !== '') {
    throw new Error(
      'must not have a path, a query or a fragment (percent-encode special characters of the password)',
    );
  }
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? usual : Number(url.port),
    secure: url.protocol === 'smtps:',
    requireTls: url.protocol === 'smtp:' && !isLoopback(text),
    ...(url.username === ''
      ? {}
      : { login: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) } }),
  };
}
