import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { request } from 'node:https';
import type { NetConnectOpts } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { isNativeError } from 'node:util/types';
import { chainEnd } from '../../certificates';
import { type Config, urlHost } from '../../config';
import { duration } from '../text';
import { type Finding, fail, ok, PATIENCE_MS, type Reported, SLOW, warn } from './finding';
import { listenerTarget } from './target';

const RENEW_BEFORE_MS = 14 * 86_400_000;

type Settings = Pick<Config, 'production'>;

/** How the service is started. */
const startText = ({ production }: Settings) =>
  production ? 'run doctor on its host; where it has ended, start it' : 'start it: npm start';

/** The finding for a part of the service that does not answer: in production it may run on another machine. */
function notAnswering(config: Settings, part: string, found: string, todo = startText(config)): Finding {
  return config.production ? warn(part, `${found} from here`, todo) : fail(part, found, todo);
}

/** Why a request was not answered. */
function reasonOf(error: unknown): string {
  const { cause, message } = error as Error;
  return isNativeError(cause) ? cause.message : message;
}

/** The ops port of this process. */
export function opsTarget({ ops }: Pick<Config, 'ops'>): NetConnectOpts {
  return listenerTarget(ops.host, ops.port);
}

/** The status that the service reports on its ops port. It may take as long as its slowest part. */
export async function checkReadiness(config: Pick<Config, 'ops' | 'production'>): Promise<Finding[]> {
  const { host, port } = config.ops;
  const part = 'service';
  const url = `http://${urlHost(host)}:${port}/statusz`;
  let response: Response;
  try {
    response = await fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS) });
  } catch (error) {
    return [notAnswering(config, part, `${url} does not answer (${reasonOf(error)})`)];
  }
  const status: unknown = await response.json().catch(() => undefined);
  const { unavailable: parts } = (status ?? {}) as { unavailable?: readonly string[] };
  if (parts === undefined) {
    return [fail(part, `${url} is not the ops port of this service`, 'correct OPS_HOST and OPS_PORT')];
  }
  if (!response.ok) return [fail(part, `${url} answers ${response.status}`, 'see its log')];
  if (parts.length === 0) return [ok(part, `${url} reports every part up`)];
  const reported: Reported = {
    ...fail(part, reportText(url, parts), 'it does not reach what this command reaches: see its log'),
    unavailable: parts,
  };
  return [reported];
}

const reportText = (url: string, parts: readonly string[]) =>
  `${url} reports unavailable: ${parts.join(', ')}`;

/** What this command calls a part of `/statusz` that it examines itself. */
function examinedAs(name: string): string {
  const [kind = name, of] = name.split(':');
  switch (kind) {
    case 'network':
      return `network ${of}`;
    case 'relayers':
      return `relayer ${of}`;
    case 'worker':
      return of === 'chain' ? 'chain worker' : (of ?? 'worker');
    case 'journal':
      return 'comparison';
    default:
      return kind === 'signerDatabase' ? 'database' : kind;
  }
}

/** The parts without which no request goes on, and the findings that then have no cause of their own. */
const CARRYING = ['database', 'temporal', 'worker', 'chain worker', 'signer'];
const CARRIED = new Set(['executions', 'attempts', 'expiries', 'requests']);

/** The same failure of the same host is said once, and that `/statusz` is late once it says why. */
function withoutSame(findings: readonly (Finding | Reported)[]): (Finding | Reported)[] {
  const isReported = findings.some((finding) => 'unavailable' in finding);
  const isSaid = (id: string, found: string) =>
    findings.some((one) => one.part === `network ${id}` && one.status === 'fail' && one.found === found);
  return findings.filter(({ part, found, todo }) => {
    if (isReported && part === 'service' && todo === SLOW) return false;
    const [, id] = /^endpoints (\d+)$/.exec(part) ?? [];
    return id === undefined || !isSaid(id, found);
  });
}

/**
 * Findings, with one for each cause: what the service reports as unavailable is left to the finding of that part, where this
 * command has found something wrong with it too; what waits for a part that is down has nothing to be done about.
 */
export function withoutRepeated(findings: readonly (Finding | Reported)[]): Finding[] {
  const wrong = new Set(findings.filter(({ status }) => status !== 'ok').map(({ part }) => part));
  const awaited = CARRYING.filter((part) =>
    findings.some((one) => one.part === part && one.status === 'fail'),
  );
  return withoutSame(findings).map((finding): Finding => {
    if (awaited.length > 0 && finding.status === 'warn' && CARRIED.has(finding.part)) {
      return { ...finding, todo: `nothing here: it goes on once this is back: ${awaited.join(', ')}` };
    }
    if (!('unavailable' in finding)) return finding;
    const { unavailable, ...own } = finding;
    const unexplained = unavailable.filter((name) => !wrong.has(examinedAs(name)));
    const [url = ''] = own.found.split(' ');
    if (unexplained.length === 0) return ok(own.part, `${url} answers, and reports the same`);
    return { ...own, found: reportText(url, unexplained) };
  });
}

