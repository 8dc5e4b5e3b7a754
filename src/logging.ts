import pino, { type Logger } from 'pino';

export type { Logger };

/** Where secrets can stand in what is logged; they are replaced before a line is written. */
export const REDACTED_PATHS = [
  'authorization',
  '*.authorization',
  'req.headers.authorization',
  'headers.authorization',
  'apiKey',
  '*.apiKey',
  'passphrase',
  '*.passphrase',
  'privateKey',
  '*.privateKey',
  'secret',
  '*.secret',
  'databaseUrl',
  '*.databaseUrl',
];

const API_KEY = /ow_live_[A-Za-z0-9_-]+/g;
const URL_PASSWORD = /(postgres(?:ql)?:\/\/[^:/\s]+:)[^@\s]+@/g;

/** Takes API keys and database passwords out of a text. */
export function scrub(text: string): string {
  return text.replace(API_KEY, 'ow_live_[redacted]').replace(URL_PASSWORD, '$1[redacted]@');
}

/** A structured logger (one JSON object a line). No line ever holds a secret: known fields and known forms are redacted. */
export function createLogger(level: string, destination?: pino.DestinationStream): Logger {
  const options: pino.LoggerOptions = {
    level,
    base: { service: 'orgwallet' },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: REDACTED_PATHS, censor: '[redacted]' },
    formatters: { level: (label) => ({ level: label }) },
    hooks: { streamWrite: scrub },
  };
  return destination ? pino(options, destination) : pino(options);
}
