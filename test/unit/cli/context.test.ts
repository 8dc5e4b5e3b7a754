import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandSettings } from '../../../src/cli/context';

describe('the settings of a command', () => {
  const dataDir = () => mkdtempSync(join(tmpdir(), 'orgwallet-cli-'));

  it('are those that a running npm start has left in its data folder, under the environment', () => {
    const dir = dataDir();
    writeFileSync(
      join(dir, 'stack.json'),
      JSON.stringify({ DATABASE_URL: 'postgres://stack/d', TEMPORAL_ADDRESS: 'stack:1' }),
    );
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
});
