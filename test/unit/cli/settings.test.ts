import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandSettings } from '../../../src/cli/settings';
import { projectRoot } from '../../../src/projectRoot';

describe('the settings of a command', () => {
  const dataDir = () => mkdtempSync(join(tmpdir(), 'orgwallet-cli-'));
  function dataDirOf(stack: object): string {
    const dir = dataDir();
    writeFileSync(join(dir, 'stack.json'), JSON.stringify(stack));
    return dir;
  }

  it('are those that a running npm start has left in its data folder, under the environment', () => {
    const dir = dataDirOf({ DATABASE_URL: 'postgres://stack/d', TEMPORAL_ADDRESS: 'stack:1' });
    expect(commandSettings({ ORGWALLET_DATA_DIR: dir, TEMPORAL_ADDRESS: 'own:2' })).toEqual({
      ORGWALLET_DATA_DIR: dir,
      DATABASE_URL: 'postgres://stack/d',
      TEMPORAL_ADDRESS: 'own:2',
    });
  });

  it('are the environment alone when nothing runs, or its file is broken', () => {
    const dir = dataDir();
    expect(commandSettings({ ORGWALLET_DATA_DIR: dir })).toEqual({ ORGWALLET_DATA_DIR: dir });
    writeFileSync(join(dir, 'stack.json'), '{');
    expect(commandSettings({ ORGWALLET_DATA_DIR: dir })).toEqual({ ORGWALLET_DATA_DIR: dir });
  });

  it('do not count an empty setting of the environment', () => {
    const dir = dataDirOf({ DATABASE_URL: 'postgres://stack/d' });
    expect(commandSettings({ ORGWALLET_DATA_DIR: dir, DATABASE_URL: '' }).DATABASE_URL).toBe(
      'postgres://stack/d',
    );
  });

  it('have the login that owns the tables, unless a database is set that may be another one', () => {
    const dir = dataDirOf({ DATABASE_URL: 'postgres://stack/d' });
    writeFileSync(join(dir, 'owner.json'), JSON.stringify({ MIGRATION_DATABASE_URL: 'postgres://owner/d' }));
    const ownerWith = (env: object) =>
      commandSettings({ ORGWALLET_DATA_DIR: dir, ...env }).MIGRATION_DATABASE_URL;
    expect(ownerWith({})).toBe('postgres://owner/d');
    expect(ownerWith({ MIGRATION_DATABASE_URL: 'postgres://own/d' })).toBe('postgres://own/d');
    expect(ownerWith({ DATABASE_URL: 'postgres://other/d' })).toBeUndefined();
    expect(ownerWith({ SIGNER_DATABASE_URL: 'postgres://other/d' })).toBeUndefined();
    expect(ownerWith({ NODE_ENV: 'production' })).toBeUndefined();
  });

  it('are the environment alone in production, so that no command reaches a demo by mistake', () => {
    const dir = dataDirOf({ DATABASE_URL: 'postgres://stack/d' });
    const settings = commandSettings({ ORGWALLET_DATA_DIR: dir, NODE_ENV: 'production' });
    expect(settings).not.toHaveProperty('DATABASE_URL');
  });

  it('have relative paths seen from the project folder, as the service sees them', () => {
    const settings = commandSettings({ NETWORKS_FILE: 'networks.json', TLS_CERT_FILE: '/etc/cert.pem' });
    expect(settings.NETWORKS_FILE).toBe(join(projectRoot(), 'networks.json'));
    expect(settings.TLS_CERT_FILE).toBe('/etc/cert.pem');
    expect(settings.ORGWALLET_DATA_DIR).toBe(join(projectRoot(), '.data'));
  });
});
