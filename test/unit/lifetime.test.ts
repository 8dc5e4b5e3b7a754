import { createLifetime } from '../../src/lifetime';

const never = () => new Promise<void>(() => undefined);
const silent = { error: () => undefined };

describe('a lifetime', () => {
  it('stops in reverse order of the start, whatever fails or never ends, and says what', async () => {
    const stopped: string[] = [];
    const errors: string[] = [];
    const lifetime = createLifetime({
      error: ({ err }: { err: Error }) => void errors.push(err.message),
    } as unknown as Parameters<typeof createLifetime>[0]);
    lifetime.onStop('first', async () => void stopped.push('first'));
    lifetime.onStop('stuck', never, 20);
    lifetime.onStop('broken', () => Promise.reject(new Error('it is broken')));
    lifetime.onStop('thrown', () => {
      throw new Error('it throws');
    });
    lifetime.onStop('last', async () => void stopped.push('last'));
    await expect(lifetime.stop()).rejects.toThrow('it throws');
    expect(stopped).toEqual(['last', 'first']);
    expect(errors).toEqual(['it throws', 'it is broken', 'stuck did not stop within 0.02 s']);
  });

  it('keeps the first failure', async () => {
    const lifetime = createLifetime(silent as unknown as Parameters<typeof createLifetime>[0]);
    expect(lifetime.failure()).toBeUndefined();
    lifetime.fail(new Error('one'));
    lifetime.fail(new Error('two'));
    expect(lifetime.failure()?.message).toBe('one');
    expect((await lifetime.failed).message).toBe('one');
  });
});
