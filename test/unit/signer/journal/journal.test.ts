import { spawn } from 'node:child_process';
import {
  appendFileSync,
  chownSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp, open } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { AuthorizationEntry, JournalEntry } from '../../../../src/signer/journal/entries';
import { takeRequests } from '../../../../src/signer/journal/freezeRequests';
import { type Journal, leaseFile, openJournal } from '../../../../src/signer/journal/journal';
import { readJournal } from '../../../../src/signer/journal/journalReader';
import { requestFreeze } from '../../../../src/signer/journal/requestFreeze';
import { A_RECORD } from './record';

let file: string;
let journal: Journal | undefined;

beforeEach(async () => {
  file = join(await mkdtemp(join(tmpdir(), 'journal-')), 'keystore.json.journal');
});
afterEach(async () => {
  await journal?.close().catch(() => undefined);
  journal = undefined;
});

async function opened(more: Partial<Parameters<typeof openJournal>[0]> = {}): Promise<Journal> {
  journal = await openJournal({ file, waitMs: 0, ...more });
  return journal;
}

async function reopened(more: Partial<Parameters<typeof openJournal>[0]> = {}): Promise<Journal> {
  await journal?.close();
  return opened(more);
}

function anAuthorization(change: Partial<AuthorizationEntry> = {}): AuthorizationEntry {
  const transactionId = change.transactionId ?? 'txn_1';
  return {
    type: 'authorization',
    organizationId: 'org_1',
    transactionId,
    accountId: 'acc_1',
    networkId: 31337,
    safeNonce: '0',
    safeTxHash: `0x${transactionId}`,
    account: '0xacc',
    to: '0xto',
    value: '115792089237316195423570985008687907853269984665640564039457584007913129639935',
    data: '0x',
    safeTxGas: '1',
    fromBlock: '7',
    policyId: 'pol_1',
    initiatorId: 'mem_1',
    tokenAddress: '0x0',
    amount: '1',
    destination: '0xto',
    replaces: null,
    authorizedAt: '2026-01-01T00:00:00.000Z',
    evidence: { votes: ['é'] },
    record: A_RECORD,
    ...change,
  };
}

const aSeal = (sequence: number, hash = `h${sequence}`): JournalEntry => ({
  type: 'seal',
  organizationId: 'org_1',
  sequence,
  hash,
  body: `{"sequence":${sequence}}`,
  signature: '0x',
});

