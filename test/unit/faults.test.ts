import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, loadConfig } from '../../src/config';
import { armFaultPoint, faultPoint, withFaultPoints } from '../../src/faults';

const networksFile = join(tmpdir(), `orgwallet-networks-${process.pid}.json`);
writeFileSync(networksFile, JSON.stringify([{ id: 1, name: 'One', rpcUrl: 'http://127.0.0.1:1' }]));
const settings = { DATABASE_URL: 'postgres://localhost/x', NETWORKS_FILE: networksFile };

let kill: jest.SpyInstance;
beforeEach(() => {
  kill = jest.spyOn(process, 'kill').mockReturnValue(true);
});
afterEach(() => {
  kill.mockRestore();
  armFaultPoint(undefined);
});

describe('a fault point', () => {
  it('does nothing while none is armed', () => {
    faultPoint('api.answerStored');
    expect(kill).not.toHaveBeenCalled();
  });

  it('kills the process at the armed place and at no other', () => {
    armFaultPoint('api.answerStored');
    faultPoint('api.requestStored');
    expect(kill).not.toHaveBeenCalled();
    faultPoint('api.answerStored');
    expect(kill).toHaveBeenCalledWith(process.pid, 'SIGKILL');
  });

  it('kills it at the n-th time', () => {
    armFaultPoint('api.answerStored#3');
    faultPoint('api.answerStored');
    faultPoint('api.answerStored');
    expect(kill).not.toHaveBeenCalled();
    faultPoint('api.answerStored');
    expect(kill).toHaveBeenCalledTimes(1);
  });

  it('waits for its signal, when it is told to', () => {
    armFaultPoint('api.answerStored#2@SIGUSR2');
    for (let time = 0; time < 3; time += 1) faultPoint('api.answerStored');
    expect(kill).not.toHaveBeenCalled();
    process.emit('SIGUSR2');
    faultPoint('api.answerStored');
    expect(kill).not.toHaveBeenCalled();
    faultPoint('api.answerStored');
    expect(kill).toHaveBeenCalledTimes(1);
  });

  it('stands before and after every activity', async () => {
    const run = async (point: string) => {
      armFaultPoint(point);
      kill.mockImplementation(() => {
        throw new Error('killed');
      });
      const done: string[] = [];
      const { sign } = withFaultPoints('worker', { sign: async (id: string) => done.push(id) });
      await expect(sign('one')).rejects.toThrow('killed');
      return done;
    };
    expect(await run('worker.sign:before')).toEqual([]);
    expect(await run('worker.sign:after')).toEqual(['one']);
  });

  it('leaves activities as they are while none is armed', () => {
    const activities = { sign: async () => 1 };
    expect(withFaultPoints('worker', activities)).toBe(activities);
  });
});

describe('TEST_FAULT_POINT', () => {
  it('is read as a setting', () => {
    const config = loadConfig({ ...settings, TEST_FAULT_POINT: 'worker.recordVote:after#2' });
    expect(config.testFaultPoint).toBe('worker.recordVote:after#2');
  });

  it('is refused in production', () => {
    const env = { ...settings, NODE_ENV: 'production', TEST_FAULT_POINT: 'api.answerStored' };
    expect(() => loadConfig(env)).toThrow(ConfigError);
    expect(() => loadConfig(env)).toThrow(/TEST_FAULT_POINT: .*production/);
  });

  it('is refused when it names nothing', () => {
    expect(() => loadConfig({ ...settings, TEST_FAULT_POINT: 'api.answerStored#0' })).toThrow(ConfigError);
    expect(() => loadConfig({ ...settings, TEST_FAULT_POINT: 'api.answerStored@SIGKILL' })).toThrow(
      ConfigError,
    );
  });
});
