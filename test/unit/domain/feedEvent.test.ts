import fc from 'fast-check';
import type { JsonValue } from '../../../src/domain/canonicalJson';
import { EVENT_TYPES, eventTypes, SHOWN_DETAILS } from '../../../src/domain/eventTypes';
import { CURSORS, cursorText, readCursors } from '../../../src/domain/feedCursor';
import { type FeedEntry, feedEvent } from '../../../src/domain/feedEvent';

const hash = fc.stringMatching(/^[0-9a-f]{64}$/);
const entry: fc.Arbitrary<FeedEntry> = fc.record({
  organizationId: fc.string(),
  id: fc.string(),
  position: fc.bigInt(1n, 10n ** 18n - 1n),
  action: fc.oneof(fc.constantFrom(...eventTypes), fc.constantFrom('toString', 'member.renamed', '')),
  actor: fc.constant({ type: 'member' as const, id: 'mem_1', name: 'Ada', walletAddress: '0x' }),
  resourceType: fc.constantFrom('proposal', 'session', 'constructor'),
  resourceId: fc.string(),
  details: fc.dictionary(
    fc.oneof(fc.constantFrom(...SHOWN_DETAILS), fc.constantFrom('summary', 'after', 'nonce', 'origin')),
    fc.jsonValue() as fc.Arbitrary<JsonValue>,
  ),
  createdAt: fc.date({ noInvalidDate: true }),
  previousHash: hash,
  hash,
});

describe('the event of an audit entry', () => {
  it('shows the details that its type lists, and no other', () => {
    fc.assert(
      fc.property(entry, (one) => {
        const { data, type, position } = feedEvent(one);
        const listed: readonly string[] = Object.hasOwn(EVENT_TYPES, type)
          ? EVENT_TYPES[type as keyof typeof EVENT_TYPES]
          : [];
        expect(data).toEqual(
          Object.fromEntries(Object.entries(one.details).filter(([field]) => listed.includes(field))),
        );
        expect(position).toBe(String(one.position));
      }),
    );
  });

  it('has a path where its resource has one', () => {
    const [one] = fc.sample(entry, 1);
    const of = (resourceType: string) =>
      feedEvent({ ...(one as FeedEntry), resourceType, resourceId: 'x_1' });
    expect(of('policy').resource).toEqual({ type: 'policy', id: 'x_1', uri: '/api/v1/policies/x_1' });
    expect(of('session').resource).toEqual({ type: 'session', id: 'x_1' });
  });
});

describe('a cursor', () => {
  it('is read as it was written, alone and with others', () => {
    const place = fc.record({ position: fc.bigInt(0n, 10n ** 18n - 1n), hash });
    fc.assert(
      fc.property(fc.array(place, { minLength: 1, maxLength: 40 }), (places) => {
        const text = places.map(cursorText).join();
        expect(text).toMatch(CURSORS);
        expect(readCursors(text)).toEqual(places);
      }),
    );
    expect(readCursors('12')).toEqual([{ position: 12n, hash: null }]);
  });

  it.each([
    '',
    '-1',
    '01',
    '1,2',
    `1-${'a'.repeat(63)}`,
    `1-${'A'.repeat(64)}`,
    `1-${'a'.repeat(64)},2`,
    '1e3',
  ])('is not %j', (text) => expect(text).not.toMatch(CURSORS));
});
