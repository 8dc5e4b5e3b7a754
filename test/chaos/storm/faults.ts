import { readFileSync, rmSync, statSync } from 'node:fs';
import type { Role } from '../../../src/config';
import { rpc } from '../../support/stack';
import { until } from '../../support/until';
import { limitFiles, processTree, signalAll } from './processes';
import type { Supervised } from './supervised';
import { type OwnChain, type OwnParts, type StormWorld, stateFile } from './world';

/** Something that goes wrong for a while. */
export interface Fault {
  /** Its kind: recovery is reported per kind. */
  readonly name: string;
  /** What it strikes; two faults at once strike two parts. */
  readonly part: string;
  /** How long it may last at most, in milliseconds. */
  readonly mostMs: number;
  /** It begins only while payments are made: nothing else may have failed before. */
  readonly needsLoad?: true;
  begin(): Promise<void>;
  /** Everything runs again when it resolves. */
  end(): Promise<void>;
}

const LONG_MS = 8_000;
const SHORT_MS = 3_000;
const STEP_MS = 10 * 60_000;
const REORGANIZED_BLOCKS = 5;
/** Room that a full disk leaves in a file: a line is torn. */
const ROOM_BYTES = 300;

const ROLE_NAMES: { readonly [role in Role]: string } = {
  api: 'API',
  worker: 'worker',
  chain: 'chain worker',
  signer: 'signer',
};

function roleOf({ process: { config } }: Supervised): Role {
  return config.roles[0] as Role;
}

/** A signal that stops processes, and the one that lets them go on. */
function frozen(name: string, part: string, pids: () => readonly number[]): Fault {
  let stopped: readonly number[] = [];
  return {
    name: `SIGSTOP of ${name}`,
    part,
    mostMs: LONG_MS,
    async begin() {
      stopped = pids();
      signalAll(stopped, 'SIGSTOP');
    },
    async end() {
      signalAll(stopped, 'SIGCONT');
    },
  };
}

function serviceFaults(one: Supervised): Fault[] {
  const name = `the ${ROLE_NAMES[roleOf(one)]}`;
  return [
    {
      name: `SIGKILL of ${name}`,
      part: one.name,
      mostMs: SHORT_MS,
      async begin() {
        one.hold();
        await one.kill();
      },
      end: () => one.release(),
    },
    frozen(name, one.name, () => [one.process.pid]),
  ];
}

/** Kills a chain between two writes of its state: a half-written one is not a state of a chain. It loses up to a second. */
async function killChain(chain: OwnChain): Promise<void> {
  const { chainId } = chain.current;
  await until(`the state of chain ${chainId} is written`, async () => {
    chain.freeze();
    try {
      JSON.parse(readFileSync(stateFile(chain), 'utf8'));
    } catch (error) {
      chain.thaw();
      throw error;
    }
    return true;
  });
  await chain.kill();
}

/** Starts a chain again, which goes on beyond the blocks that it has lost. */
async function startChain(chain: OwnChain): Promise<void> {
  await chain.start();
  await rpc(chain.current.rpcUrl, 'anvil_mine', ['0x20']);
}

async function blockNumber({ current: { rpcUrl } }: OwnChain): Promise<number> {
  return Number(await rpc<string>(rpcUrl, 'eth_blockNumber'));
}

/** The chain loses its last blocks, with what the load has put into them; others take their place. */
function reorganized(id: number, chain: OwnChain): Fault {
  let snapshot = '';
  let before = 0;
  return {
    name: `a reorganization by ${REORGANIZED_BLOCKS} blocks`,
    part: `network ${id}`,
    mostMs: 0,
    needsLoad: true,
    async begin() {
      before = await blockNumber(chain);
      snapshot = await rpc(chain.current.rpcUrl, 'evm_snapshot');
      await until('there are blocks to lose', async () => {
        return (await blockNumber(chain)) >= before + REORGANIZED_BLOCKS;
      });
    },
    async end() {
      const { rpcUrl } = chain.current;
      if (!(await rpc(rpcUrl, 'evm_revert', [snapshot]))) throw new Error('the chain has lost nothing');
      await rpc(rpcUrl, 'evm_increaseTime', [7]);
      await rpc(rpcUrl, 'anvil_mine', [`0x${REORGANIZED_BLOCKS.toString(16)}`]);
    },
  };
}

function chainFaults(id: number, chain: OwnChain): Fault[] {
  return [
    {
      name: 'SIGKILL of a chain',
      part: `network ${id}`,
      mostMs: SHORT_MS,
      begin: () => killChain(chain),
      end: () => startChain(chain),
    },
    frozen('a chain', `network ${id}`, () => [chain.current.part.pid]),
    reorganized(id, chain),
  ];
}

function temporalFaults({ temporal, temporalFile }: OwnParts): Fault[] {
  const common = { part: 'Temporal', begin: () => temporal.kill() };
  return [
    { ...common, name: 'SIGKILL of Temporal', mostMs: SHORT_MS, end: () => temporal.start() },
    frozen('Temporal', 'Temporal', () => [temporal.current.part.pid]),
    {
      ...common,
      name: 'Temporal loses its data',
      mostMs: 0,
      async end() {
        for (const suffix of ['', '-wal', '-shm']) rmSync(`${temporalFile}${suffix}`, { force: true });
        await temporal.start();
      },
    },
  ];
}

