import { runProcess } from '../../src/runProcess';
import { startService } from '../../src/service';
import { demoWallets } from './demoWallets';
import { dataFiles } from './settings';

/** The service of `npm start` with a demo: its pages have the wallets of the demo, unless the database is one of production. */
void runProcess((config, logger, ending) => {
  if (config.production) return startService(config, logger, { ending });
  const { origins, dataDir } = config;
  const pageAddition = demoWallets({ demoFile: dataFiles(dataDir).demo, origins });
  return startService(config, logger, { pageAddition, ending });
});
