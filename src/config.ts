import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { ConfigError } from './configError';
import { shortNameOf } from './domain/chainShortName';
import { isLoopback } from './domain/loopback';
import { MAX_RELAYERS } from './domain/network';
import { type MailSender, readMailSender } from './mail/mailAddress';
import { readSmtpServer, type SmtpServer } from './mail/smtpServer';
import { projectRoot } from './projectRoot';
import { hasSecret, readSecret, type Secret, SecretError, withSecrets } from './secrets';
import { SIGNER_APART, sharesSigner } from './signerApart';

/** A part of the service that a process can run. */
export type Role = 'api' | 'worker' | 'chain' | 'signer';

/** The native currency of a network, which pays for gas. */
interface NativeAsset {
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
}

/** A network that this installation uses, as NETWORKS_FILE describes it. */
export interface NetworkConfig {
  /** EIP-155 chain id. */
  readonly id: number;
  readonly name: string;
  /** Endpoints, at least one; the first that works answers. */
  readonly rpcUrls: readonly string[];
  /** Most calls in one HTTP request; absent: one. */
  readonly rpcBatchSize?: number | undefined;
  /**
   * The signer's own endpoints, which it asks about contract wallets; all of them must agree. Empty: it can verify none.
   */
  readonly signerRpcUrls: readonly string[];
  /** How many relayers pay; the accounts are spread over them. */
  readonly relayers: number;
  readonly nativeAsset: NativeAsset;
  /** Blocks on top of the one that holds a transaction before its outcome counts. */
  readonly confirmations: number;
  /** Ceiling for maxFeePerGas, in wei. */
  readonly maxFeePerGas: bigint;
  /** How a rollup charges for the data that it keeps on its L1; absent: it does not, or within its gas price. */
  readonly dataFee?: 'opStack' | 'arbitrum' | undefined;
  /** Before an address (EIP-3770); absent: that of the public list of chains, if it has one. */
  readonly shortName?: string | undefined;
  readonly explorerUrl?: string | undefined;
  /** An endpoint that wallets of members may use. */
  readonly walletRpcUrl?: string | undefined;
}

/** Every setting of the service, read once. */
export interface Config {
  readonly production: boolean;
  readonly dataDir: string;
  readonly roles: readonly Role[];
  /** Address or name of the interface that the API listens on; absent for all. */
  readonly httpsHost?: string;
  readonly httpsPort: number;
  readonly httpHost?: string;
  readonly httpPort: number;
  readonly tls: { readonly certFile: string; readonly keyFile: string };
  /** True in production without a certificate, behind a trusted proxy: then the service listens without TLS only. */
  readonly tlsEndsAtProxy: boolean;
  /** Addresses or CIDR blocks whose X-Forwarded-Proto and X-Forwarded-For count. */
  readonly trustedProxies: readonly string[];
  /** The origins under which people reach the API; without one they cannot sign in. */
  readonly origins: readonly string[];
  /** The folder of the built console. */
  readonly consoleDir: string;
  readonly ops: {
    readonly host: string;
    readonly port: number;
    /** Names in the Host header that the ops port accepts, besides IP addresses, localhost and `host`. */
    readonly allowedHosts: readonly string[];
  };
  /** The login of the service: every role but the signer, and operator commands. */
  readonly databaseUrl?: string;
  /** The login of the signer. */
  readonly signerDatabaseUrl?: string;
  /** Whether Postgres is reached through a pooler that gives each transaction another connection. */
  readonly throughPooler: boolean;
  /** Where notifications are listened for, past a pooler; absent: nowhere. */
  readonly listenDatabaseUrl?: string;
  readonly temporal: {
    readonly address: string;
    readonly namespace: string;
    /** Prefix of the task queues; keeps several installations apart on one namespace. */
    readonly taskQueue: string;
    /** The build of this process, under which Temporal gives its worker workflows; absent: builds are not distinguished. */
    readonly build?: { readonly deploymentName: string; readonly buildId: string };
    readonly apiKey?: string;
    readonly tls?: {
      readonly caFile?: string;
      readonly certFile?: string;
      readonly keyFile?: string;
      readonly serverName?: string;
    };
    readonly uiUrl?: string;
    /** The keys that encrypt what Temporal stores; absent: nothing is encrypted. */
    readonly payloadKeysFile?: string;
    /** The origin of the Temporal UI that may ask this process to decrypt payloads; absent: none. */
    readonly codecOrigin?: string;
  };
  readonly networks: readonly NetworkConfig[];
  readonly signerNetworkId: number;
  readonly tokenListFile?: string;
  /** Where prices come from, which are for display only; absent: there are none. */
  readonly prices?: { readonly file: string } | { readonly url: string };
  readonly keystore: {
    readonly file: string;
    readonly passphrase?: string;
    readonly passphraseFile?: string;
  };
  /** What the signer has authorized, apart from the database. */
  readonly journalFile: string;
  /** How long a process goes on after it was asked to stop, while it reports that it is not ready. */
  readonly shutdownDelayMs: number;
  readonly proposalLifetimeMs: number;
  /** How often every open proposal is compared with its workflow. */
  readonly reconcileEveryMs: number;
  readonly idempotencyRetentionMs: number;
  readonly rateLimit: { readonly perSecond: number; readonly burst: number };
  readonly maxOpenPerKey: number;
  /** Connections of one address, and requests in progress of one behind a trusted proxy. */
  readonly maxConnectionsPerAddress: number;
  /** Activities that one process works on at once, of each queue: the signer's own, and one per network and role. */
  readonly activitySlots: number;
  /** Connections to Postgres of the service's login. */
  readonly databasePool: number;
  /** Gas ceiling of one chain transaction. */
  readonly maxGas: bigint;
  /** What the envelopes of an organization on a network may cost per hour, in wei. */
  readonly gasBudgetPerHour: bigint;
  /** Private ranges (CIDR) that webhooks may lead to all the same. */
  readonly webhookAllowedRanges: readonly string[];
  /** What sends mail, and who it comes from; absent: nothing does. */
  readonly mail?: { readonly server: SmtpServer; readonly from: MailSender };
  readonly logLevel: string;
  /** Where traces are exported to by OTLP over HTTP; absent: nothing is traced. */
  readonly tracing?: { readonly endpoint: string; readonly headers: { readonly [name: string]: string } };
  /** The point at which this process kills itself, for crash tests; see failpoints.ts. Not allowed in production. */
  readonly testFailpoint?: string;
}

