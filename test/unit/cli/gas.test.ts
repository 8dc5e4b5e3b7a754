import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkGasBudgets } from '../../../src/cli/doctor/gasChecks';
import type { NetworkConfig } from '../../../src/config';
import { openJournal } from '../../../src/signer/journal/journal';

const GWEI = 10n ** 9n;

test('doctor warns of a gas budget that is used up, until the hour has passed', async () => {
  const journalFile = join(await mkdtemp(join(tmpdir(), 'gas-')), 'journal');
  const config = { journalFile, networks: [], gasBudgetPerHour: 10n ** 16n };
  expect(await checkGasBudgets(config)).toEqual([]);
  const journal = await openJournal({ file: journalFile, waitMs: 0 });
  const sign = (organizationId: string | null, relayerNonce: number, gas: bigint) =>
    journal.append({
      type: 'gas',
      kind: organizationId === null ? 'filler' : 'transaction',
      organizationId,
      networkId: 7,
      relayerAddress: '0x1',
      relayerNonce,
      gas: String(gas),
      maxFeePerGas: String(GWEI),
    });
  await sign('org_1', 0, 6_000_000n);
  await sign(null, 1, 7_500_000n);
  expect(await checkGasBudgets(config)).toEqual([
    { part: 'gas', status: 'ok', found: 'no budget of 0.01 is used up' },
  ]);
  await sign('org_1', 2, 1_000_000n);
  expect(await checkGasBudgets(config)).toMatchObject([
    { part: 'gas 7', status: 'warn', found: expect.stringContaining('org_1 has signed for 0.007 of 0.0075') },
  ]);
  const nativeAsset = { symbol: 'USDX', name: 'X', decimals: 6 };
  const networks = [{ id: 7, name: 'Gas in dollars', nativeAsset } as NetworkConfig];
  expect(await checkGasBudgets({ ...config, networks })).toMatchObject([
    {
      found: expect.stringMatching(/signed for 7000000000 USDX of 7500000000 USDX on Gas in dollars within/),
    },
  ]);
  expect(await checkGasBudgets(config, journal.lastTime() + 3_600_000)).toMatchObject([{ status: 'ok' }]);
  await journal.close();
});