describe('the journal', () => {
  it('finds entries by transaction, nonce and sequence, also after it is opened again', async () => {
    const first = await opened();
    await first.append({ type: 'created', installationId: 'here' }, anAuthorization(), aSeal(0), aSeal(1));
    await first.append({
      type: 'outcome',
      organizationId: 'org_1',
      transactionId: 'txn_1',
      outcome: 'executed',
      blockAt: '2026-01-01T00:00:01.000Z',
    });
    const second = await reopened();
    const reader = await readJournal(file);
    for (const one of [second, reader]) {
      expect(one.lines()).toBe(5);
      expect(one.installationId()).toBe('here');
      const found = one.authorizationOf('txn_1');
      expect(found).toMatchObject({ safeNonce: 0n, line: 2 });
      expect(found && (await one.readAuthorization(found))).toEqual(anAuthorization());
      expect(one.takenAt({ accountId: 'acc_1', networkId: 31337, safeNonce: 0n })?.transactionId).toBe(
        'txn_1',
      );
      expect(one.takenAt({ accountId: 'acc_1', networkId: 1, safeNonce: 0n })).toBeUndefined();
      expect(one.highestNonce({ accountId: 'acc_1', networkId: 31337 })).toBe(0n);
      expect(one.outcomeOf('txn_1')?.outcome).toBe('executed');
      expect(one.organizationIds()).toEqual(['org_1']);
      expect(one.latestSealed('org_1')).toEqual({ sequence: 1, hash: 'h1' });
      expect(await one.seal('org_1', 0)).toEqual(aSeal(0));
      expect(await one.seal('org_2', 0)).toBeUndefined();
    }
    await reader.close();
  });

  it('writes appends that wait together with one chain', async () => {
    const first = await opened();
    const many = Array.from({ length: 50 }, (_, i) =>
      first.append(anAuthorization({ transactionId: `txn_${i}`, safeNonce: String(i) })),
    );
    await Promise.all(many);
    expect((await reopened()).highestNonce({ accountId: 'acc_1', networkId: 31337 })).toBe(49n);
  });

  it('records a repeated authorization once, and refuses another of its transaction or nonce', async () => {
    const one = await opened();
    await Promise.all([one.append(anAuthorization()), one.append(anAuthorization())]);
    await one.append(anAuthorization());
    expect(one.lines()).toBe(1);
    await expect(one.append(anAuthorization({ safeTxHash: '0xother' }))).rejects.toThrow(/txn_1 is recorded/);
    await expect(one.append(anAuthorization({ transactionId: 'txn_2' }))).rejects.toThrow(
      /nonce 0 of account/,
    );
    const same = { safeTxHash: '0xtxn_1' };
    await expect(one.append(anAuthorization({ transactionId: 'txn_2', ...same }))).rejects.toThrow(/txn_2/);
    await expect(one.append(anAuthorization({ safeNonce: '1' }))).rejects.toThrow(/nonce 1/);
    const together = [
      one.append(anAuthorization({ transactionId: 'txn_3', safeNonce: '3' })),
      one.append(anAuthorization({ transactionId: 'txn_4', safeNonce: '3' })),
    ];
    expect((await Promise.allSettled(together)).map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
    ]);
    expect(one.lines()).toBe(2);
  });

  it('refuses a second seal of a sequence', async () => {
    const one = await opened();
    await one.append(aSeal(0));
    await one.append(aSeal(0));
    await expect(one.append(aSeal(0, 'other'))).rejects.toThrow(/seal 0 of org_1 is recorded with h0/);
    expect(one.lines()).toBe(1);
  });

  it('keeps a freeze until it is ended', async () => {
    const one = await opened();
    await one.append({ type: 'freeze', organizationId: 'org_1', id: 'a' });
    expect(one.freezeOf('org_1')).toBeDefined();
    expect(one.freezeOf('org_2')).toBeUndefined();
    await one.append({ type: 'freeze', organizationId: null, id: 'b' });
    expect(one.freezeOf('org_2')).toMatchObject({ organizationId: null });
    const again = await reopened();
    expect(again.activeFreezes()).toHaveLength(2);
    await again.append({ type: 'unfreeze', organizationId: null, id: 'c' });
    expect(again.freezeOf('org_2')).toBeUndefined();
    expect(again.freezeOf('org_1')).toBeDefined();
    expect(again.isRequestDone('b')).toBe(true);
  });

  it('takes an unknown execution as the holder of its nonce', async () => {
    const one = await opened();
    const { accountId, networkId, organizationId } = anAuthorization();
    await one.append({
      ...{ type: 'unknownExecution', organizationId, accountId, networkId },
      ...{ safeNonce: '5', safeTxHash: '0xu', transactionHash: '0xt' },
    });
    expect(one.highestNonce({ accountId, networkId })).toBe(5n);
    expect(one.takenAt({ accountId, networkId, safeNonce: 5n })).toMatchObject({ transactionId: null });
  });

  it('cuts off a line that a crash has torn, and continues after it', async () => {
    await (await opened()).append(aSeal(0), aSeal(1));
    await journal?.close();
    const whole = statSync(file).size;
    for (const torn of ['{', '{"line":3,"previous":"00', '\0\0\0']) {
      appendFileSync(file, torn);
      let cut = 0;
      await opened({ onTorn: (bytes) => (cut = bytes) });
      expect(cut).toBe(torn.length);
      expect(statSync(file).size).toBe(whole);
      await journal?.close();
    }
    await (await opened()).append(aSeal(2));
    expect((await reopened()).lines()).toBe(3);
  });

  it('names the line of any other damage', async () => {
    await (await opened()).append(aSeal(0), aSeal(1), aSeal(2));
    await journal?.close();
    const text = readFileSync(file, 'utf8');
    const lines = text.trimEnd().split('\n');
    const damages: [string, number][] = [
      [text.replace('"h1"', '"hX"'), 3],
      [[lines[0], lines[2], ''].join('\n'), 2],
      [[lines[1], lines[2], ''].join('\n'), 1],
      [[lines[0], 'nothing', lines[2], ''].join('\n'), 2],
      [[lines[0], '', lines[1], ''].join('\n'), 2],
      [`${text}${lines[2]}\n`, 4],
    ];
    for (const [damaged, line] of damages) {
      writeFileSync(file, damaged);
      await expect(opened()).rejects.toThrow(`line ${line}:`);
      await expect(readJournal(file)).rejects.toThrow(`line ${line}:`);
    }
    writeFileSync(file, text);
    expect((await opened()).lines()).toBe(3);
  });

  it('has one writer, and names it to a second one', async () => {
    await opened();
    await expect(openJournal({ file, waitMs: 0 })).rejects.toThrow(`process ${process.pid} on`);
    const waiting = openJournal({ file, waitMs: 5_000 });
    await journal?.close();
    journal = await waiting;
  });

  it('is taken over from a process that has ended, or is silent', async () => {
    const child = spawn(process.execPath, ['-e', '']);
    await new Promise((resolve) => child.on('exit', resolve));
    const lease = JSON.parse('{"epoch":"dead","host":"","startedAt":0}');
    writeFileSync(leaseFile(file), JSON.stringify({ ...lease, host: hostname(), pid: child.pid }));
    await opened();
    await journal?.close();
    writeFileSync(leaseFile(file), JSON.stringify({ ...lease, host: 'elsewhere', pid: 1 }));
    await expect(opened()).rejects.toThrow('process 1 on elsewhere');
    utimesSync(leaseFile(file), new Date(), new Date(Date.now() - 60_000));
    await opened();
  });

  it('writes nothing after another process has taken over', async () => {
    const old = await opened();
    await old.append(aSeal(0));
    const lease = JSON.parse(readFileSync(leaseFile(file), 'utf8'));
    writeFileSync(leaseFile(file), JSON.stringify({ ...lease, epoch: 'other' }));
    await expect(old.append(aSeal(1))).rejects.toThrow('taken the journal over');
    writeFileSync(leaseFile(file), JSON.stringify(lease));
    await expect(old.append(aSeal(1))).rejects.toThrow('taken the journal over');
    const reader = await readJournal(file);
    expect(reader.lines()).toBe(1);
    await reader.close();
  });

  it('reports once that another process has taken over, and leaves the lease to it', async () => {
    jest.useFakeTimers({ doNotFake: ['setTimeout', 'setImmediate', 'nextTick', 'queueMicrotask', 'Date'] });
    try {
      const lost: Error[] = [];
      const old = await opened({ onLost: (error) => lost.push(error) });
      jest.advanceTimersByTime(10_000);
      expect(lost).toEqual([]);
      const lease = { ...JSON.parse(readFileSync(leaseFile(file), 'utf8')), epoch: 'other' };
      writeFileSync(leaseFile(file), JSON.stringify(lease));
      jest.advanceTimersByTime(10_000);
      expect(lost.map(({ message }) => message)).toEqual([
        expect.stringContaining('another signer has taken the journal over'),
      ]);
      await old.close();
      expect(JSON.parse(readFileSync(leaseFile(file), 'utf8'))).toEqual(lease);
    } finally {
      jest.useRealTimers();
    }
  });

  it('writes nothing to a file that something else has written to', async () => {
    const one = await opened();
    await one.append(aSeal(0));
    appendFileSync(file, 'x');
    await expect(one.append(aSeal(1))).rejects.toThrow('something else has written');
  });

  it('reports once that it cannot be written, and is whole again when it is opened anew', async () => {
    const lost: Error[] = [];
    const full = await opened({ onLost: (error) => lost.push(error) });
    await full.append(aSeal(0));
    const handle = await open(file);
    const writeFile = jest.spyOn(Object.getPrototypeOf(handle), 'appendFile');
    await handle.close();
    try {
      writeFile.mockImplementationOnce(async () => {
        appendFileSync(file, '{"line":2');
        throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
      });
      await expect(full.append(aSeal(1))).rejects.toThrow('ENOSPC');
      await expect(full.append(aSeal(1))).rejects.toThrow('ENOSPC');
    } finally {
      writeFile.mockRestore();
    }
    expect(lost.map(({ message }) => message)).toEqual([
      `${file}: the journal cannot be written, so this process must end: its disk is full (ENOSPC: no space left on device, write)`,
    ]);
    const again = await reopened();
    await again.append(aSeal(1));
    expect(again.lines()).toBe(2);
  });
});

