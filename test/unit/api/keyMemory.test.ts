import { createKeyMemory } from '../../../src/api/keyMemory';
import type { AuthenticatedKey } from '../../../src/db/apiKeys';

function setUp() {
  const world = { asked: 0, ms: 0, connected: true, valid: true, expiresAt: null as Date | null };
  let announce = () => {};
  const memory = createKeyMemory(
    async (): Promise<AuthenticatedKey | undefined> => {
      world.asked += 1;
      const { expiresAt } = world;
      return world.valid ? { apiKeyId: 'key_1', organizationId: 'org_1', expiresAt, members: [] } : undefined;
    },
    {
      subscribe: (_channel, _payload, listener) => {
        announce = listener;
        return () => {};
      },
      connected: () => world.connected,
    },
    () => world.ms,
  );
  return { world, memory, announce: () => announce() };
}

describe('an authenticated key', () => {
  it('is cached for a second', async () => {
    const { world, memory } = setUp();
    await memory('a');
    await memory('a');
    expect(world.asked).toBe(1);
    world.ms += 1_001;
    await memory('a');
    expect(world.asked).toBe(2);
  });

  it('is dropped when a change is announced', async () => {
    const { world, memory, announce } = setUp();
    await memory('a');
    world.valid = false;
    announce();
    expect(await memory('a')).toBeUndefined();
  });

  it('is not cached when a change is announced during its lookup', async () => {
    const { world, memory, announce } = setUp();
    const looking = memory('a');
    announce();
    await looking;
    world.valid = false;
    expect(await memory('a')).toBeUndefined();
  });

  it('is not cached without a connection for notifications', async () => {
    const { world, memory } = setUp();
    await memory('a');
    world.connected = false;
    await memory('a');
    await memory('a');
    expect(world.asked).toBe(3);
  });

  it('is not cached past its expiry', async () => {
    const { world, memory } = setUp();
    world.expiresAt = new Date(10);
    await memory('a');
    world.ms = 10;
    await memory('a');
    expect(world.asked).toBe(2);
  });
});
