import pino, { type Logger } from 'pino';

export type { Logger };

const CENSOR = '[redacted]';
/** Names under which secrets stand; what ends otherwise, such as `apiKeyId` or a file's name, is none. */
const SECRET_NAME =
  '[\\w.-]*(?:pass(?:word|phrase)|private_?key|secret|authorization|api_?key|database_?url|rpc_?url)';
/** A named text in a line of JSON, and in JSON inside a text of a line. */
const NAMED_SECRET = new RegExp(`("${SECRET_NAME}":")(?:[^"\\\\]|\\\\.)*`, 'gi');
const QUOTED_NAMED_SECRET = new RegExp(`(\\\\+"${SECRET_NAME}\\\\+":\\s?\\\\+")[^"\\\\]*`, 'gi');

const API_KEY = /ow_live_[A-Za-z0-9_-]+/g;
const URL_USER_PASSWORD = /(postgres(?:ql)?:\/\/[^:/\s"\\]*:)[^\s"\\]*@/gi;
const URL_PARAMETER_PASSWORD = /([?&]password=)[^&\s"\\]+/gi;

/** Takes secrets out of a line: what stands under a secret's name, at any depth, API keys and database passwords. */
export function scrub(line: string): string {
  return line
    .replace(NAMED_SECRET, `$1${CENSOR}`)
    .replace(QUOTED_NAMED_SECRET, `$1${CENSOR}`)
    .replace(API_KEY, `ow_live_${CENSOR}`)
    .replace(URL_USER_PASSWORD, `$1${CENSOR}@`)
    .replace(URL_PARAMETER_PASSWORD, `$1${CENSOR}`);
}

/** What waits to be written while nothing can be; more is lost. */
const MAX_WAITING_BYTES = 1_048_576;

/** Writes to a file descriptor. Lines that cannot be written, on a full disk for instance, end nothing. */
export function createLogOutput(fd: number) {
  const output = pino.destination({ dest: fd, sync: false, maxLength: MAX_WAITING_BYTES });
  output.on('error', () => {
    // At its end the process would try for ever to write what waits.
    output.flushSync = () => undefined;
  });
  return output;
}

/** A structured logger (one JSON object a line). No line ever holds a secret, whatever field or text it came in. */
export function createLogger(level: string, destination?: pino.DestinationStream): Logger {
  const options: pino.LoggerOptions = {
    level,
    base: { service: 'orgwallet' },
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: pino.stdSerializers.errWithCause },
    formatters: { level: (label) => ({ level: label }) },
    hooks: { streamWrite: scrub },
  };
  return pino(options, destination ?? createLogOutput(process.stdout.fd));
}