const DURATION_UNITS_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Parses `7d`, `24h`, `15m`, `90s` or `500ms` into milliseconds. Throws Error on anything else. */
export function parseDurationMs(text: string): number {
  const match = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text);
  const unit = match?.[2] as keyof typeof DURATION_UNITS_MS | undefined;
  if (!match?.[1] || !unit) {
    throw new Error(`invalid duration "${text}" (expected e.g. 90s, 15m, 7d)`);
  }
  return Number(match[1]) * DURATION_UNITS_MS[unit];
}

function isAddressOrBlock(text: string): boolean {
  if (ipaddr.isValid(text)) return true;
  try {
    // Express refuses to trust every address.
    return ipaddr.parseCIDR(text)[1] > 0;
  } catch {
    return false;
  }
}

const wholeNumber = z
  .string()
  .regex(/^\d{1,15}$/, 'must be a whole number')
  .transform(Number);
const port = wholeNumber.pipe(z.number().min(1).max(65_535));
const positive = wholeNumber.pipe(z.number().min(1));
const MIN_DURATION_MS = 1_000;
const MAX_DURATION_MS = 3_650 * DURATION_UNITS_MS.d;
const duration = z.string().transform((text, context) => {
  try {
    const ms = parseDurationMs(text);
    if (ms < MIN_DURATION_MS || ms > MAX_DURATION_MS) throw new Error('must be between 1s and 3650d');
    return ms;
  } catch (error) {
    context.addIssue({ code: 'custom', message: (error as Error).message });
    return z.NEVER;
  }
});
const list = z.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
);

const addressRange = z
  .string()
  .refine((text) => z.cidrv4().safeParse(text).success || z.cidrv6().safeParse(text).success, {
    error: ({ input }) => `"${input}" is not a range of addresses (expected e.g. 10.1.0.0/16)`,
  });

const addressOrBlock = z.string().refine(isAddressOrBlock, {
  error: ({ input }) => `"${input}" is neither an IP address nor a CIDR block`,
});

function originError({ input }: { readonly input?: unknown }): string {
  return `"${input}" is not an HTTPS origin (expected e.g. https://wallet.example.com)`;
}

