import type { Config } from './config';
import { ConfigError } from './configError';
import type { CertificateFiles } from './healthMetrics';
import { SIGNER_APART, sharesSigner } from './signerApart';

/** The login of the service. Throws ConfigError when it is not set. */
export function serviceDatabaseUrl({ databaseUrl }: Config): string {
  if (databaseUrl === undefined) throw new ConfigError('DATABASE_URL', 'is required');
  return databaseUrl;
}

/** The login of the signer. Throws ConfigError when it is not set. */
export function signerDatabaseUrl({ signerDatabaseUrl: url }: Config): string {
  if (url === undefined) throw new ConfigError('SIGNER_DATABASE_URL', 'is required for the role signer');
  return url;
}

/** Throws ConfigError for roles that must not be one process in production. */
export function assertRoles({ production, roles }: Pick<Config, 'production' | 'roles'>): void {
  if (production && sharesSigner(roles)) throw new ConfigError('ORGWALLET_ROLES', SIGNER_APART);
}

/** The files of certificates that a process with these settings uses: its own, and those of authorities that it trusts. */
export function certificateFiles({
  roles,
  tlsEndsAtProxy,
  tls,
  temporal,
  ...config
}: Config): CertificateFiles {
  const urls = [config.databaseUrl, config.signerDatabaseUrl, config.listenDatabaseUrl];
  const ofDatabase = (name: string) =>
    urls.flatMap((url) => (url && URL.canParse(url) ? new URL(url).searchParams.getAll(name) : []));
  const present = (...files: readonly (string | undefined)[]) => [
    ...new Set(files.filter((file) => file !== undefined)),
  ];
  const https = roles.includes('api') && !tlsEndsAtProxy ? tls.certFile : undefined;
  return {
    chains: present(https, temporal.tls?.certFile, ...ofDatabase('sslcert')),
    authorities: present(temporal.tls?.caFile, ...ofDatabase('sslrootcert')),
  };
}
