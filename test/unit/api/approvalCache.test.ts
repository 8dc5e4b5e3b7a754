import { createApprovalCache } from '../../../src/api/approvalCache';

/** One approval that is stored, shown as its summary. */
function setUp({ compare = false } = {}) {
  const stored = {
    record: { id: 'prop_1', summary: 'Create the account' },
    tag: '1',
    isCacheable: true,
    onLoaded: () => {},
    onTags: () => {},
  };
  const count = { tags: 0, loads: 0 };
  const readTags = async () => {
    count.tags += 1;
    stored.onTags();
    return new Map([[stored.record.id, stored.tag]]);
  };
  const show = createApprovalCache(readTags, { compare });
  const read = () =>
    show('the approval', {
      load: async () => {
        count.loads += 1;
        const { record, tag } = stored;
        stored.onLoaded();
        return { record, tag };
      },
      show: ({ record }) => record.summary,
      isCacheable: () => stored.isCacheable,
    });
  const change = (summary: string, tag = stored.tag) =>
    Object.assign(stored, { record: { ...stored.record, summary }, tag });
  return { stored, count, read, change };
}

test('an approval that is as it was is made once, however many ask for it', async () => {
  const { count, read } = setUp();
  const text = '{"data":"Create the account"}';
  expect(await read()).toBe(text);
  expect(await Promise.all([read(), read(), read()])).toEqual([text, text, text]);
  expect(count).toEqual({ tags: 1, loads: 1 });
});

test('an approval with another tag is shown as it is now, and cached again', async () => {
  const { count, read, change } = setUp();
  await read();
  change('What it is now', '2');
  expect(await read()).toBe('{"data":"What it is now"}');
  expect(await read()).toBe('{"data":"What it is now"}');
  expect(count.loads).toBe(2);
});

test('a change during a read is shown by the next read', async () => {
  const { stored, read, change } = setUp();
  stored.onLoaded = () => change('Later', '2');
  expect(await read()).toBe('{"data":"Create the account"}');
  expect(await read()).toBe('{"data":"Later"}');
});

test.each<[string, (world: ReturnType<typeof setUp>) => unknown]>([
  ['is not cacheable', ({ stored }) => Object.assign(stored, { isCacheable: false, tag: '2' })],
  ['is long', ({ change }) => change('x'.repeat(20_000), '2')],
])('an approval that %s is made anew each time', async (_, alter) => {
  const world = setUp();
  await world.read();
  alter(world);
  await world.read();
  await world.read();
  expect(world.count.loads).toBe(3);
});

test('where tags cannot be read, an approval is made anew', async () => {
  const { stored, count, read } = setUp();
  await read();
  stored.onTags = () => {
    throw new Error('the connection is lost');
  };
  expect(await read()).toBe('{"data":"Create the account"}');
  expect(count).toEqual({ tags: 1, loads: 2 });
});

test('of more approvals than are cached, the one that was not asked for longest is made anew', async () => {
  let loads = 0;
  const show = createApprovalCache(async () => new Map([['prop_1', '1']]), { compare: false });
  const read = (key: string) =>
    show(key, {
      load: async () => {
        loads += 1;
        return { record: { id: 'prop_1' }, tag: '1' };
      },
      show: () => key,
      isCacheable: () => true,
    });
  for (let i = 0; i < 2_000; i += 1) expect(await read(`${i}`)).toBe(`{"data":"${i}"}`);
  await read('0');
  expect(loads).toBe(2_000);
  await read('another');
  await read('0');
  expect(loads).toBe(2_001);
  await read('1');
  expect(loads).toBe(2_002);
});

test('a response that differs while the tag is the same is found where they are compared', async () => {
  const { read, change } = setUp({ compare: true });
  await read();
  expect(await read()).toContain('Create the account');
  change('Changed without another tag');
  await expect(read()).rejects.toThrow('Changed without another tag');
});