const hostName = z
  .string()
  .toLowerCase()
  .regex(/^[a-z0-9_]([\w.-]*[a-z0-9_])?$/, {
    error: ({ input }) => `"${input}" is not a host name without port (expected e.g. orgwallet.internal)`,
  });

/** Where a port listens: an IP address, or a name that resolves to one of this machine. */
const bindHost = z.union([z.ipv4(), z.ipv6(), hostName], {
  error: ({ input }) => `"${input}" is neither an IP address nor a host name (expected e.g. 127.0.0.1, ::1)`,
});

/** Whoever changes an answer on its way would change what people see. */
function isPriceAddress(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(text));
}

// Without the address, which may have a key.
const priceAddressError = 'is not an https:// address (http:// only of this machine)';

/** As OpenTelemetry has it: `name=value,name=value`, values percent-encoded. */
const headerList = list.transform((parts, context) => {
  try {
    return Object.fromEntries(
      parts.map((part) => {
        const [, name, value = ''] = /^([\w-]+)\s*=\s*(.*)$/.exec(part) ?? [];
        if (name === undefined) throw new Error('it has no name');
        return [name, decodeURIComponent(value)];
      }),
    );
  } catch {
    // Without the value, which is a secret.
    context.addIssue({
      code: 'custom',
      message: 'is not a list of headers (expected e.g. x-api-key=secret)',
    });
    return z.NEVER;
  }
});

// What a signed text can name (EIP-4361) and a browser sends: no IPv6 address, no name without a dot.
const origin = z
  .url({
    protocol: /^https$/,
    hostname: /^(localhost|(\d{1,3}\.){3}\d{1,3}|([a-z0-9-]+\.)+[a-z]{2,})$/,
    error: originError,
  })
  .refine((text) => URL.canParse(text) && new URL(text).origin === text, { error: originError });

/**
 * Why the driver cannot take a connection string; undefined where it can. What it does not understand leads to 127.0.0.1. The
 * text has no part of the login.
 */
