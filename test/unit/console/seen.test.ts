import type { Payloads } from '@orgwallet/client';
import { hasChanged, seenOf, seenWith } from '../../../console/src/domain/seen.ts';

type Message = { readonly [field: string]: string };

/** Payloads by vote: what their messages say, and digests that follow from it. */
const payloads = (votes: { readonly [vote: string]: Message }) =>
  Object.fromEntries(
    Object.entries(votes).map(([vote, message]) => [
      vote,
      { digest: `${vote} ${JSON.stringify(message)}`, typedData: { domain: { chainId: 1 }, message } },
    ]),
  ) as unknown as Payloads;
const pay = { to: '0x1', amount: '5' };
const bound = { ...pay, initiatorSignatureHash: '0xaa' };

describe('what was read of a request', () => {
  const read = seenOf(payloads({ approve: bound, reject: bound }));

  it('is the same when it is read again, closed, or asked for in a further way', () => {
    expect(hasChanged(read, seenOf(payloads({ reject: bound, approve: bound })))).toBe(false);
    expect(hasChanged(read, seenOf({}))).toBe(false);
    expect(hasChanged(seenOf({}), read)).toBe(false);
    expect(hasChanged(seenOf(payloads({ initiator: pay })), read)).toBe(false);
  });

  it('has changed with anything that would be signed', () => {
    const other = { ...bound, to: '0x2' };
    expect(hasChanged(read, seenOf(payloads({ approve: other, reject: other })))).toBe(true);
    expect(hasChanged(seenOf(payloads({ initiator: pay })), seenOf(payloads({ approve: other })))).toBe(true);
    const rebound = { ...bound, initiatorSignatureHash: '0xbb' };
    expect(hasChanged(read, seenOf(payloads({ approve: rebound, reject: rebound })))).toBe(true);
  });

  it('stays known while there is nothing to sign, and with what has come', () => {
    const other = seenOf(payloads({ approve: { ...bound, amount: '6' } }));
    expect(hasChanged(seenWith(read, seenOf({})), other)).toBe(true);
    const more = seenWith(seenOf(payloads({ initiator: pay })), read);
    expect(Object.keys(more.digests)).toEqual(['initiator', 'approve', 'reject']);
    expect(hasChanged(more, read)).toBe(false);
  });
});
