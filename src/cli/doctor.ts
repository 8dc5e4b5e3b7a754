import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { type Address, formatUnits } from 'viem';
import { ask, createChainClients } from '../chain/clients';
import { lastBackup } from '../chain/keystore';
import { refuseNetwork } from '../chain/safe';
import type { Config } from '../config';
import { listRelayers } from '../db/chain';
import type { Db } from '../db/database';
import { migrations } from '../db/migrations';
import type { WorkflowSender } from '../temporal/client';
import { withContext } from './context';
import { CommandRefused, lacksSchema, table } from './output';

/** One thing that was looked at. */
interface Finding {
  readonly part: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly found: string;
  /** What to do about it; absent when there is nothing to do. */
  readonly todo?: string;
}

const CHECK_LIMIT_MS = 6_000;
const STUCK_SECONDS = 30;
const MIGRATE = 'npx orgwallet db migrate';
/** A relayer should be able to pay for so many transactions at the gas and fee ceilings. */
const RELAYER_RESERVE_TRANSACTIONS = 10n;

const ok = (part: string, found: string): Finding => ({ part, status: 'ok', found });
const warn = (part: string, found: string, todo: string): Finding => ({ part, status: 'warn', found, todo });
const fail = (part: string, found: string, todo: string): Finding => ({ part, status: 'fail', found, todo });

