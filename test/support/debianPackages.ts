import { spawnSync } from 'node:child_process';

/** Installs packages of Debian, as root; nothing that they bring is started. Throws when they cannot be had here. */
export function installPackages(...packages: string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  for (const args of [['update'], ['install', '--yes', '--no-install-recommends', ...packages]]) {
    const done = spawnSync('apt-get', args, { encoding: 'utf8', env });
    if (done.status !== 0) throw new Error(`apt-get ${args.join(' ')}: ${done.stderr}`);
  }
}
