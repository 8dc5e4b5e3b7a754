import { defaultPayloadConverter } from '@temporalio/common';
import { traceparentIn, traceparentOf, withTraceparent } from '../../../src/temporal/traceHeader';

const [TRACE, SPAN] = ['1'.repeat(32), '2'.repeat(16)];
const TRACEPARENT = `00-${TRACE}-${SPAN}-01`;

it('a trace is read as it was passed on', () => {
  expect(traceparentIn(withTraceparent({}, TRACEPARENT))).toBe(TRACEPARENT);
  expect(traceparentIn({})).toBeUndefined();
});

it.each([
  ['another value', { traceparent: 'x' }],
  ['another type', { traceparent: 1 }],
  ['another shape', null],
])('a header with %s is ignored: anybody who reaches Temporal can send one', (_name, value) => {
  expect(traceparentIn({ '_tracer-data': defaultPayloadConverter.toPayload(value) })).toBeUndefined();
});

it('a header that cannot be read is ignored', () => {
  const payload = { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('{') };
  expect(traceparentIn({ '_tracer-data': payload })).toBeUndefined();
  expect(traceparentIn({ '_tracer-data': {} })).toBeUndefined();
});

it.each([
  ['the version ff', `ff-${TRACE}-${SPAN}-01`],
  ['a trace of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
  ['a span of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
  ['capital letters', `00-${'A'.repeat(32)}-${SPAN}-01`],
  ['something after it', `${TRACEPARENT}2`],
  ['no flags', `00-${TRACE}-${SPAN}`],
])('a traceparent with %s is none (W3C Trace Context)', (_name, text) => {
  expect(traceparentOf(text)).toBeUndefined();
});

it('a traceparent of a later version is read as far as it is known', () => {
  expect(traceparentOf(`01-${TRACE}-${SPAN}-01-more`)).toBe(`01-${TRACE}-${SPAN}-01`);
});
