// Exports spans to a collector and stops, in a process of its own: jest cannot load what the exporter imports. Prints what
// it logs, and the `traceparent` of its last span.
const { join } = require('node:path');
const built = (module) => require(join(__dirname, '..', '..', 'dist', 'src', module));
const { createLifetime } = built('lifetime');
const { createLogger } = built('logging');
const { startTracer } = built('openTelemetry');

async function main([endpoint, parent]) {
  const print = (line) => process.stdout.write(line);
  const logger = createLogger('info', { write: print });
  const lifetime = createLifetime(logger);
  const tracing = { endpoint, headers: { 'x-key': 'secret' } };
  const tracer = startTracer({ tracing, roles: ['chain'] }, logger, lifetime);
  const outer = tracer.begin('outer', { parent, attributes: { count: 1, absent: undefined } });
  outer.begin('inner', { kind: 'client' }).end(new TypeError('a message'));
  outer.end();
  outer.end();
  const times = { beganAtMs: 1_000, endedAtMs: 2_000, attributes: {} };
  tracer.record({ name: 'elsewhere', parent: outer.traceparent, id: '3'.repeat(16), ...times });
  await lifetime.stop();
  print(`${outer.traceparent}\n`);
  process.exit();
}

main(process.argv.slice(2));
