import { NotConnected } from './errors.ts';

/** What failed below HTTP: `code` is that of Node; browsers say nothing, and a `fetch` of one's own says anything. */
interface Fault {
  readonly code?: unknown;
  readonly message?: string;
  readonly errors?: readonly Fault[];
}

/**
 * What to change where no request can be sent; undefined where the fault says nothing of that: the request may have been
 * sent. Node checks a certificate itself, and names its fault by OpenSSL's codes, `ERR_SSL_` is of what the other side
 * reports. Source: Node, tls, "X509 certificate error codes".
 */
function settingOf(
  url: string,
  { code, message }: Fault,
): readonly [string, NotConnected['setting']] | undefined {
  const { host, hostname } = new URL(url);
  // How Node names the one refusal of `fetch` itself that depends on the address. Source: Fetch, "bad port".
  if (code === undefined && message === 'bad port')
    return [`baseUrl: fetch refuses ${host}: ${message}`, 'baseUrl'];
  if (typeof code !== 'string') return undefined;
  if (code === 'ENOTFOUND') return [`baseUrl: unknown host ${hostname}`, 'baseUrl'];
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER')
    return [`baseUrl: ${host} does not speak TLS (expected the HTTPS port of the service)`, 'baseUrl'];
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID' || code === 'HOSTNAME_MISMATCH')
    return [`baseUrl: the certificate of ${host} is for another host: ${message}`, 'baseUrl'];
  if (/^(CERT_(HAS_EXPIRED|NOT_YET_VALID|REVOKED)|CRL_)/.test(code))
    return [
      `the certificate of ${host} is not valid: ${message} (renew it, or correct the clock)`,
      'certificate',
    ];
  if (
    !code.startsWith('ERR_SSL_') &&
    /CERT|^UNABLE_TO_|^INVALID_(CA|PURPOSE)$|^PATH_LENGTH_EXCEEDED$/.test(code)
  ) {
    const trusted =
      'start this process with NODE_EXTRA_CA_CERTS, the file of the authority that has signed it';
    return [`the certificate of ${host} is not trusted: ${message} (${trusted})`, 'NODE_EXTRA_CA_CERTS'];
  }
  return undefined;
}

/**
 * Why a request got no response, or not all of it, from what `fetch` has thrown. Throws NotConnected where a setting keeps
 * every request from being sent.
 */
export function faultText(url: string, cause: unknown, idempotencyKey: string | undefined): string {
  const { message = String(cause), cause: below } = Object(cause) as Error & { cause?: Fault };
  // Several addresses of a host, each with its own fault.
  const faults = below?.errors?.length ? below.errors : [Object(below) as Fault];
  const [setting, ...others] = faults.map((fault) => settingOf(url, Object(fault)));
  if (setting && others.every((other) => other !== undefined))
    throw new NotConnected(...setting, { cause, idempotencyKey });
  const detail = faults[0]?.message;
  return detail ? `${message}: ${detail}` : message;
}