export function refusePostgresUrl(url: string): string | undefined {
  const [, authority] = /^postgres(?:ql)?:\/\/([^/?#]*)/.exec(url) ?? [];
  if (authority === undefined) return 'must begin with postgres:// or postgresql://';
  const server = authority.slice(authority.lastIndexOf('@') + 1);
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const hosts = parsed?.searchParams.get('host') ?? server;
  if (hosts.includes(',')) {
    return `lists several hosts (${hosts}), and the driver connects to one: use a name that always leads to the primary, such as that of a proxy or a virtual IP`;
  }
  if (!parsed)
    return `is not a URL (expected postgres://login:password@${server || 'host'}/database, with percent-encoded special characters)`;
  return hosts === '' ? 'names no host' : undefined;
}

const postgresUrl = z.string().superRefine((url, context) => {
  const message = refusePostgresUrl(url);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});

/** What a process runs unless ORGWALLET_ROLES names less. */
export const ALL_ROLES = ['api', 'worker', 'chain', 'signer'] as const satisfies readonly Role[];

const roles = list.pipe(z.array(z.enum(ALL_ROLES)).min(1)).default([...ALL_ROLES]);

/** Wei of an amount of ether with at most 18 decimals. Not viem's: it loads 400 files into every process that reads settings. */
function weiOf(ether: string): bigint {
  const [whole = '', decimals = ''] = ether.split('.');
  return BigInt(whole + decimals.padEnd(18, '0'));
}

const settings = z.object({
  NODE_ENV: z.string().optional(),
  ORGWALLET_DATA_DIR: z.string().default('.data'),
  ORGWALLET_ROLES: roles,
  HTTPS_HOST: bindHost.optional(),
  HTTPS_PORT: port.default(8443),
  HTTP_HOST: bindHost.optional(),
  HTTP_PORT: port.default(8080),
  TLS_CERT_FILE: z.string().optional(),
  TLS_KEY_FILE: z.string().optional(),
  TRUSTED_PROXIES: list.pipe(z.array(addressOrBlock)).default([]),
  ORIGINS: list.pipe(z.array(origin)).optional(),
  CONSOLE_DIR: z.string().optional(),
  OPS_HOST: bindHost.default('127.0.0.1'),
  OPS_PORT: port.default(9090),
  OPS_ALLOWED_HOSTS: list.pipe(z.array(hostName)).default([]),
  DATABASE_URL: postgresUrl.optional(),
  SIGNER_DATABASE_URL: postgresUrl.optional(),
  DATABASE_POOLER: z.enum(['none', 'transaction']).default('none'),
  DATABASE_LISTEN_URL: postgresUrl.optional(),
  TEMPORAL_ADDRESS: z.string().default('127.0.0.1:7233'),
  TEMPORAL_NAMESPACE: z.string().default('default'),
  TEMPORAL_TASK_QUEUE: z
    .string()
    .regex(/^[\w.-]+$/)
    .default('orgwallet'),
  // Temporal allows neither "." nor ":" in the name of a deployment, nor "__" at its beginning.
  TEMPORAL_DEPLOYMENT_NAME: z
    .string()
    .regex(/^(?!__)[\w/-]{1,200}$/, 'must consist of letters, digits, "_", "-" and "/"')
    .optional(),
  TEMPORAL_BUILD_ID: z
    .string()
    .regex(/^(?!__)[\w.+-]{1,200}$/, 'must consist of letters, digits, "_", ".", "+" and "-"')
    .optional(),
  TEMPORAL_API_KEY: z.string().optional(),
  TEMPORAL_TLS: z.enum(['true', 'false']).optional(),
  TEMPORAL_TLS_CA_FILE: z.string().optional(),
  TEMPORAL_TLS_CERT_FILE: z.string().optional(),
  TEMPORAL_TLS_KEY_FILE: z.string().optional(),
  TEMPORAL_TLS_SERVER_NAME: z.string().optional(),
  // Links of the console: no scheme that runs code.
  TEMPORAL_UI_URL: z
    .url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' })
    .optional(),
  TEMPORAL_PAYLOAD_KEYS_FILE: z.string().optional(),
  TEMPORAL_CODEC_ORIGIN: z
    .url({ protocol: /^https?$/ })
    .refine(
      (text) => new URL(text).origin === text,
      'must be an origin (expected e.g. https://temporal.example)',
    )
    .optional(),
  NETWORKS_FILE: z.string(),
  SIGNER_NETWORK: positive.optional(),
  TOKEN_LIST_FILE: z.string().optional(),
  PRICES_FILE: z.string().optional(),
  PRICES_URL: z.string().refine(isPriceAddress, priceAddressError).optional(),
  KEYSTORE_FILE: z.string().optional(),
  JOURNAL_FILE: z.string().optional(),
  KEYSTORE_PASSPHRASE: z.string().min(1).optional(),
  KEYSTORE_PASSPHRASE_FILE: z.string().optional(),
  SHUTDOWN_DELAY: z.union([z.literal('0s').transform(() => 0), duration]).default(0),
  PROPOSAL_LIFETIME: duration.default(parseDurationMs('7d')),
  RECONCILE_EVERY: duration.default(parseDurationMs('20s')),
  IDEMPOTENCY_RETENTION: duration.default(parseDurationMs('24h')),
  RATE_LIMIT_PER_SECOND: positive.default(100),
  RATE_LIMIT_BURST: positive.default(300),
  MAX_OPEN_PER_KEY: positive.default(1_000),
  MAX_CONNECTIONS_PER_ADDRESS: positive.default(1_000),
  ACTIVITY_SLOTS: positive.default(16),
  DATABASE_POOL: positive.default(20),
  MAX_GAS: z
    .string()
    .regex(/^\d{1,12}$/)
    .default('5000000'),
  GAS_BUDGET_PER_HOUR: z
    .string()
    .regex(/^\d{1,9}(\.\d{1,18})?$/, 'must be an amount of native currency (expected e.g. 10, 0.5)')
    .default('10')
    .transform(weiOf),
  WEBHOOK_ALLOWED_RANGES: list.pipe(z.array(addressRange)).optional(),
  SMTP_URL: z
    .string()
    .transform((text, context) => {
      try {
        return readSmtpServer(text);
      } catch (error) {
        context.addIssue({ code: 'custom', message: (error as Error).message });
        return z.NEVER;
      }
    })
    .optional(),
  MAIL_FROM: z
    .string()
    .transform((text, context) => {
      const from = readMailSender(text);
      if (from) return from;
      const message =
        'is not an address (expected e.g. wallet@example.com, or Acme wallets <wallet@example.com>)';
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    })
    .optional(),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  OTEL_EXPORTER_OTLP_HEADERS: headerList.default({}),
  TEST_FAILPOINT: z
    .string()
    .regex(/^[\w.:]+(#[1-9]\d*)?(@SIGUSR2)?$/, 'must be a name, or a name and #n for the n-th time')
    .optional(),
});

const nativeAssetSchema = z.union([
  z
    .string()
    .min(1)
    .transform((symbol) => ({ symbol, name: symbol === 'ETH' ? 'Ether' : symbol, decimals: 18 })),
  z
    .object({
      symbol: z.string().min(1),
      name: z.string().optional(),
      // Of every EVM: what is signed of an amount is written with them.
      decimals: z.literal(18).default(18),
    })
    .transform((asset) => ({
      symbol: asset.symbol,
      name: asset.name ?? asset.symbol,
      decimals: asset.decimals,
    })),
]);

const httpUrl = z.url({ protocol: /^https?$/ });
const httpUrls = z
  .array(httpUrl)
  .min(1)
  .refine((urls) => new Set(urls).size === urls.length, 'urls must be unique');

/** Endpoints by the path of their field. */
function endpointFields(fields: Record<string, string | readonly string[] | undefined>): [string, string][] {
  return Object.entries(fields).flatMap(([field, urls = []]): [string, string][] =>
    typeof urls === 'string' ? [[field, urls]] : urls.map((url, i) => [`${field}.${i}`, url]),
  );
}

const networksSchema = z
  .array(
    z.object({
      id: z.number().int().positive(),
      name: z.string().min(1),
      rpcUrl: httpUrl.optional(),
      rpcUrls: httpUrls.optional(),
      rpcBatchSize: z.number().int().min(1).max(1_000).optional(),
      signerRpcUrls: httpUrls.optional(),
      allowPlainHttp: z.boolean().default(false),
      relayers: z.number().int().min(1).max(MAX_RELAYERS).default(1),
      nativeAsset: nativeAssetSchema.default({ symbol: 'ETH', name: 'Ether', decimals: 18 }),
      confirmations: z.number().int().min(0).default(1),
      maxFeePerGas: z
        .union([z.string().regex(/^\d+$/), z.number().int().nonnegative().transform(String)])
        .default('500000000000')
        .transform((text) => BigInt(text)),
      dataFee: z.enum(['opStack', 'arbitrum']).optional(),
      shortName: z
        .string()
        .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, - or _')
        .optional(),
      explorerUrl: httpUrl.optional(),
      walletRpcUrl: httpUrl.optional(),
    }),
  )
  .min(1)
  .superRefine((networks, context) => {
    for (const [i, { rpcUrl, rpcUrls }] of networks.entries()) {
      if ((rpcUrl === undefined) !== (rpcUrls === undefined)) continue;
      const message = rpcUrl === undefined ? 'is required' : 'is set beside rpcUrl: only one of them can be';
      context.addIssue({ code: 'custom', path: [i, 'rpcUrls'], message });
    }
  })
  .refine(
    (networks) => new Set(networks.map((network) => network.id)).size === networks.length,
    'network ids must be unique',
  )
  .superRefine((networks, context) => {
    const names = networks.map(shortNameOf);
    for (const [i, name] of names.entries()) {
      if (name === undefined || names.indexOf(name) === i) continue;
      const message = `is the short name of network ${networks[names.indexOf(name)]?.id}`;
      context.addIssue({ code: 'custom', path: [i, 'shortName'], message });
    }
  });

type NetworkInput = z.output<typeof networksSchema>[number];

/** Throws ConfigError for an endpoint whose answers anybody on the way can change, unless its network allows it. */
function assertEncrypted(file: string, networks: readonly NetworkInput[]): void {
  for (const [i, { rpcUrl, rpcUrls, signerRpcUrls, allowPlainHttp }] of networks.entries()) {
    const urls = endpointFields({ rpcUrl, rpcUrls, signerRpcUrls });
    const plain = urls.find(([, url]) => new URL(url).protocol === 'http:' && !isLoopback(url));
    if (!plain || allowPlainHttp) continue;
    throw new ConfigError(
      'NETWORKS_FILE',
      `${file} at ${i}.${plain[0]}: must begin with https:// in production (or set allowPlainHttp of its network)`,
    );
  }
}

/**
 * Reads and checks a networks file. In production the signer's endpoints have no default, and plain HTTP is refused.
 * Throws ConfigError with the path of the bad field.
 */
export function readNetworks(
  file: string,
  { production = false }: { readonly production?: boolean } = {},
): readonly NetworkConfig[] {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new ConfigError('NETWORKS_FILE', `${file} cannot be read as JSON: ${(error as Error).message}`);
  }
  const parsed = networksSchema.safeParse(json);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new ConfigError('NETWORKS_FILE', `${file} at ${issue?.path.join('.') || 'top'}: ${issue?.message}`);
  }
  if (production) assertEncrypted(file, parsed.data);
  return parsed.data.map(({ allowPlainHttp: _, rpcUrl, rpcUrls, signerRpcUrls, ...network }) => {
    const endpoints = rpcUrls ?? (rpcUrl ? [rpcUrl] : []);
    const own = signerRpcUrls ?? (production ? [] : endpoints);
    return { ...network, rpcUrls: endpoints, signerRpcUrls: own };
  });
}

function asConfigError<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof SecretError) throw new ConfigError(error.setting, error.detail);
    throw error;
  }
}

