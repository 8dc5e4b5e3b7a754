import type { Command } from 'commander';
import { createChainClients } from '../chain/clients';
import { type Config, ConfigError } from '../config';
import { listRelayers } from '../db/chain';
import type { CommandContext, Within } from './context';
import { lookAtBlockTime, lookAtClock } from './doctor/clocks';
import { lookAtDatabase, lookAtWork } from './doctor/database';
import { type Finding, fail, look, ok } from './doctor/finding';
import { lookAtKeystore } from './doctor/keystore';
import { lookAtNetwork, lookAtRelayers } from './doctor/networks';
import { lookAtReconciler, lookAtWorkflows } from './doctor/reconciler';
import { lookAtApi, lookAtReadiness } from './doctor/service';
import { lookAtTemporal } from './doctor/temporal';
import { lookAtAccountNonces, lookAtRelayerNonces, lookAtTransactions } from './doctor/transactions';
import { CommandRefused } from './output';
import { count, table } from './text';

const NODE_TODO = 'see the log of the node at its rpcUrl (NETWORKS_FILE)';

async function examine({ db, sender }: CommandContext, config: Config): Promise<Finding[]> {
  const chains = [...createChainClients(config.networks).values()];
  const onNetworks = async (part: string, work: (chain: (typeof chains)[number]) => Promise<Finding[]>) => {
    const perNetwork = chains.map((chain) =>
      look(`${part} ${chain.network.id}`, NODE_TODO, () => work(chain)),
    );
    return (await Promise.all(perNetwork)).flat();
  };

  const fromDatabase = async (): Promise<Finding[]> => {
    const database = await look('database', 'start Postgres, or correct DATABASE_URL', () =>
      lookAtDatabase(db()),
    );
    // Without it nothing can be said of what is in it.
    if (database.some(({ status }) => status === 'fail')) return database;
    const relayers = await listRelayers(db());
    const more = await Promise.all([
      look('clock', 'see the database above', () => lookAtClock(db())),
      onNetworks('clock', (chain) => lookAtBlockTime(chain, db())),
      onNetworks('relayer', (chain) => lookAtRelayers(chain, relayers)),
      onNetworks('nonces', (chain) => lookAtRelayerNonces(chain, db(), relayers)),
      onNetworks('accounts', (chain) => lookAtAccountNonces(chain, db())),
      look('work', 'see the database above', () => lookAtWork(db())),
      look('transactions', 'see the database above', () => lookAtTransactions(db())),
      look('workflows', 'see temporal above', () => lookAtWorkflows(db(), sender(), config)),
      look('keystore', 'correct KEYSTORE_FILE and its passphrase', () =>
        lookAtKeystore(config.keystore, relayers),
      ),
    ]);
    return [...database, ...more.flat()];
  };

  const groups = await Promise.all([
    look('service', 'start it: npm start', () => lookAtReadiness(config)),
    look('api', 'start it: npm start', () => lookAtApi(config)),
    look('temporal', 'start Temporal, or correct TEMPORAL_ADDRESS', () =>
      lookAtTemporal(sender(), config.temporal),
    ),
    look('reconciler', 'see temporal above', () => lookAtReconciler(sender(), config)),
    onNetworks('network', lookAtNetwork),
    fromDatabase(),
  ]);
  return groups.flat();
}

function words(findings: readonly Finding[]): string {
  const lines = table(
    ['', '', ''],
    findings.map(({ status, part, found }) => [status, part, found]),
    '',
  )
    .split('\n')
    .slice(1);
  return findings
    .flatMap(({ todo }, index) => [lines[index] ?? '', ...(todo ? [`      → ${todo}`] : [])])
    .join('\n');
}

/** `doctor`. */
export function doctorCommand(program: Command, within: Within): void {
  program
    .command('doctor')
    .description('Look at every part: what is reachable, versions, chain heads, relayer funds, stuck work')
    .action((_options: object, command: Command) =>
      within(command, async (context) => {
        const versions = ok('orgwallet', `version ${program.version()}, Node ${process.versions.node}`);
        let findings: Finding[];
        try {
          context.databaseUrl();
          const config = context.config();
          findings = [versions, ...(await examine(context, config))];
        } catch (error) {
          if (!(error instanceof ConfigError)) throw error;
          findings = [versions, fail('settings', error.message, 'correct this setting')];
        }
        const failed = findings.filter(({ status }) => status === 'fail').length;
        const warned = findings.filter(({ status }) => status === 'warn').length;
        context.output.result(findings, words(findings));
        if (failed > 0) throw new CommandRefused(`${count(failed, 'check has', 'checks have')} failed`);
        if (warned > 0) context.output.note(`${count(warned, 'thing', 'things')} to look at`);
      }),
    );
}
