import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { request } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { type Config, urlHost } from '../../config';
import { duration } from '../text';
import { type Finding, fail, ok, warn } from './finding';

const ANSWER_LIMIT_MS = 3_000;
const RENEW_BEFORE_MS = 14 * 86_400_000;

/** The finding for a part of the service that does not answer: in production it may run on another machine. */
function notAnswering(config: Config, part: string, found: string, todo: string): Finding {
  return config.production ? warn(part, `${found} from here`, todo) : fail(part, found, todo);
}

/** The status that the service reports on its ops port. */
export async function checkReadiness(config: Config): Promise<Finding[]> {
  const { host, port } = config.ops;
  const url = `http://${urlHost(host)}:${port}/statusz`;
  let response: Response;
  try {
    response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_LIMIT_MS) });
  } catch {
    return [notAnswering(config, 'service', `${url} does not answer`, 'start it: npm start')];
  }
  const { unavailable: parts } = (await response.json()) as { unavailable?: readonly string[] };
  if (response.ok && parts?.length === 0) return [ok('service', `${url} reports every part up`)];
  return [
    fail('service', `${url} reports unavailable: ${parts?.join(', ') || 'nothing'}`, 'check these parts'),
  ];
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
        timeout: ANSWER_LIMIT_MS,
        agent: false,
      },
      (response) => {
        response.resume();
        const { fingerprint256: fingerprint } = (response.socket as TLSSocket).getPeerCertificate();
        response.on('end', () => resolve({ status: response.statusCode ?? 0, fingerprint }));
        response.on('error', reject);
      },
    );
    outgoing.on('timeout', () => outgoing.destroy(new Error('no answer in time')));
    outgoing.on('error', reject);
    outgoing.end();
  });
}

/** How long a certificate (PEM) is valid. */
export function certificateFinding(file: string, pem: string | Buffer, nowMs: number): Finding {
  const { validTo } = new X509Certificate(pem);
  const leftMs = new Date(validTo).getTime() - nowMs;
  const todo = 'renew it: the API uses the new file within seconds';
  if (leftMs <= 0) return fail('certificate', `${file} expired ${validTo}`, todo);
  const text = `${file}, valid for another ${duration(leftMs)}`;
  return leftMs < RENEW_BEFORE_MS ? warn('certificate', text, todo) : ok('certificate', text);
}

/** The port behind the proxy: any response is a success, because only the proxy is trusted to report TLS. */
async function plainPort(config: Config): Promise<Finding> {
  const url = `http://${urlHost(config.httpHost)}:${config.httpPort}`;
  try {
    await fetch(`${url}/openapi.json`, { signal: AbortSignal.timeout(ANSWER_LIMIT_MS) });
    return ok('api', `${url} answers, for the proxies of TRUSTED_PROXIES`);
  } catch {
    return notAnswering(config, 'api', `${url} does not answer`, 'start it: node dist/src/main.js');
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

/** The port of the API and its certificate. */
export async function checkApi(config: Config): Promise<Finding[]> {
  if (config.tlsEndsAtProxy) return [await plainPort(config)];
  const { certFile } = config.tls;
  const url = `https://${urlHost(config.httpsHost, 'localhost')}:${config.httpsPort}`;
  if (!existsSync(certFile)) {
    return [
      notAnswering(
        config,
        'certificate',
        `${certFile} not found`,
        'npm start creates it; or set TLS_CERT_FILE',
      ),
    ];
  }
  const certificate = certificateFinding(certFile, readFileSync(certFile), Date.now());
  try {
    return [apiFinding(config, url, await apiAnswer(config)), certificate];
  } catch (error) {
    const reason = (error as Error).message;
    return [
      notAnswering(config, 'api', `${url} does not answer (${reason})`, 'start it: npm start'),
      certificate,
    ];
  }
}