/** A secret that is set itself or by its file. Throws ConfigError. */
export function secretSetting(env: NodeJS.ProcessEnv, name: Secret): string | undefined {
  return asConfigError(() => readSecret(env, name));
}

/** The settings without which production does not start, those that `env` lacks, each with its reason. */
export function missingInProduction(env: NodeJS.ProcessEnv): string[] {
  const missing: string[] = [];
  const roles = readRoles(env);
  if (sharesSigner(roles)) missing.push(`ORGWALLET_ROLES: ${SIGNER_APART}`);
  if (roles.some((role) => role !== 'signer') && !hasSecret(env, 'DATABASE_URL')) {
    missing.push("DATABASE_URL: the service's login to Postgres");
  }
  if (roles.includes('signer') && !hasSecret(env, 'SIGNER_DATABASE_URL')) {
    missing.push("SIGNER_DATABASE_URL: the signer's login to Postgres");
  }
  if (!env.TEMPORAL_ADDRESS) missing.push('TEMPORAL_ADDRESS: the Temporal frontend to use, host:port');
  if (!env.NETWORKS_FILE) missing.push('NETWORKS_FILE: the networks to use');
  if (roles.includes('signer') && !hasSecret(env, 'KEYSTORE_PASSPHRASE')) {
    missing.push('KEYSTORE_PASSPHRASE_FILE (or KEYSTORE_PASSPHRASE): the passphrase of the keystore');
  }
  if (roles.includes('api') && !env.TRUSTED_PROXIES && !(env.TLS_CERT_FILE && env.TLS_KEY_FILE)) {
    missing.push(
      'TLS_CERT_FILE and TLS_KEY_FILE (or TRUSTED_PROXIES, when a proxy terminates TLS): the certificate',
    );
  }
  return missing;
}

