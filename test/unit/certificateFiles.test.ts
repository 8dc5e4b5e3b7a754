import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { loadConfig } from '../../src/config';
import { createMetrics } from '../../src/metrics';
import { certificateFiles } from '../../src/roleSettings';

const folder = mkdtempSync(join(tmpdir(), 'orgwallet-certificates-'));
afterAll(() => rmSync(folder, { recursive: true }));

const networks = join(folder, 'networks.json');
writeFileSync(networks, JSON.stringify([{ id: 1, name: 'One', rpcUrl: 'https://rpc.example' }]));

const certificate = async (at: number) =>
  (await generate([{ name: 'commonName', value: 'x' }], { notAfterDate: new Date(at * 1_000) })).cert;

/** The metric of a set of files, by file. */
async function expiries(files: ReturnType<typeof certificateFiles>) {
  const metrics = createMetrics(['api']);
  metrics.watchCertificates(files);
  const found = await metrics.registry
    .getSingleMetric('orgwallet_certificate_expiry_timestamp_seconds')
    ?.get();
  return Object.fromEntries(found?.values.map(({ labels, value }) => [labels.file, value]) ?? []);
}

it('names each certificate that the settings of a process name', () => {
  const config = (env: NodeJS.ProcessEnv) =>
    certificateFiles(loadConfig({ NETWORKS_FILE: networks, ...env }));
  expect(
    config({
      ORGWALLET_ROLES: 'api',
      TLS_CERT_FILE: '/tls.crt',
      TLS_KEY_FILE: '/tls.key',
      TEMPORAL_TLS_CERT_FILE: '/temporal.crt',
      TEMPORAL_TLS_KEY_FILE: '/temporal.key',
      TEMPORAL_TLS_CA_FILE: '/temporal-ca.crt',
      DATABASE_URL: 'postgres://a:b@db/x?sslmode=verify-full&sslrootcert=/db-ca.crt&sslcert=/db.crt',
    }),
  ).toEqual({
    chains: ['/tls.crt', '/temporal.crt', '/db.crt'],
    authorities: ['/temporal-ca.crt', '/db-ca.crt'],
  });
  expect(config({ ORGWALLET_ROLES: 'worker' })).toEqual({ chains: [], authorities: [] });
});

it('exports the first that expires of a chain, and the last of authorities, as the files are now', async () => {
  const [early, late] = [2_000_000_000, 2_100_000_000];
  const both = `${await certificate(late)}\n${await certificate(early)}\n`;
  const chain = join(folder, 'chain.pem');
  const authorities = join(folder, 'authorities.pem');
  writeFileSync(chain, both);
  writeFileSync(authorities, both);
  const files = { chains: [chain, join(folder, 'missing.pem')], authorities: [authorities] };
  expect(await expiries(files)).toEqual({ [chain]: early, [authorities]: late });
});

it('says nothing of a journal, a keystore or a relayer that a process does not have', async () => {
  const text = await createMetrics(['api']).exposition();
  for (const name of ['journal_disk_bytes', 'keystore_backup', 'part_up', 'relayer_payable']) {
    expect(text).not.toMatch(new RegExp(`^orgwallet_${name}\\S*[ {]`, 'm'));
  }
});