/** Runs a check that neither hangs nor throws. */
async function check(part: string, todo: string, look: () => Promise<Finding[]>): Promise<Finding[]> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${CHECK_LIMIT_MS} ms`)), CHECK_LIMIT_MS);
  });
  try {
    return await Promise.race([look(), limit]);
  } catch (error) {
    const { message } = error as Error;
    return [fail(part, message.split('\n')[0] || 'failed', lacksSchema(message) ? MIGRATE : todo)];
  } finally {
    clearTimeout(timer);
  }
}

async function database(db: Db): Promise<Finding[]> {
  const { rows } = await db.raw('SHOW server_version');
  const applied = new Set<string>(await db('schema_migrations').pluck('name'));
  const missing = migrations.filter(({ name }) => !applied.has(name)).map(({ name }) => name);
  return [
    ok('database', `Postgres ${rows[0]?.server_version}`),
    missing.length === 0
      ? ok('schema', `${applied.size} migrations applied`)
      : fail('schema', `missing: ${missing.join(', ')}`, MIGRATE),
  ];
}

async function temporal(sender: WorkflowSender, config: Config): Promise<Finding[]> {
  const { client, queues } = sender;
  const info = await client.withDeadline(Date.now() + CHECK_LIMIT_MS, () =>
    client.workflowService.getSystemInfo({}),
  );
  const findings = [ok('temporal', `server ${info.serverVersion} at ${config.temporal.address}`)];
  for (const [part, queue, type] of [
    ['worker', queues.workflows, 1],
    ['chain worker', queues.chain, 2],
    ['signer', queues.signer, 2],
  ] as const) {
    const { pollers } = await client.workflowService.describeTaskQueue({
      namespace: config.temporal.namespace,
      taskQueue: { name: queue },
      taskQueueType: type,
    });
    const recent = (pollers ?? []).filter(
      ({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * 1_000 > Date.now() - 120_000,
    );
    findings.push(
      recent.length > 0
        ? ok(part, `${recent.length} polling ${queue}`)
        : fail(part, `nobody polls ${queue}`, 'start a process whose ORGWALLET_ROLES names it'),
    );
  }
  return findings;
}

async function network(
  db: Db,
  config: Config,
  chain: Parameters<typeof refuseNetwork>[0],
): Promise<Finding[]> {
  const { id, name, nativeAsset, maxFeePerGas } = chain.network;
  const part = `network ${id}`;
  const [head, version, relayers] = await Promise.all([
    ask(chain, (rpc) => rpc.getBlockNumber()),
    ask(chain, (rpc) => rpc.request({ method: 'web3_clientVersion' })),
    // A database that is away has its own finding; the network may be there all the same.
    listRelayers(db, id).catch(() => []),
  ]);
  const refusal = await refuseNetwork(chain);
  const findings = [
    refusal
      ? fail(
          part,
          refusal,
          'deploy the canonical Safe 1.4.1 contracts there, or take it out of NETWORKS_FILE',
        )
      : ok(part, `${name}, block ${head}, ${version}`),
  ];
  for (const { address } of relayers) {
    const balance = await ask(chain, (rpc) => rpc.getBalance({ address: address as Address }));
    const text = `${address} has ${formatUnits(balance, nativeAsset.decimals)} ${nativeAsset.symbol}`;
    const reserve = config.maxGas * maxFeePerGas * RELAYER_RESERVE_TRANSACTIONS;
    findings.push(
      balance === 0n
        ? fail(`relayer ${id}`, text, `send ${nativeAsset.symbol} to ${address} on ${name}`)
        : balance < reserve
          ? warn(
              `relayer ${id}`,
              `${text}, running low`,
              `send ${nativeAsset.symbol} to ${address} on ${name}`,
            )
          : ok(`relayer ${id}`, text),
    );
  }
  return findings;
}

async function stuckWork(db: Db): Promise<Finding[]> {
  const processing = await db('proposals')
    .where({ execution_status: 'processing' })
    .whereRaw(`updated_at < now() - make_interval(secs => ${STUCK_SECONDS})`)
    .pluck('id');
  const failed = await db('proposals')
    .whereIn('execution_status', ['failed', 'blocked'])
    .where({ closed_at: null })
    .pluck('id');
  const overdue = await db('proposals')
    .where({ closed_at: null, expired_at: null })
    .whereRaw(`execution_status IS DISTINCT FROM 'processing'`)
    .whereRaw(`expires_at < now() - make_interval(secs => ${STUCK_SECONDS})`)
    .pluck('id');
  const unanswered = await db('idempotency_requests')
    .where({ answered_at: null })
    .whereRaw(`lease_until < now() - make_interval(secs => ${STUCK_SECONDS})`)
    .pluck('id');
  const seen = (part: string, ids: string[], what: string, todo: string): Finding =>
    ids.length === 0
      ? ok(part, 'none')
      : warn(
          part,
          `${ids.length} ${what}: ${ids.slice(0, 5).join(', ')}${ids.length > 5 ? ', …' : ''}`,
          todo,
        );
  return [
    seen('executions', processing, `for more than ${STUCK_SECONDS} s`, 'npx orgwallet proposals show <id>'),
    seen('failures', failed, 'wait for a retry', 'npx orgwallet proposals show <id>, then retry <id>'),
    seen('expiries', overdue, 'are past their expiry and not closed', 'is a worker running? see above'),
    seen('requests', unanswered, 'have no answer', 'nothing: the same X-Idempotency-Key finishes them'),
  ];
}

function keystore(config: Config): Finding[] {
  const { file } = config.keystore;
  if (!existsSync(file)) return [warn('keystore', `no ${file} here`, 'run doctor where the signer runs')];
  const at = lastBackup(file);
  return [
    at === null
      ? warn(
          'keystore',
          `${file} has no backup`,
          'npx orgwallet keystore backup: a lost keystore is lost money',
        )
      : ok('keystore', `${file}, last backup ${at}`),
  ];
}

/** `doctor`. */
export function doctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('Look at every part: what is reachable, versions, chain heads, relayer funds, stuck work')
    .action((_options: object, command: Command) =>
      withContext(command, async ({ config, db, sender, output }) => {
        const chains = [...createChainClients(config.networks).values()];
        const findings = (
          await Promise.all([
            Promise.resolve([ok('node', process.version)]),
            check('database', 'start Postgres, or mend DATABASE_URL', () => database(db())),
            check('temporal', 'start Temporal, or mend TEMPORAL_ADDRESS', () => temporal(sender(), config)),
            ...chains.map((chain) =>
              check(`network ${chain.network.id}`, 'start it, or mend its rpcUrl in NETWORKS_FILE', () =>
                network(db(), config, chain),
              ),
            ),
            check('stuck work', 'see the database above', () => stuckWork(db())),
            Promise.resolve(keystore(config)),
          ])
        ).flat();
        output.result(
          findings,
          table(
            ['', 'part', 'found', 'to do'],
            findings.map(({ status, part, found, todo }) => [status, part, found, todo ?? '']),
            '',
          ),
        );
        const broken = findings.filter(({ status }) => status === 'fail').length;
        if (broken > 0) throw new CommandRefused(`${broken} of ${findings.length} checks failed`);
      }),
    );
}