/** The host of a URL that reaches, from this machine, what listens on `host`: on all interfaces when it is absent. */
export function urlHost(host: string | undefined, local = '127.0.0.1'): string {
  if (host === undefined || host === '0.0.0.0' || host === '::') return local;
  return host.includes(':') ? `[${host}]` : host;
}

/** The roles that ORGWALLET_ROLES names, all by default. Throws ConfigError. */
export function readRoles(env: NodeJS.ProcessEnv): readonly Role[] {
  const parsed = roles.safeParse(env.ORGWALLET_ROLES || undefined);
  if (parsed.success) return parsed.data;
  throw new ConfigError('ORGWALLET_ROLES', parsed.error.issues[0]?.message ?? 'is invalid');
}

/** Drops keys whose value is undefined, so that optional properties stay absent. */
function defined<T extends object>(value: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(value).filter(([, v]) => v !== undefined)) as T;
}

type Settings = z.output<typeof settings>;

/** Throws ConfigError with the first invalid setting. */
function parseSettings(env: NodeJS.ProcessEnv): Settings {
  const present = Object.fromEntries(
    Object.entries(asConfigError(() => withSecrets(env))).filter(
      ([, value]) => value !== undefined && value !== '',
    ),
  );
  const parsed = settings.safeParse(present);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const setting = String(issue?.path[0] ?? 'settings');
  const missing = present[setting] === undefined;
  throw new ConfigError(setting, missing ? 'is required' : (issue?.message ?? 'is invalid'));
}

