// Services of tests in one process: what they load takes longer than their start, and is loaded once. One message starts
// or stops a service and is answered by one. The process ends with the one that has started it.
const { openSync } = require('node:fs');
const { join } = require('node:path');
const { giveUpStorages } = require('./asyncStorages');

const built = (module) => require(join(__dirname, '..', '..', 'dist', 'src', module));
const { loadConfig } = built('config');
const { createLogger, createLogOutput } = built('logging');
const { startService } = built('service');

const services = new Map();

const calls = {
  async start({ service, env, logFile }) {
    const config = loadConfig(env);
    const output = createLogOutput(openSync(logFile, 'a', 0o600));
    services.set(service, await startService(config, createLogger(config.logLevel, output)));
  },
  async stop({ service }) {
    await services.get(service)?.stop();
    services.delete(service);
    if (services.size === 0) giveUpStorages();
  },
};

process.on('message', async ({ call, id, ...args }) => {
  const error = await calls[call](args).catch((thrown) => thrown?.stack ?? String(thrown));
  process.send({ id, error });
});
process.on('disconnect', () => process.exit());
