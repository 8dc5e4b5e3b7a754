import { hostname } from 'node:os';
import pino, { type Logger } from 'pino';
import { currentSpan } from './tracing';
import { versionText } from './version';

export type { Logger };

const CENSOR = '[redacted]';
/** Names of fields with secrets; a longer name such as `apiKeyId` is not one. */
const SECRET_NAME =
  '[\\w.-]*(?:pass(?:word|phrase)|private_?key|secret|authorization|api_?key|database_?url|rpc_?url)';
/** A named text in a line of JSON, and in JSON inside a text of a line. */
const NAMED_SECRET = new RegExp(`("${SECRET_NAME}":")(?:[^"\\\\]|\\\\.)*`, 'gi');
const QUOTED_NAMED_SECRET = new RegExp(`(\\\\+"${SECRET_NAME}\\\\+":\\s?\\\\+")[^"\\\\]*`, 'gi');

const API_KEY = /ow_live_[A-Za-z0-9_-]+/g;
const URL_USER_PASSWORD = /(postgres(?:ql)?:\/\/[^:/\s"\\]*:)[^\s"\\]*@/gi;
/** As errors of viem name an endpoint, whose path may hold a key. */
const ENDPOINT_PATH = /((?:URL: |"?url\\*":\s?\\*")https?:\/\/)(?:[^@\s"\\/]*@)?([^\s"\\/]*)[^\s"\\]*/g;
const URL_PARAMETER_PASSWORD = /([?&]password=)[^&\s"\\]+/gi;

/** Removes secrets from a line: fields with a secret's name at any depth, API keys, database passwords, paths of endpoints. */
export function scrub(line: string): string {
  return line
    .replace(NAMED_SECRET, `$1${CENSOR}`)
    .replace(QUOTED_NAMED_SECRET, `$1${CENSOR}`)
    .replace(API_KEY, `ow_live_${CENSOR}`)
    .replace(ENDPOINT_PATH, `$1$2/${CENSOR}`)
    .replace(URL_USER_PASSWORD, `$1${CENSOR}@`)
    .replace(URL_PARAMETER_PASSWORD, `$1${CENSOR}`);
}

/** Maximum of buffered output while writing fails; more is dropped. */
const MAX_WAITING_BYTES = 1_048_576;

/** Writes to a file descriptor. A failed write, for example on a full disk, does not end the process. */
export function createLogOutput(fd: number) {
  const output = pino.destination({ dest: fd, sync: false, maxLength: MAX_WAITING_BYTES });
  output.on('error', () => {
    // At exit the process would retry the buffered output for ever.
    output.flushSync = () => undefined;
  });
  return output;
}

/**
 * A structured logger: one JSON object a line, with the host and the version of its process. No line contains a secret, in
 * whatever field or text.
 */
export function createLogger(level: string, destination?: pino.DestinationStream): Logger {
  const options: pino.LoggerOptions = {
    level,
    base: { service: 'orgwallet', host: hostname(), version: versionText() },
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: pino.stdSerializers.errWithCause },
    mixin: () => {
      const span = currentSpan();
      return span ? { trace_id: span.traceId } : {};
    },
    formatters: { level: (label) => ({ level: label }) },
    hooks: { streamWrite: scrub },
  };
  return pino(options, destination ?? createLogOutput(process.stdout.fd));
}
