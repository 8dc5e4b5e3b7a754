import { copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Hex } from 'viem';
import { requireRow } from '../../src/db/rows';
import { projectRoot } from '../../src/projectRoot';
import { lastLogLines, type Part, startPart } from '../../tools/dev/parts';
import type { Shown } from './api';
import { anAddress } from './builders';
import { type PayingOrganization, paymentChain } from './payingOrganization';
import type { ServiceProcess } from './process';
import { freePorts } from './stack';
import { aTransactionBody, executeTransaction, initiate, settledTransaction } from './transactionApi';
import { until } from './until';

/** One host of the signer: its folder has keystore and journal. */
export interface SignerHost {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly keystore: string;
  readonly journal: string;
}

/** A signer as an operator starts it, whether or not it comes up. */
export type StartedSigner = Part & {
  /** Waits until its log has these words, and returns them. */
  says(words: RegExp): Promise<string>;
};

/** Makes a host for the signer of a service, whose settings it has, with its passphrase in a file and no keystore yet. */
export async function signerHost(name: string, settings: NodeJS.ProcessEnv): Promise<SignerHost> {
  const { ORGWALLET_DATA_DIR: dir = '', KEYSTORE_PASSPHRASE: passphrase = '', ...more } = settings;
  const folder = join(dir, name);
  mkdirSync(folder);
  cpSync(join(dir, 'tls'), join(folder, 'tls'), { recursive: true });
  const passphraseFile = join(folder, 'passphrase');
  writeFileSync(passphraseFile, passphrase, { mode: 0o600 });
  const [opsPort] = await freePorts(1);
  const keystore = join(folder, 'keystore.json');
  return {
    folder,
    env: {
      ...more,
      ORGWALLET_DATA_DIR: folder,
      ORGWALLET_ROLES: 'signer',
      OPS_PORT: String(opsPort),
      KEYSTORE_PASSPHRASE_FILE: passphraseFile,
    },
    keystore,
    journal: `${keystore}.journal`,
  };
}

/** Gives a host the keystore of the service whose settings these are. */
export function giveKeystore(
  { keystore }: SignerHost,
  { ORGWALLET_DATA_DIR: dir = '' }: NodeJS.ProcessEnv,
): void {
  copyFileSync(join(dir, 'keystore.json'), keystore);
}

const started: Part[] = [];

/** Starts the signer of a host. */
export function startSigner({ folder, env }: SignerHost): StartedSigner {
  const logFile = join(folder, `signer-${started.length}.log`);
  const part = startPart({
    name: 'signer',
    command: process.execPath,
    args: [join(projectRoot(), 'dist', 'src', 'main.js')],
    env: { PATH: process.env.PATH, NODE_ENV: 'test', ...env, LOG_LEVEL: 'warn' },
    logFile,
    stopSignal: 'SIGTERM',
    stopLimitMs: 20_000,
  });
  started.push(part);
  const says = (words: RegExp) =>
    until(`a signer says ${words}`, async () => readFileSync(logFile, 'utf8').match(words)?.[0], 90_000);
  return Object.assign(part, { says });
}

/** Stops every signer that this file has started. */
export async function stopSigners(): Promise<void> {
  for (const part of started) await part.stop();
}

/** Waits until a signer is ready. Throws with its log when it ends before. */
export async function signerReady({ env }: SignerHost, part: Part): Promise<void> {
  await until(
    'the signer is ready',
    async () => {
      if (!part.isRunning()) throw new Error(lastLogLines(part.logFile));
      return (await fetch(`http://127.0.0.1:${env.OPS_PORT}/readyz`)).ok;
    },
    120_000,
  );
}

/** Payments of one wei each, which the signers of several hosts sign. */
export class SignedPayments {
  /** By transaction. */
  private readonly recipients = new Map<string, Hex>();

  constructor(
    private readonly service: ServiceProcess,
    private readonly paying: PayingOrganization,
  ) {}

  /** Asks for a payment, which waits for a signer. */
  async ask(): Promise<Shown> {
    const { http } = this.service;
    const { org, account, policies } = this.paying;
    const to = anAddress() as Hex;
    const transaction = await initiate(
      http,
      org,
      aTransactionBody(org, { account, policy: policies.auto, to }),
    );
    await executeTransaction(http, org, transaction);
    this.recipients.set(transaction.id, to);
    return transaction;
  }

  /** Waits until a payment is completed, and the journal of the host that signs has it, so that it is not written any more. */
  async completed(transaction: Shown, { journal }: SignerHost): Promise<void> {
    const { org } = this.paying;
    await until(
      `${transaction.id} is completed`,
      async () => {
        const { executionStatus } = await settledTransaction(this.service.http, org, transaction);
        return executionStatus === 'completed';
      },
      120_000,
    );
    await until(
      'its outcome is in the journal',
      async () =>
        readFileSync(journal, 'utf8').includes(
          `"type":"outcome","organizationId":"${org.id}","transactionId":"${transaction.id}"`,
        ),
      60_000,
    );
  }

  /** Waits until a payment is blocked: it was requested before the journal was completed. It has paid nothing. */
  async cutOff(transaction: Shown): Promise<void> {
    const { org } = this.paying;
    await until(`${transaction.id} is blocked`, async () => {
      const { executionStatus } = await settledTransaction(this.service.http, org, transaction);
      return executionStatus === 'blocked';
    });
    const { client } = paymentChain(this.service);
    expect(await client.getBalance({ address: requireRow(this.recipients.get(transaction.id)) })).toBe(0n);
    this.recipients.delete(transaction.id);
  }

  async pay(host: SignerHost): Promise<void> {
    await this.completed(await this.ask(), host);
  }

  /** Each recipient has got its wei once. */
  async expectPaidOnce(): Promise<void> {
    const { client } = paymentChain(this.service);
    for (const address of this.recipients.values()) expect(await client.getBalance({ address })).toBe(1n);
  }
}
