import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSendLog } from '../../activities/relayer/sendLog';
import { SharedReads } from '../../src/chain/sharedReads';
import { projectRoot } from '../../src/projectRoot';

const TEN_MINUTES_MS = 600_000;

/** Where the time of the day is meant: what is recorded, times of others, and the deadlines that Temporal's client takes. */
const WALL_CLOCK = [
  'src/api/credentialCache.ts',
  'src/api/httpLimits.ts',
  'src/api/routes/accountRoutes.ts',
  'src/api/routes/rescueRoutes.ts',
  'src/chain/totals.ts',
  'src/delivery/deliver.ts',
  'src/delivery/signatures.ts',
  'src/delivery/webhookChanges.ts',
  'src/delivery/webhookTest.ts',
  'src/organizations/admitGenesis.ts',
  'src/parts.ts',
  'src/prices/prices.ts',
  'src/proof/export.ts',
  'src/retryAfter.ts',
  'src/signer/journal/journal.ts',
  'src/signer/journal/lease.ts',
  'src/signer/journal/steadyTime.ts',
  'src/signer/keys/keystore.ts',
  'src/signer/recovery/completeJournal.ts',
  'src/signer/recovery/cutOffRequests.ts',
  'src/temporal/access.ts',
  'src/temporal/builds.ts',
];

afterEach(() => jest.restoreAllMocks());

it('is not measured with a clock that may be set', () => {
  const found = ['src', 'activities'].flatMap((folder) =>
    readdirSync(join(projectRoot(), folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.startsWith('cli/'))
      .map((file) => `${folder}/${file}`)
      .filter((file) => {
        const text = readFileSync(join(projectRoot(), file), 'utf8').replaceAll(
          'withDeadline(Date.now() +',
          '',
        );
        return /\bDate\.now\b|new Date\(\)/.test(text);
      }),
  );
  expect(found.sort()).toEqual(WALL_CLOCK);
});

describe('a clock that is set back by ten minutes', () => {
  const setBack = () => {
    const now = Date.now();
    jest.spyOn(Date, 'now').mockImplementation(() => now - TEN_MINUTES_MS);
  };

  it('does not make a read last longer', async () => {
    const reads = new SharedReads<number>(0);
    let count = 0;
    const read = async () => {
      count += 1;
      return count;
    };
    await reads.read('head', read);
    setBack();
    expect(await reads.read('head', read)).toBe(2);
  });

  it('does not delay what is sent again', () => {
    const sent = createSendLog();
    const elapsed = jest.spyOn(performance, 'now').mockReturnValue(0);
    sent.note({ id: 1n, networkId: 1, relayerAddress: '0x1', relayerNonce: 1 });
    setBack();
    elapsed.mockReturnValue(4_999);
    expect(sent.isRecent({ id: 1n })).toBe(true);
    elapsed.mockReturnValue(5_000);
    expect(sent.isRecent({ id: 1n })).toBe(false);
  });

  it('does not keep nonces that were sent longer', () => {
    const sent = createSendLog();
    const elapsed = jest.spyOn(performance, 'now').mockReturnValue(0);
    const of = { networkId: 1, relayerAddress: '0x1' };
    sent.note({ ...of, id: 1n, relayerNonce: 7 });
    elapsed.mockReturnValue(2_000);
    sent.note({ ...of, id: 2n, relayerNonce: 8 });
    const areRecent = (fromNonce: number, toNonce: number) => sent.areRecent({ ...of, fromNonce, toNonce });
    setBack();
    elapsed.mockReturnValue(4_999);
    expect(areRecent(7, 8)).toBe(true);
    expect(areRecent(7, 9)).toBe(false);
    expect(areRecent(6, 8)).toBe(false);
    expect(sent.areRecent({ ...of, networkId: 2, fromNonce: 7, toNonce: 8 })).toBe(false);
    elapsed.mockReturnValue(5_001);
    expect(areRecent(7, 8)).toBe(false);
    expect(areRecent(8, 8)).toBe(true);
  });
});