/** Throws ConfigError where one of two settings is set without the other, such as a certificate without a key. */
function assertPair(s: Settings, one: keyof Settings, other: keyof Settings): void {
  if ((s[one] === undefined) === (s[other] === undefined)) return;
  const missing = s[one] === undefined ? one : other;
  throw new ConfigError(missing, `${one} and ${other} must be set together`);
}

/** How Temporal is reached over TLS; undefined for plain connections. */
function temporalTls(s: Settings): Config['temporal']['tls'] {
  const details = defined<NonNullable<Config['temporal']['tls']>>({
    caFile: s.TEMPORAL_TLS_CA_FILE,
    certFile: s.TEMPORAL_TLS_CERT_FILE,
    keyFile: s.TEMPORAL_TLS_KEY_FILE,
    serverName: s.TEMPORAL_TLS_SERVER_NAME,
  });
  const detailed = Object.keys(details).length > 0;
  if (s.TEMPORAL_TLS === 'false' && detailed) {
    throw new ConfigError('TEMPORAL_TLS', 'is false, but other TEMPORAL_TLS settings are set');
  }
  return s.TEMPORAL_TLS === 'true' || detailed ? details : undefined;
}

/** The build under which the worker registers: of the deployment that is named, else of one named like the task queue. */
function temporalBuild(s: Settings): Config['temporal']['build'] {
  if (s.TEMPORAL_BUILD_ID === undefined) return undefined;
  const deploymentName = s.TEMPORAL_DEPLOYMENT_NAME ?? s.TEMPORAL_TASK_QUEUE.replaceAll('.', '-');
  return { deploymentName, buildId: s.TEMPORAL_BUILD_ID };
}

/** What sends mail. Throws ConfigError where only a half of it is set. */
function mailSettings(s: Settings): Pick<Config, 'mail'> {
  assertPair(s, 'SMTP_URL', 'MAIL_FROM');
  const { SMTP_URL: server, MAIL_FROM: from } = s;
  return server && from ? { mail: { server, from } } : {};
}

/** Where prices come from. Throws ConfigError where there are two places. */
function priceSettings({ PRICES_FILE: file, PRICES_URL: url }: Settings): Pick<Config, 'prices'> {
  if (file && url) throw new ConfigError('PRICES_URL', 'must not be set together with PRICES_FILE');
  if (file) return { prices: { file } };
  return url ? { prices: { url } } : {};
}

/** The network of contract signers: SIGNER_NETWORK, else the first of all. */
function signerNetwork(s: Settings, networks: readonly NetworkConfig[]): number {
  const ids = networks.map(({ id }) => id);
  const id = s.SIGNER_NETWORK ?? ids[0] ?? 0;
  if (!ids.includes(id)) {
    throw new ConfigError('SIGNER_NETWORK', `network ${id} is not configured (available: ${ids.join(', ')})`);
  }
  return id;
}

/** Where webhooks may lead to besides public addresses: in development, to this machine. */
function webhookRanges({ WEBHOOK_ALLOWED_RANGES: given }: Settings, production: boolean): readonly string[] {
  return given ?? (production ? [] : ['127.0.0.0/8', '::1/128']);
}

/** Where a browser on this machine reaches the API. */
function localOrigins(httpsPort: number): string[] {
  return ['localhost', '127.0.0.1'].map((host) => new URL(`https://${host}:${httpsPort}`).origin);
}

/**
 * Reads every setting from `env`, checks it and freezes the result. Empty settings count as absent.
 * Throws ConfigError that names the setting.
 */
