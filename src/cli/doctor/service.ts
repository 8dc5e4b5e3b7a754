import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { request } from 'node:https';
import type { Config } from '../../config';
import { duration } from '../text';
import { type Finding, fail, ok, warn } from './finding';

const ANSWER_LIMIT_MS = 3_000;
const RENEW_BEFORE_MS = 14 * 86_400_000;

/** How a part of the service that does not answer here is judged: in production it may run on another machine. */
function away(config: Config, part: string, found: string, todo: string): Finding {
  return config.production ? warn(part, `${found} from here`, todo) : fail(part, found, todo);
}

/** What the service says of itself on its operations port. */
export async function lookAtReadiness(config: Config): Promise<Finding[]> {
  const { host, port } = config.ops;
  const url = `http://${host === '0.0.0.0' ? '127.0.0.1' : host}:${port}/readyz`;
  let response: Response;
  try {
    response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_LIMIT_MS) });
  } catch {
    return [away(config, 'service', `${url} does not answer`, 'start it: npm start')];
  }
  const { away: parts } = (await response.json()) as { away?: readonly string[] };
  if (response.ok) return [ok('service', `${url} reports ready`)];
  return [
    fail(
      'service',
      `${url} reports unavailable: ${parts?.join(', ') || 'nothing'}`,
      'see the lines of these parts',
    ),
  ];
}

/** The status with which the API answers an open path over TLS. */
function apiStatus(config: Config): Promise<number> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: '127.0.0.1',
        port: config.httpsPort,
        path: '/openapi.json',
        ca: readFileSync(config.tls.certFile),
        // Whoever asks here asks for a port, not for a name.
        checkServerIdentity: () => undefined,
        timeout: ANSWER_LIMIT_MS,
        agent: false,
      },
      (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode ?? 0));
        response.on('error', reject);
      },
    );
    outgoing.on('timeout', () => outgoing.destroy(new Error('no answer in time')));
    outgoing.on('error', reject);
    outgoing.end();
  });
}

/** How long a certificate (PEM) is still good. */
export function certificateFinding(file: string, pem: string | Buffer, nowMs: number): Finding {
  const { validTo } = new X509Certificate(pem);
  const leftMs = new Date(validTo).getTime() - nowMs;
  const todo = 'renew it and restart the API';
  if (leftMs <= 0) return fail('certificate', `${file} ended ${validTo}`, todo);
  const text = `${file}, good for ${duration(leftMs)} more`;
  return leftMs < RENEW_BEFORE_MS ? warn('certificate', text, todo) : ok('certificate', text);
}

/** The port behind the proxy: any answer will do, because only the proxy is trusted to say that a caller used TLS. */
async function plainPort(config: Config): Promise<Finding> {
  const url = `http://127.0.0.1:${config.httpPort}`;
  try {
    await fetch(`${url}/openapi.json`, { signal: AbortSignal.timeout(ANSWER_LIMIT_MS) });
    return ok('api', `${url} answers, for the proxies of TRUSTED_PROXIES`);
  } catch {
    return away(config, 'api', `${url} does not answer`, 'start it: node dist/src/main.js');
  }
}

/** The API's port and its certificate. */
export async function lookAtApi(config: Config): Promise<Finding[]> {
  if (config.tlsEndsAtProxy) return [await plainPort(config)];
  const { certFile } = config.tls;
  const url = `https://localhost:${config.httpsPort}`;
  if (!existsSync(certFile)) {
    return [
      away(config, 'certificate', `${certFile} not found`, 'npm start creates it; or set TLS_CERT_FILE'),
    ];
  }
  const certificate = certificateFinding(certFile, readFileSync(certFile), Date.now());
  try {
    const status = await apiStatus(config);
    const api =
      status === 200 ? ok('api', `${url} answers`) : fail('api', `${url} answers ${status}`, 'see its log');
    return [api, certificate];
  } catch (error) {
    const reason = (error as Error).message;
    return [away(config, 'api', `${url} does not answer (${reason})`, 'start it: npm start'), certificate];
  }
}
