import { withNewest, withOlder } from '../../../console/src/domain/auditEntries.ts';

const entries = (cursor: string | undefined, ...ids: readonly string[]) => ({
  entries: ids.map((id) => ({ id })),
  cursor,
});

describe('entries of the audit log', () => {
  it('stay where newer ones are read', () => {
    const before = entries('3', '5', '4', '3');
    expect(withNewest(entries('4', '6', '5', '4'), before)).toEqual(entries('3', '6', '5', '4', '3'));
    expect(withNewest(entries('3', '5', '4', '3'), before)).toEqual(before);
  });

  it('are only the newest where others may be missing in between', () => {
    const newest = entries('7', '9', '8', '7');
    expect(withNewest(newest, entries('3', '5', '4', '3'))).toEqual(newest);
    expect(withNewest(newest, undefined)).toEqual(newest);
  });

  it('are followed by older ones, unless they have begun anew meanwhile', () => {
    const older = entries(undefined, '2', '1');
    expect(withOlder(entries('3', '4', '3'), older, '3')).toEqual(entries(undefined, '4', '3', '2', '1'));
    expect(withOlder(entries('8', '9', '8'), older, '3')).toEqual(entries('8', '9', '8'));
  });
});
