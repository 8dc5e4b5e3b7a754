import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type OtlpReceiver, startOtlpReceiver } from '../support/otlpReceiver';

const TRACE_ID = '1'.repeat(32);
const CALLER = '2'.repeat(16);

let receiver: OtlpReceiver;
beforeEach(async () => {
  receiver = await startOtlpReceiver();
});
afterEach(() => receiver.stop());

/** Exports some spans in the trace of a caller, and stops. Returns what is logged, and the `traceparent` of the first. */
async function exportSpans(url: string, flags = '01'): Promise<{ logged: string[]; traceparent: string }> {
  const program = join(__dirname, '..', 'support', 'tracerProcess.js');
  const parent = `00-${TRACE_ID}-${CALLER}-${flags}`;
  const { stdout } = await promisify(execFile)(process.execPath, [program, `${url}/`, parent]);
  const lines = stdout.trim().split('\n');
  const traceparent = lines.pop() ?? '';
  return { logged: lines.map((line) => JSON.parse(line).msg), traceparent };
}

it('has what is left at a stop, in the trace of the caller, and no message of an error', async () => {
  const { logged, traceparent } = await exportSpans(receiver.url);
  const [inner, outer, elsewhere] = receiver.spans;
  expect(inner).toMatchObject({ name: 'inner', attributes: { 'error.type': 'TypeError' } });
  expect(outer).toMatchObject({ name: 'outer', parentSpanId: CALLER, attributes: { count: 1 } });
  expect(elsewhere).toMatchObject({ name: 'elsewhere', spanId: '3'.repeat(16) });
  expect(receiver.spans).toHaveLength(3);
  expect([inner?.parentSpanId, elsewhere?.parentSpanId]).toEqual([outer?.spanId, outer?.spanId]);
  expect(receiver.spans.map(({ traceId }) => traceId)).toEqual([TRACE_ID, TRACE_ID, TRACE_ID]);
  expect(traceparent).toBe(`00-${TRACE_ID}-${outer?.spanId}-01`);
  expect(receiver.text()).toContain('"x-key":"secret"');
  expect(receiver.text()).not.toContain('a message');
  expect(logged).toEqual([]);
});

it('has nothing of a trace that its caller does not sample', async () => {
  const { traceparent } = await exportSpans(receiver.url, '00');
  expect(traceparent).toMatch(new RegExp(`^00-${TRACE_ID}-[0-9a-f]{16}-00$`));
  expect(receiver.spans).toEqual([]);
});

it('does not hold up a stop when the collector does not answer: that ends before the export is given up', async () => {
  receiver.hang(true);
  const stopped = exportSpans(receiver.url);
  await expect(stopped).resolves.toMatchObject({ logged: [] });
  expect(receiver.hanging()).toBe(1);
});

it('is logged as failed when the collector refuses it', async () => {
  receiver.refuse(true);
  expect(await exportSpans(receiver.url)).toMatchObject({
    logged: ['traces cannot be exported: they are dropped'],
  });
});
