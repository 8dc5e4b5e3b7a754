import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../src/projectRoot';
import { type Part, startPart } from '../../tools/dev/parts';
import { type Outcome, spawned } from '../cli/command';

/** Folders that a host has of its own. Nobody else sees what is changed there. */
const OWN = { '/etc': 'etc', '/opt': 'opt', '/var/lib': 'lib' } as const;
const UNITS = '/etc/systemd/system';

/** A setting of a unit, with all the values that it is given; an empty one forgets those before it. */
type UnitSettings = ReadonlyMap<string, readonly string[]>;

function unitSettings(...files: readonly string[]): UnitSettings {
  const settings = new Map<string, string[]>();
  for (const [, name = '', value = ''] of files.join('\n').matchAll(/^(\w+)=(.*)$/gm)) {
    settings.set(name, value === '' ? [] : [...(settings.get(name) ?? []), value]);
  }
  return settings;
}

const variables = (text: string) =>
  Object.fromEntries([...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]));

/**
 * A host for the units of systemd: this machine, with a build in /opt/orgwallet, and with users, units and data of its own. It
 * has no manager: `start` does what the manager would do with a unit, by its settings. Needs root and Linux.
 */
export class UnitHost {
  constructor(private readonly folder: string) {
    for (const name of Object.values(OWN)) {
      for (const one of [name, `${name}.work`]) mkdirSync(join(folder, one), { recursive: true });
    }
    mkdirSync(this.here, { recursive: true });
  }

  /** The present folder of commands. */
  get here(): string {
    return join(this.folder, 'here');
  }

  /** Where a file of this host is for this process. */
  fileOf(path: string): string {
    const [place = '', name = ''] = Object.entries(OWN).find(([own]) => path.startsWith(`${own}/`)) ?? [];
    return join(this.folder, name, path.slice(place.length));
  }

  /** Runs commands as root. */
  run(commands: string): Promise<Outcome> {
    const lines = [...this.mounts(), `cd ${this.here}`, commands];
    // Without a manager, systemctl does what it does to files.
    return spawned({ SYSTEMD_OFFLINE: '1' }, 'unshare', ...this.shell(lines));
  }

  /** Starts what a unit starts: its user, its environment, its folders, its rights. */
  start(unit: string): Part {
    const settings = this.unit(unit);
    const only = (name: string) => settings.get(name)?.at(-1) ?? '';
    const user = only('User');
    const state = settings.get('StateDirectory') ?? [];
    const lines = [
      ...this.mounts(),
      `user=${user} group=$(id -gn ${user})`,
      ...state.flatMap((name) => [
        `install -d -m ${only('StateDirectoryMode')} -o $user -g $group /var/lib/${name}`,
        `mount --bind /var/lib/${name} /var/lib/${name}`,
      ]),
      // PrivateTmp, ProtectSystem=strict
      `cd ${only('WorkingDirectory')}`,
      'mount -t tmpfs -o mode=1777 tmpfs /tmp',
      `for place in / /opt/orgwallet ${Object.keys(OWN).join(' ')}; do mount -o remount,bind,ro $place; done`,
      `cd ${only('WorkingDirectory')}`,
      `umask ${only('UMask')}`,
      'exec setpriv --reuid $user --regid $group --init-groups --no-new-privs --bounding-set=-all --inh-caps=-all \\',
      `  /usr/bin/python3 test/support/systemCallFilter.py '${(settings.get('SystemCallFilter') ?? []).join(' ')}' \\`,
      `  '${only('RestrictAddressFamilies')}' ${only('ExecStart')}`,
    ];
    return startPart({
      name: unit,
      command: 'unshare',
      args: this.shell(lines),
      env: { PATH: process.env.PATH, HOME: '/', USER: user, LOGNAME: user, ...this.environment(settings) },
      logFile: join(this.folder, `${unit}.log`),
      stopSignal: 'SIGTERM',
      stopLimitMs: Number(only('TimeoutStopSec')) * 1_000,
    });
  }

  private unit(unit: string): UnitSettings {
    const folder = this.fileOf(UNITS);
    // Those of all units with the same prefix, in the order of their names.
    const more = join(folder, `${unit.slice(0, unit.indexOf('-') + 1)}.service.d`);
    const files = existsSync(more) ? readdirSync(more).toSorted() : [];
    const paths = [join(folder, `${unit}.service`), ...files.map((name) => join(more, name))];
    return unitSettings(...paths.map((path) => readFileSync(path, 'utf8')));
  }

  private environment(settings: UnitSettings): NodeJS.ProcessEnv {
    const files = settings.get('EnvironmentFile') ?? [];
    return {
      ...variables((settings.get('Environment') ?? []).join('\n')),
      ...variables(files.map((file) => readFileSync(this.fileOf(file), 'utf8')).join('\n')),
    };
  }

  private mounts(): string[] {
    const own = Object.entries(OWN).map(([place, name]) => {
      const upper = join(this.folder, name);
      return `mount -t overlay overlay -o lowerdir=${place},upperdir=${upper},workdir=${upper}.work ${place}`;
    });
    return [...own, 'mkdir -p /opt/orgwallet', `mount --bind ${projectRoot()} /opt/orgwallet`];
  }

  private shell(lines: readonly string[]): string[] {
    return [
      '--mount',
      '--propagation',
      'private',
      'bash',
      '--norc',
      '-euo',
      'pipefail',
      '-c',
      lines.join('\n'),
    ];
  }
}
