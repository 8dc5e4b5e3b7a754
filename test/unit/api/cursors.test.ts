import { createCursors } from '../../../src/api/cursors';
import { pageRequest } from '../../../src/api/pages';

const cursors = createCursors(Buffer.alloc(32, 7));
const scope = { organizationId: 'org_1', list: 'audit-logs' };
const cursor = cursors.write(scope, { action: 'proposal.signed' }, 123n);

describe('cursors', () => {
  it('carry position and filters', () => {
    expect(cursors.read(scope, cursor)).toEqual({ position: 123n, filters: { action: 'proposal.signed' } });
  });

  it('are refused with any character changed, added or removed', () => {
    for (let index = 0; index < cursor.length; index += 1) {
      const other = cursor[index] === 'A' ? 'B' : 'A';
      const tampered = cursor.slice(0, index) + other + cursor.slice(index + 1);
      expect(cursors.read(scope, tampered)).toBeUndefined();
    }
    expect(cursors.read(scope, `${cursor}A`)).toBeUndefined();
    expect(cursors.read(scope, `${cursor}=`)).toBeUndefined();
    expect(cursors.read(scope, cursor.slice(1))).toBeUndefined();
    expect(cursors.read(scope, 'nonsense')).toBeUndefined();
  });

  it('do not work in another organization, another list or another deployment', () => {
    expect(cursors.read({ ...scope, organizationId: 'org_2' }, cursor)).toBeUndefined();
    expect(cursors.read({ ...scope, list: 'proposals' }, cursor)).toBeUndefined();
    expect(createCursors(Buffer.alloc(32, 8)).read(scope, cursor)).toBeUndefined();
  });
});

describe('pageRequest', () => {
  const read = (query: { cursor?: string; limit?: number }, given = {}) =>
    pageRequest(cursors, scope, query, given, 20);

  it('begins at the newest row with the default size', () => {
    expect(read({})).toEqual({ limit: 20, filters: {} });
    expect(read({ cursor: '' })).toEqual({ limit: 20, filters: {} });
  });

  it('goes on with the filters of the cursor, repeated or not', () => {
    const expected = { before: 123n, limit: 5, filters: { action: 'proposal.signed' } };
    expect(read({ cursor, limit: 5 })).toEqual(expected);
    expect(read({ cursor, limit: 5 }, { action: 'proposal.signed' })).toEqual(expected);
  });

  it('refuses other filters than those of the cursor', () => {
    expect(() => read({ cursor }, { action: 'proposal.created' })).toThrow('action');
    expect(() => read({ cursor }, { resourceType: 'proposal' })).toThrow('resourceType');
  });
});