export function loadConfig(env: NodeJS.ProcessEnv): Config {
  const s = parseSettings(env);
  const dataDir = resolve(s.ORGWALLET_DATA_DIR);
  const production = s.NODE_ENV === 'production';
  const throughPooler = s.DATABASE_POOLER === 'transaction';
  const networks = readNetworks(s.NETWORKS_FILE, { production });
  const keystoreFile = s.KEYSTORE_FILE ?? join(dataDir, 'keystore.json');
  assertPair(s, 'TLS_CERT_FILE', 'TLS_KEY_FILE');
  assertPair(s, 'TEMPORAL_TLS_CERT_FILE', 'TEMPORAL_TLS_KEY_FILE');
  if (s.TEST_FAILPOINT !== undefined && production) {
    throw new ConfigError('TEST_FAILPOINT', 'kills the process on purpose; not allowed in production');
  }
  return Object.freeze({
    production,
    dataDir,
    roles: s.ORGWALLET_ROLES,
    httpsPort: s.HTTPS_PORT,
    httpPort: s.HTTP_PORT,
    tls: {
      certFile: s.TLS_CERT_FILE ?? join(dataDir, 'tls', 'cert.pem'),
      keyFile: s.TLS_KEY_FILE ?? join(dataDir, 'tls', 'key.pem'),
    },
    tlsEndsAtProxy: production && s.TLS_CERT_FILE === undefined && s.TRUSTED_PROXIES.length > 0,
    trustedProxies: s.TRUSTED_PROXIES,
    origins: s.ORIGINS ?? (production ? [] : localOrigins(s.HTTPS_PORT)),
    consoleDir: resolve(s.CONSOLE_DIR ?? join(projectRoot(), 'console', 'dist')),
    ops: { host: s.OPS_HOST, port: s.OPS_PORT, allowedHosts: s.OPS_ALLOWED_HOSTS },
    ...defined<
      Pick<Config, 'httpsHost' | 'httpHost' | 'databaseUrl' | 'signerDatabaseUrl' | 'listenDatabaseUrl'>
    >({
      httpsHost: s.HTTPS_HOST,
      httpHost: s.HTTP_HOST,
      databaseUrl: s.DATABASE_URL,
      signerDatabaseUrl: s.SIGNER_DATABASE_URL,
      listenDatabaseUrl: s.DATABASE_LISTEN_URL ?? (throughPooler ? undefined : s.DATABASE_URL),
    }),
    throughPooler,
    temporal: defined<Config['temporal']>({
      address: s.TEMPORAL_ADDRESS,
      namespace: s.TEMPORAL_NAMESPACE,
      taskQueue: s.TEMPORAL_TASK_QUEUE,
      build: temporalBuild(s),
      apiKey: s.TEMPORAL_API_KEY,
      tls: temporalTls(s),
      uiUrl: s.TEMPORAL_UI_URL,
      payloadKeysFile: s.TEMPORAL_PAYLOAD_KEYS_FILE,
      codecOrigin: s.TEMPORAL_CODEC_ORIGIN,
    }),
    networks,
    signerNetworkId: signerNetwork(s, networks),
    ...(s.TOKEN_LIST_FILE ? { tokenListFile: s.TOKEN_LIST_FILE } : {}),
    ...priceSettings(s),
    keystore: defined<Config['keystore']>({
      file: keystoreFile,
      passphrase: s.KEYSTORE_PASSPHRASE,
      passphraseFile: s.KEYSTORE_PASSPHRASE_FILE,
    }),
    journalFile: s.JOURNAL_FILE ?? `${keystoreFile}.journal`,
    shutdownDelayMs: s.SHUTDOWN_DELAY,
    proposalLifetimeMs: s.PROPOSAL_LIFETIME,
    reconcileEveryMs: s.RECONCILE_EVERY,
    idempotencyRetentionMs: s.IDEMPOTENCY_RETENTION,
    rateLimit: { perSecond: s.RATE_LIMIT_PER_SECOND, burst: s.RATE_LIMIT_BURST },
    maxOpenPerKey: s.MAX_OPEN_PER_KEY,
    maxConnectionsPerAddress: s.MAX_CONNECTIONS_PER_ADDRESS,
    activitySlots: s.ACTIVITY_SLOTS,
    databasePool: s.DATABASE_POOL,
    maxGas: BigInt(s.MAX_GAS),
    gasBudgetPerHour: s.GAS_BUDGET_PER_HOUR,
    webhookAllowedRanges: webhookRanges(s, production),
    ...mailSettings(s),
    logLevel: s.LOG_LEVEL,
    ...(s.OTEL_EXPORTER_OTLP_ENDPOINT
      ? { tracing: { endpoint: s.OTEL_EXPORTER_OTLP_ENDPOINT, headers: s.OTEL_EXPORTER_OTLP_HEADERS } }
      : {}),
    ...(s.TEST_FAILPOINT ? { testFailpoint: s.TEST_FAILPOINT } : {}),
  });
}
