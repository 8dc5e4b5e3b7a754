import { generate } from 'selfsigned';
import { signerEndpoints } from '../../../src/chain/contractSignatures';
import { relayerFunds } from '../../../src/chain/relayerFunds';
import { clockFinding, signerClockFinding } from '../../../src/cli/doctor/clocks';
import { ok, runCheck } from '../../../src/cli/doctor/finding';
import { checkEndpoints } from '../../../src/cli/doctor/networks';
import { certificateFinding } from '../../../src/cli/doctor/service';
import { pollersAlive } from '../../../src/cli/doctor/temporal';
import type { NetworkConfig } from '../../../src/config';

const GWEI = 1_000_000_000n;

describe('doctor', () => {
  it('reports a part that does not answer, and continues', async () => {
    const silent = await runCheck('temporal', 'start it', () => new Promise(() => undefined), 20);
    expect(silent).toEqual([
      {
        part: 'temporal',
        status: 'fail',
        found: 'no answer within 0.02 s',
        todo: 'it is unavailable, or this machine or its network is slow: run doctor again',
      },
    ]);
  });

  it('reports a part that fails in one line, with what to do', async () => {
    const broken = await runCheck('database', 'start it', async () => {
      throw new Error('unavailable\nand more');
    });
    expect(broken).toEqual([{ part: 'database', status: 'fail', found: 'unavailable', todo: 'start it' }]);
  });

  it('recommends db migrate without a schema', async () => {
    const [finding] = await runCheck('database', 'start it', async () => {
      throw new Error('relation "schema_migrations" does not exist');
    });
    expect(finding?.todo).toBe('./orgwallet db migrate');
  });

  it('reports a clock that differs from the database by more than seconds', () => {
    for (const ms of [0, 3_000, -3_000]) expect(clockFinding(ms)).toMatchObject({ status: 'ok' });
    expect(clockFinding(70_000)).toMatchObject({
      status: 'warn',
      found: 'this machine is 70 s ahead of the database',
    });
    expect(clockFinding(-7_200_000)).toMatchObject({
      status: 'warn',
      found: 'this machine is 2 h behind the database',
    });
  });

  it('fails on the host of a signer that signs nothing, because clocks are apart', () => {
    expect(signerClockFinding(59_000)).toMatchObject({ status: 'warn' });
    expect(signerClockFinding(-61_000)).toMatchObject({
      status: 'fail',
      found: 'this machine is 61 s behind the database',
    });
  });

  it('returns the findings of the check', async () => {
    expect(await runCheck('node', '', async () => [ok('node', 'v20')])).toEqual([ok('node', 'v20')]);
  });

  it('calls a relayer low that cannot pay for twenty deployments, and empty without one', () => {
    const oneDeployment = 400_000n * 10n * GWEI * 2n;
    expect(relayerFunds(0n, 0n)).toBe('empty');
    expect(relayerFunds(oneDeployment - 1n, 10n * GWEI)).toBe('empty');
    expect(relayerFunds(oneDeployment, 10n * GWEI)).toBe('low');
    expect(relayerFunds(20n * oneDeployment - 1n, 10n * GWEI)).toBe('low');
    expect(relayerFunds(20n * oneDeployment, 10n * GWEI)).toBe('enough');
  });

  it('counts only workers that polled in the last 90 seconds', () => {
    const now = 1_000_000_000_000;
    const seen = (agoMs: number) => ({ lastAccessTime: { seconds: (now - agoMs) / 1_000 } });
    expect(pollersAlive([seen(20_000), seen(61_000), seen(240_000), {}], now)).toEqual({
      alive: 2,
      newestMs: 20_000,
    });
    expect(pollersAlive([seen(240_000)], now).alive).toBe(0);
  });

  it('warns of a certificate that expires soon, and fails an expired one', async () => {
    const start = new Date('2026-01-01T00:00:00Z');
    const end = new Date('2026-03-01T00:00:00Z');
    const { cert } = await generate([{ name: 'commonName', value: 'localhost' }], {
      notBeforeDate: start,
      notAfterDate: end,
    });
    const on = (date: string) => certificateFinding('cert.pem', cert, Date.parse(date)).status;
    expect(on('2026-01-15T00:00:00Z')).toBe('ok');
    expect(on('2026-02-20T00:00:00Z')).toBe('warn');
    expect(on('2026-03-02T00:00:00Z')).toBe('fail');
  });
});

describe('the endpoints of the signer', () => {
  const network: NetworkConfig = {
    id: 7,
    name: 'Nowhere',
    rpcUrls: ['http://127.0.0.1:1'],
    signerRpcUrls: [],
    relayers: 1,
    nativeAsset: { symbol: 'ETH', name: 'Ether', decimals: 18 },
    confirmations: 1,
    maxFeePerGas: 1n,
  };

  test('may be missing where no contract votes', async () => {
    expect(await checkEndpoints(signerEndpoints(network))).toEqual([
      { part: 'endpoints 7', status: 'ok', found: expect.stringContaining('refused') },
    ]);
  });

  test('that do not answer are a failure, each', async () => {
    const signerRpcUrls = ['http://127.0.0.1:1/a', 'http://127.0.0.1:1/b'];
    const findings = await checkEndpoints(signerEndpoints({ ...network, signerRpcUrls }));
    expect(findings.map(({ status, todo }) => [status, todo])).toEqual(
      Array(2).fill(['fail', expect.stringContaining('signerRpcUrls')]),
    );
  });
});
