import { hashTypedData } from 'viem';
import { hashTypedPayload } from '../../../src/chain/typedData';

const payloadOf = (text: string) =>
  JSON.stringify({
    types: { Note: [{ name: 'text', type: 'string' }] },
    primaryType: 'Note',
    domain: {},
    message: { text },
  });
const digestOf = (payload: string) => hashTypedData(JSON.parse(payload));

it('is the digest of the payload, the first time and again, however many there are and however long they are', () => {
  const short = Array.from({ length: 1_100 }, (_, index) => payloadOf(`note ${index}`));
  const long = ['a', 'b'].map((end) => payloadOf('x'.repeat(20_000) + end));
  const payloads = [...short, ...long];
  for (const payload of [...payloads, ...payloads]) expect(hashTypedPayload(payload)).toBe(digestOf(payload));
});

it('is computed once, also of a long payload', () => {
  const payload = payloadOf('y'.repeat(260_000));
  // The shortest of some times: a processor that does something else meanwhile is not what is measured.
  const shortest = (run: () => void, times: number) =>
    Math.min(
      ...Array.from({ length: times }, () => {
        const began = performance.now();
        run();
        return performance.now() - began;
      }),
    );
  const once = shortest(() => digestOf(payload), 3);
  hashTypedPayload(payload);
  expect(shortest(() => hashTypedPayload(payload), 5)).toBeLessThan(once / 5);
});

it('throws each time for what is not typed data', () => {
  for (const payload of ['', '{}', '', '{}']) expect(() => hashTypedPayload(payload)).toThrow();
});
