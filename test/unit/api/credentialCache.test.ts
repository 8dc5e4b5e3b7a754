import { createCredentialCache } from '../../../src/api/credentialCache';
import type { Credential } from '../../../src/db/credentials';
import { ALL_RIGHTS } from '../../../src/domain/keyRights';

function setUp() {
  const world = {
    asked: 0,
    ms: 0,
    connected: true,
    valid: new Set('ab'),
    expiresAt: null as Date | null,
  };
  let announce = () => {};
  const cache = createCredentialCache(
    async (keys): Promise<ReadonlyMap<string, Credential>> => {
      world.asked += 1;
      const { expiresAt } = world;
      const found: Credential = {
        kind: 'apiKey',
        id: 'key_1',
        organizationId: 'org_1',
        rights: ALL_RIGHTS,
        expiresAt,
        members: [],
      };
      return new Map(keys.filter((key) => world.valid.has(key)).map((key) => [key, found]));
    },
    {
      subscribe: (_channel, _payload, listener) => {
        announce = listener;
        return () => {};
      },
      connected: () => world.connected,
    },
    { elapsedMs: () => world.ms, timeMs: () => world.ms },
  );
  return { world, cache, announce: () => announce() };
}

describe('an authenticated key', () => {
  it('is cached for a second', async () => {
    const { world, cache } = setUp();
    await cache('a');
    await cache('a');
    expect(world.asked).toBe(1);
    world.ms += 1_001;
    await cache('a');
    expect(world.asked).toBe(2);
  });

  it('is dropped when a change is announced', async () => {
    const { world, cache, announce } = setUp();
    await cache('a');
    world.valid.clear();
    announce();
    expect(await cache('a')).toBeUndefined();
  });

  it('is not cached when a change is announced during its lookup', async () => {
    const { world, cache, announce } = setUp();
    const looking = cache('a');
    announce();
    await looking;
    world.valid.clear();
    expect(await cache('a')).toBeUndefined();
  });

  it('is not cached without a connection for notifications', async () => {
    const { world, cache } = setUp();
    await cache('a');
    world.connected = false;
    await cache('a');
    await cache('a');
    expect(world.asked).toBe(3);
  });

  it('is not cached past its expiry', async () => {
    const { world, cache } = setUp();
    world.expiresAt = new Date(10);
    await cache('a');
    world.ms = 10;
    await cache('a');
    expect(world.asked).toBe(2);
  });
});

describe('keys that have not been valid before', () => {
  it('are looked up together, ten times per second at most', async () => {
    const { world, cache } = setUp();
    const startedMs = performance.now();
    for (let wave = 0; wave < 4; wave += 1) {
      await Promise.all(Array.from({ length: 500 }, (_, index) => cache(`invented ${wave} ${index}`)));
    }
    expect(world.asked).toBe(4);
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(290);
  });

  it('do not delay a key that has been valid, nor keep a valid key from being found', async () => {
    const { world, cache, announce } = setUp();
    await cache('a');
    const flood = Array.from({ length: 500 }, (_, index) => cache(`invented ${index}`));
    announce();
    expect(await cache('a')).toBeDefined();
    // The first lookup, and that of the known key; the flood still waits.
    expect(world.asked).toBe(2);
    expect(await cache('b')).toBeDefined();
    expect(await Promise.all(flood)).toEqual(flood.map(() => undefined));
    expect(world.asked).toBe(3);
  });

  it('include one that is no longer valid, and one works as soon as it is issued', async () => {
    const { world, cache, announce } = setUp();
    await cache('a');
    world.valid.delete('a');
    announce();
    expect(await cache('a')).toBeUndefined();
    const asked = world.asked;
    await Promise.all(Array.from({ length: 100 }, () => cache('a')));
    expect(world.asked).toBe(asked + 1);
    world.valid.add('a');
    expect(await cache('a')).toBeDefined();
  });
});