/** What the port of the API answers, over TLS. */
interface ApiAnswer {
  readonly status: number;
  /** SHA-256 of the certificate that it serves. */
  readonly fingerprint: string;
}

/** Asks a public path of the API. Whatever has issued its certificate: which one it is, is compared. */
function apiAnswer(config: Config): Promise<ApiAnswer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      `https://${urlHost(config.httpsHost)}:${config.httpsPort}/openapi.json`,
      {
        rejectUnauthorized: false,
        signal: AbortSignal.timeout(PATIENCE_MS),
        agent: false,
      },
      (response) => {
        response.resume();
        response.on('end', () => resolve({ status: response.statusCode ?? 0, fingerprint }));
        response.on('error', reject);
      },
    );
    let fingerprint = '';
    // When the response comes, the connection may be closed already, and has no certificate any more.
    outgoing.on('socket', (socket: TLSSocket) =>
      socket.once('secureConnect', () => {
        fingerprint = socket.getPeerCertificate().fingerprint256;
      }),
    );
    outgoing.on('error', reject);
    outgoing.end();
  });
}

/** How long a certificate (PEM) is valid, with those that signed it. */
export function certificateFinding(file: string, pem: string, nowMs: number): Finding {
  const part = 'certificate';
  const end = chainEnd(pem);
  const leftMs = end.getTime() - nowMs;
  const todo = 'renew it: the API uses the new file within seconds';
  if (leftMs <= 0) return fail(part, `${file} expired at ${end.toISOString()}`, todo);
  const text = `${file}, valid for another ${duration(leftMs)}`;
  return leftMs < RENEW_BEFORE_MS ? warn(part, text, todo) : ok(part, text);
}

/** The port behind the proxy: any response is a success, because only the proxy is trusted to report TLS. */
async function plainPort(config: Config): Promise<Finding> {
  const url = `http://${urlHost(config.httpHost)}:${config.httpPort}`;
  try {
    await fetch(`${url}/openapi.json`, { signal: AbortSignal.timeout(PATIENCE_MS) });
    return ok('api', `${url} answers, for the proxies of TRUSTED_PROXIES`);
  } catch (error) {
    return notAnswering(config, 'api', `${url} does not answer (${reasonOf(error)})`);
  }
}

/** What an answer of the API says: it serves the certificate of the settings, of whatever CA. */
function apiFinding({ tls }: Config, url: string, { status, fingerprint }: ApiAnswer): Finding {
  if (fingerprint !== new X509Certificate(readFileSync(tls.certFile)).fingerprint256) {
    const todo = 'restart what listens there, or correct TLS_CERT_FILE, HTTPS_HOST and HTTPS_PORT';
    return fail('api', `${url} serves another certificate than ${tls.certFile}`, todo);
  }
  return status === 200
    ? ok('api', `${url} answers`)
    : fail('api', `${url} answers ${status}`, 'see its log');
}

/** The port of the API. */
export function apiTarget(config: Config): NetConnectOpts {
  const { tlsEndsAtProxy, httpHost, httpPort, httpsHost, httpsPort } = config;
  return tlsEndsAtProxy ? listenerTarget(httpHost, httpPort) : listenerTarget(httpsHost, httpsPort);
}

/** The certificate of the API. `nowMs`: by the database's clock, where it is known. */
export async function checkCertificate(
  { tls, tlsEndsAtProxy }: Config,
  nowMs: () => number,
): Promise<Finding[]> {
  const { certFile } = tls;
  if (tlsEndsAtProxy || !existsSync(certFile)) return [];
  return [certificateFinding(certFile, readFileSync(certFile, 'utf8'), nowMs())];
}

/** The port of the API, and the certificate that it serves. */
export async function checkApi(config: Config): Promise<Finding[]> {
  if (config.tlsEndsAtProxy) return [await plainPort(config)];
  const { certFile } = config.tls;
  if (!existsSync(certFile)) {
    const todo = 'npm start creates it; or set TLS_CERT_FILE';
    return [notAnswering(config, 'certificate', `${certFile} not found`, todo)];
  }
  const url = `https://${urlHost(config.httpsHost, 'localhost')}:${config.httpsPort}`;
  return apiAnswer(config).then(
    (answer) => [apiFinding(config, url, answer)],
    (error) => [notAnswering(config, 'api', `${url} does not answer (${reasonOf(error)})`)],
  );
}