describe('a request to freeze', () => {
  const freeze = { type: 'freeze', organizationId: 'org_1' } as const;

  it('is appended by the command itself while no signer runs', async () => {
    const recorded: string[] = [];
    const record = async ({ id }: { id: string }) => void recorded.push(id);
    const { id } = await requestFreeze(file, freeze, { waitMs: 0, open: () => opened(), record });
    expect(recorded).toEqual([id]);
    expect((await opened()).freezeOf('org_1')).toBeDefined();
  });

  it('is appended by the signer that runs, and once when its record fails first', async () => {
    const signer = await opened();
    let failures = 1;
    const record = async () => {
      if (failures-- > 0) throw new Error('no database');
    };
    const asking = requestFreeze(file, freeze, { waitMs: 5_000, open: () => opened(), record });
    await expect(takeRequests(signer, record)).rejects.toThrow('no database');
    expect(signer.freezeOf('org_1')).toBeDefined();
    await takeRequests(signer, record);
    await asking;
    expect(signer.lines()).toBe(1);
  });

  it.each(['folder', 'journal'])(
    'is left to the user of the signer by a command that root runs: of its %s',
    async (like) => {
      const folder = dirname(file);
      // Only root may give a file away; others are its owner already.
      const owner = process.getuid?.() === 0 ? 65_534 : statSync(folder).uid;
      const give = (path: string) => statSync(path).uid === owner || chownSync(path, owner, owner);
      if (like === 'folder') give(folder);
      const signer = await opened();
      if (like === 'journal') give(file);
      const asking = requestFreeze(file, freeze, {
        waitMs: 0,
        open: () => opened(),
        record: async () => undefined,
      });
      await expect(asking).rejects.toThrow('the signer has not taken the request up');
      const [request] = readdirSync(`${file}.requests`);
      const paths = [file, `${file}.requests`, join(`${file}.requests`, request ?? '')];
      if (like === 'folder') paths.push(leaseFile(file));
      expect(paths.map((path) => statSync(path).uid)).toEqual(paths.map(() => owner));
      await takeRequests(signer, async () => undefined);
    },
  );

  it('says when the signer does not take it up', async () => {
    await opened();
    const asking = requestFreeze(file, freeze, {
      waitMs: 0,
      open: () => opened(),
      record: async () => undefined,
    });
    await expect(asking).rejects.toThrow('the signer has not taken the request up');
  });
});