/** SIGKILL of Postgres and of all its backends. */
async function killPostgres({ postgres }: OwnParts): Promise<void> {
  const { part } = postgres.current;
  signalAll(processTree(part.pid), 'SIGKILL');
  await part.exited;
}

function postgresFaults(world: StormWorld, own: OwnParts): Fault[] {
  const { postgres, proxy } = own;
  const pids = () => processTree(postgres.current.part.pid);
  return [
    {
      name: 'SIGKILL of Postgres with its backends',
      part: 'Postgres',
      mostMs: SHORT_MS,
      begin: () => killPostgres(own),
      end: () => postgres.start(),
    },
    frozen('Postgres with its backends', 'Postgres', pids),
    {
      name: 'Postgres vanishes without closing a connection',
      part: 'Postgres',
      mostMs: LONG_MS,
      begin: async () => proxy.vanish(),
      end: async () => proxy.appear(),
    },
    {
      name: 'the disk of Postgres is full',
      part: 'Postgres',
      mostMs: LONG_MS,
      begin: async () => limitFiles(pids(), ROOM_BYTES),
      async end() {
        limitFiles(pids(), 'unlimited');
        // It may end while nothing can be written, or be about to.
        await until('Postgres serves again', async () => {
          if (!postgres.current.part.isRunning()) await postgres.start();
          return (await world.api.db.raw('SELECT 1')).rows.length === 1;
        });
      },
    },
  ];
}

function clockFault(world: StormWorld, aheadMs: number): Fault {
  const sign = aheadMs > 0 ? 'plus' : 'minus';
  return {
    name: `the service's clock steps by ${sign} 10 minutes and back`,
    part: 'clock',
    mostMs: LONG_MS,
    begin: async () => world.stepClock(aheadMs),
    end: async () => world.stepClock(0),
  };
}

function diskFaults(services: readonly Supervised[]): Fault[] {
  const signers = services.filter((one) => roleOf(one) === 'signer');
  const others = () => services.filter((one) => roleOf(one) !== 'signer').map(({ process: { pid } }) => pid);
  let limited: readonly number[] = [];
  return [
    ...signers.map((one) => ({
      name: "the disk of the signer's journal is full",
      part: one.name,
      mostMs: 0,
      needsLoad: true as const,
      async begin() {
        one.hold();
        limitFiles([one.process.pid], statSync(one.process.config.journalFile).size + ROOM_BYTES);
        await one.ended();
      },
      end: () => one.release(),
    })),
    {
      name: 'the disk of the logs is full',
      part: 'logs',
      mostMs: LONG_MS,
      async begin() {
        limited = others();
        limitFiles(limited, 0);
      },
      end: async () => limitFiles(limited, 'unlimited'),
    },
  ];
}

/** SIGKILL of everything at once. */
function powerCut(world: StormWorld): Fault {
  const { services, chains, own } = world;
  return {
    name: 'a power cut of everything',
    part: 'everything',
    mostMs: 0,
    async begin() {
      for (const one of services) one.hold();
      const killed = own ? [killPostgres(own), own.temporal.kill()] : [];
      await Promise.all([
        ...services.map((one) => one.kill()),
        ...[...chains.values()].map(killChain),
        ...killed,
      ]);
    },
    async end() {
      const started = own ? [own.postgres.start(), own.temporal.start()] : [];
      await Promise.all([...[...chains.values()].map(startChain), ...started]);
      await Promise.all(services.map((one) => one.release()));
    },
  };
}

/** Two faults of different parts, of which the second comes while the first lasts. */
export function twoAtOnce(first: Fault, second: Fault): Fault {
  return {
    name: `two at once: ${first.name}, ${second.name}`,
    part: 'two',
    mostMs: Math.max(first.mostMs, second.mostMs),
    async begin() {
      await first.begin();
      await second.begin();
    },
    async end() {
      await Promise.all([first.end(), second.end()]);
    },
  };
}

/** SIGKILL and SIGSTOP of the processes of the service, and of its chains. */
export function processFaults({ services, chains }: StormWorld): Fault[] {
  return [
    ...services.flatMap(serviceFaults),
    ...[...chains].flatMap(([id, chain]) => chainFaults(id, chain).slice(0, 2)),
  ];
}

/** Everything that can go wrong by itself. */
export function everyFault(world: StormWorld): Fault[] {
  const { services, chains, own } = world;
  return [
    ...services.flatMap(serviceFaults),
    ...[...chains].flatMap(([id, chain]) => chainFaults(id, chain)),
    ...(own ? [...postgresFaults(world, own), ...temporalFaults(own)] : []),
    ...diskFaults(services),
    clockFault(world, STEP_MS),
    clockFault(world, -STEP_MS),
    powerCut(world),
  ];
}
