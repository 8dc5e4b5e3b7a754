import { chmodSync, chownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { projectRoot } from '../../src/projectRoot';
import { type Part, startPart } from '../../tools/dev/parts';

// biome-ignore lint/suspicious/noExplicitAny: objects of Kubernetes
type KubernetesObject = any;

/** Stands for the root of the image, which has folders that this machine has not. */
const ROOT = '/mnt';

const decoded = (text: string) => Buffer.from(text, 'base64');

/**
 * The pod of a workload, as the kubelet runs it: with its variables, the files of its Secrets and volumes, its user and rights, on this
 * machine and its network. `orgwallet` and Node are those of this build. Needs root and Linux.
 */
export class PodHost {
  private readonly spec: KubernetesObject;
  private readonly container: KubernetesObject;

  constructor(
    private readonly folder: string,
    { spec }: KubernetesObject,
    private readonly secrets: readonly KubernetesObject[],
    /** Of this machine, instead of those of the pod, which has a network of its own. */
    private readonly ports: NodeJS.ProcessEnv,
  ) {
    this.spec = spec.template.spec;
    [this.container] = this.spec.containers;
    const claimed = (spec.volumeClaimTemplates ?? []).map(({ metadata }: KubernetesObject) => ({
      name: metadata.name,
    }));
    for (const volume of [...(this.spec.volumes ?? []), ...claimed]) this.makeVolume(volume);
    const programs = join(folder, 'bin');
    mkdirSync(programs);
    symlinkSync(join(projectRoot(), 'orgwallet'), join(programs, 'orgwallet'));
    symlinkSync(process.execPath, join(programs, 'node'));
    for (const { name, command } of this.spec.initContainers ?? []) {
      this.writeScript(this.script(name), command);
    }
    this.writeScript(this.program, undefined);
    this.writeScript(this.script('main'), this.container.command ?? ['node', 'dist/src/main.js']);
  }

  /** A program that runs its arguments in the container, as `kubectl exec` does. */
  get program(): string {
    return this.script('exec');
  }

  /** The programs of the init containers, in their order, and then that of the container. */
  get programs(): string[] {
    const init = (this.spec.initContainers ?? []).map(({ name }: KubernetesObject) => this.script(name));
    return [...init, this.script('main')];
  }

  /** Starts what its container runs. */
  start(): Part {
    return startPart({
      name: this.container.name,
      command: this.script('main'),
      args: [],
      env: { PATH: process.env.PATH },
      logFile: join(this.folder, 'log'),
      stopSignal: 'SIGTERM',
      stopLimitMs: this.spec.terminationGracePeriodSeconds * 1_000,
    });
  }

  /** Where a file of a volume is for this process. */
  fileOf(volume: string, ...path: string[]): string {
    return join(this.folder, 'volumes', volume, ...path);
  }

  private script(name: string): string {
    return join(this.folder, `${name}.sh`);
  }

  /** The Secret that a variable or a volume of the pod names. */
  private secret(name: string): KubernetesObject {
    const found = this.secrets.find(({ metadata }) => metadata.name === name);
    if (!found) throw new Error(`there is no Secret ${name}`);
    return found;
  }

  private makeVolume({ name, secret, projected }: KubernetesObject): void {
    const folder = this.fileOf(name);
    mkdirSync(folder, { recursive: true });
    const { runAsUser, fsGroup } = this.spec.securityContext;
    if (secret) {
      for (const [file, value] of Object.entries<string>(this.secret(secret.secretName).data)) {
        writeFileSync(join(folder, file), decoded(value), { mode: 0o644 });
      }
    } else if (projected) {
      for (const { secret: source } of projected.sources) {
        for (const { key, path } of source.items) {
          writeFileSync(join(folder, path), decoded(this.secret(source.name).data[key]), { mode: 0o644 });
        }
      }
    } else if (fsGroup) {
      chownSync(folder, 0, fsGroup);
      chmodSync(folder, 0o2775);
    } else {
      chownSync(folder, 0, runAsUser);
      chmodSync(folder, 0o777);
    }
  }

  private environment(): [string, string][] {
    const paths: string[] = this.container.volumeMounts.map(({ mountPath }: KubernetesObject) => mountPath);
    const here = (value: string) =>
      paths.some((path) => path !== '/tmp' && value.startsWith(`${path}/`)) ? `${ROOT}${value}` : value;
    const given: [string, string][] = this.container.env.map(({ name, value }: KubernetesObject) => [
      name,
      here(value),
    ]);
    // As the Dockerfile has them.
    const ofImage = { NODE_ENV: 'production', HOME: '/nonexistent', PATH: `${ROOT}/bin:/usr/bin:/bin` };
    const all = {
      ...ofImage,
      ORGWALLET_DATA_DIR: `${ROOT}/data`,
      ...Object.fromEntries(given),
      ...this.ports,
    };
    return Object.entries(all) as [string, string][];
  }

  /** Writes a program that runs a command, or its arguments, in a container of the pod. */
  private writeScript(file: string, command: readonly string[] | undefined): void {
    const { runAsUser: user, runAsGroup: group, fsGroup } = this.spec.securityContext;
    const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
    const mounts = this.container.volumeMounts.map(({ name, mountPath }: KubernetesObject) =>
      mountPath === '/tmp' ? ['/tmp', name] : [`${ROOT}${mountPath}`, name],
    );
    const inside = [
      'set -eu',
      `mount -t tmpfs tmpfs ${ROOT}`,
      `mkdir ${ROOT}/app ${ROOT}/bin`,
      `mount --bind ${projectRoot()} ${ROOT}/app`,
      `cp -P ${join(this.folder, 'bin')}/* ${ROOT}/bin`,
      // The last one hides the folders of this machine.
      ...mounts
        .toSorted(([a = '']: string[], [b = '']: string[]) => Number(a === '/tmp') - Number(b === '/tmp'))
        .flatMap(([place = '', name = '']: string[]) => [
          `mkdir -p ${place}`,
          `mount --bind ${this.fileOf(name)} ${place}`,
        ]),
      `mount -o remount,bind,ro / && mount -o remount,ro ${ROOT}`,
      `cd ${ROOT}/app`,
      `exec setpriv --reuid ${user} --regid ${group} --groups ${fsGroup ?? group} --no-new-privs --bounding-set=-all \\`,
      `  --inh-caps=-all env -i ${this.environment()
        .map(([name, value]) => quoted(`${name}=${value}`))
        .join(
          ' ',
        )} ${command ? command.map((word) => quoted(word.replaceAll('/data/', `${ROOT}/data/`))).join(' ') : '"$@"'}`,
    ];
    const script = `#!/bin/bash\nexec unshare --mount --propagation private bash --norc -c ${quoted(inside.join('\n'))} pod "$@"\n`;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, script, { mode: 0o700 });
  }
}
