import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../src/config';
import { ConfigError } from '../../src/configError';
import { armFailpoint, failpoint, withFailpoints } from '../../src/failpoints';

const networksFile = join(tmpdir(), `orgwallet-networks-${process.pid}.json`);
writeFileSync(networksFile, JSON.stringify([{ id: 1, name: 'One', rpcUrl: 'http://127.0.0.1:1' }]));
const settings = { DATABASE_URL: 'postgres://localhost/x', NETWORKS_FILE: networksFile };

let kill: jest.SpyInstance;
beforeEach(() => {
  kill = jest.spyOn(process, 'kill').mockReturnValue(true);
});
afterEach(() => {
  kill.mockRestore();
  armFailpoint(undefined);
});

describe('a failpoint', () => {
  it('does nothing while none is armed', () => {
    failpoint('api.answerStored');
    expect(kill).not.toHaveBeenCalled();
  });

  it('kills the process at the armed place and at no other', () => {
    armFailpoint('api.answerStored');
    failpoint('api.requestStored');
    expect(kill).not.toHaveBeenCalled();
    failpoint('api.answerStored');
    expect(kill).toHaveBeenCalledWith(process.pid, 'SIGKILL');
  });

  it('kills it at the n-th time', () => {
    armFailpoint('api.answerStored#3');
    failpoint('api.answerStored');
    failpoint('api.answerStored');
    expect(kill).not.toHaveBeenCalled();
    failpoint('api.answerStored');
    expect(kill).toHaveBeenCalledTimes(1);
  });

  it('waits for its signal, if configured', () => {
    armFailpoint('api.answerStored#2@SIGUSR2');
    for (let time = 0; time < 3; time += 1) failpoint('api.answerStored');
    expect(kill).not.toHaveBeenCalled();
    process.emit('SIGUSR2');
    failpoint('api.answerStored');
    expect(kill).not.toHaveBeenCalled();
    failpoint('api.answerStored');
    expect(kill).toHaveBeenCalledTimes(1);
  });

  it('exists before and after every activity', async () => {
    const run = async (point: string) => {
      armFailpoint(point);
      kill.mockImplementation(() => {
        throw new Error('killed');
      });
      const done: string[] = [];
      const { sign } = withFailpoints('worker', { sign: async (id: string) => done.push(id) });
      await expect(sign('one')).rejects.toThrow('killed');
      return done;
    };
    expect(await run('worker.sign:before')).toEqual([]);
    expect(await run('worker.sign:after')).toEqual(['one']);
  });

  it('leaves activities as they are while none is armed', () => {
    const activities = { sign: async () => 1 };
    expect(withFailpoints('worker', activities)).toBe(activities);
  });
});

describe('TEST_FAILPOINT', () => {
  it('is read as a setting', () => {
    const config = loadConfig({ ...settings, TEST_FAILPOINT: 'worker.recordVote:after#2' });
    expect(config.testFailpoint).toBe('worker.recordVote:after#2');
  });

  it('is refused in production', () => {
    const env = { ...settings, NODE_ENV: 'production', TEST_FAILPOINT: 'api.answerStored' };
    expect(() => loadConfig(env)).toThrow(ConfigError);
    expect(() => loadConfig(env)).toThrow(/TEST_FAILPOINT: .*production/);
  });

  it('is refused when it names nothing', () => {
    expect(() => loadConfig({ ...settings, TEST_FAILPOINT: 'api.answerStored#0' })).toThrow(ConfigError);
    expect(() => loadConfig({ ...settings, TEST_FAILPOINT: 'api.answerStored@SIGKILL' })).toThrow(
      ConfigError,
    );
  });
});
