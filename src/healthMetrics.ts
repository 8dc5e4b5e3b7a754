import { readFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Gauge, type Registry } from 'prom-client';
import { certificateEnds } from './certificates';

/** Certificates that a process uses, by file. */
export interface CertificateFiles {
  /** With a key of this process, each followed by those that signed it: the first that expires counts. */
  readonly chains: readonly string[];
  /** Of authorities that it trusts: the last that expires counts, because an old one stays beside its successor. */
  readonly authorities: readonly string[];
}

/** What a process exports about itself, for alerts. */
export interface HealthMetrics {
  /** Exports the parts without which this process can do nothing: 1 while they are up. They are checked at each scrape. */
  watchParts(read: () => Promise<Readonly<Record<string, boolean>>>): void;
  /** Exports when certificates expire, as their files say at each scrape. */
  watchCertificates(files: CertificateFiles): void;
  /** Exports the space on the disk of the journal. */
  watchJournal(file: string): void;
  /** Exports when the keystore was last backed up; `read` gives milliseconds, or null when never. */
  watchKeystoreBackup(read: () => number | null): void;
}

function exportExpiries(gauge: Gauge, files: readonly string[], counts: typeof Math.min): void {
  for (const file of files) {
    try {
      gauge.set({ file }, counts(...certificateEnds(readFileSync(file, 'utf8'))) / 1_000);
    } catch {
      // Who uses it reports that.
      gauge.remove({ file });
    }
  }
}

/** Adds what a process exports about itself; nothing has a value before it is watched. */
export function createHealthMetrics(registry: Registry): HealthMetrics {
  const registers = [registry];
  let readParts: Parameters<HealthMetrics['watchParts']>[0] = async () => ({});
  let certificates: CertificateFiles = { chains: [], authorities: [] };
  let journalFile: string | undefined;
  let readBackup: (() => number | null) | undefined;
  new Gauge({
    name: 'orgwallet_part_up',
    help: '1 while a part is up without which this process can do nothing, checked at each scrape.',
    labelNames: ['part'],
    registers,
    async collect() {
      const parts = await readParts();
      this.reset();
      for (const [part, isUp] of Object.entries(parts)) this.set({ part }, isUp ? 1 : 0);
    },
  });
  new Gauge({
    name: 'orgwallet_certificate_expiry_timestamp_seconds',
    help: 'When a certificate file of this process expires: the first of a chain, the last of authorities.',
    labelNames: ['file'],
    registers,
    collect() {
      exportExpiries(this, certificates.chains, Math.min);
      exportExpiries(this, certificates.authorities, Math.max);
    },
  });
  // A gauge without labels begins at 0, which would be an alarm where there is no journal.
  new Gauge({
    name: 'orgwallet_journal_disk_bytes',
    help: 'Space on the disk of the journal: its size, and what is free for the signer.',
    labelNames: ['space'],
    registers,
    async collect() {
      if (journalFile === undefined) return;
      const { bsize, blocks, bavail } = await statfs(dirname(journalFile));
      this.set({ space: 'size' }, bsize * blocks);
      this.set({ space: 'free' }, bsize * bavail);
    },
  });
  new Gauge({
    name: 'orgwallet_keystore_backup_timestamp_seconds',
    help: 'When the keystore of a role was last backed up; 0 when never.',
    labelNames: ['role'],
    registers,
    collect() {
      if (readBackup) this.set({ role: 'signer' }, (readBackup() ?? 0) / 1_000);
    },
  });
  return {
    watchParts(read) {
      readParts = read;
    },
    watchCertificates(files) {
      certificates = files;
    },
    watchJournal(file) {
      journalFile = file;
    },
    watchKeystoreBackup(read) {
      readBackup = read;
    },
  };
}
