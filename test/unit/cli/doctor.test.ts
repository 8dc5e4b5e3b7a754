import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { generate } from 'selfsigned';
import { relayerFunds } from '../../../src/chain/relayerFunds';
import { clockFinding, signerClockFinding } from '../../../src/cli/doctor/clockChecks';
import { unansweredFinding } from '../../../src/cli/doctor/databaseChecks';
import { reachSignerEndpoints } from '../../../src/cli/doctor/endpointChecks';
import { ok, reach, runCheck } from '../../../src/cli/doctor/finding';
import { certificateFinding } from '../../../src/cli/doctor/serviceChecks';
import { pollersAlive } from '../../../src/cli/doctor/temporalChecks';
import type { NetworkConfig } from '../../../src/config';

const GWEI = 1_000_000_000n;

describe('doctor', () => {
  const never = () => new Promise<never>(() => undefined);
  const LIMIT_MS = 20;

  it('reports a part that accepts connections and says nothing, and does not doubt its address', async () => {
    const silent = createServer();
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const target = () => ({ host: '127.0.0.1', port });
    expect(await reach({ part: 'temporal', todo: 'correct it', target }, never, LIMIT_MS)).toEqual([
      {
        part: 'temporal',
        status: 'fail',
        found: `no answer within 0.02 s, and 127.0.0.1:${port} accepts connections`,
        todo: 'it hangs, or it is very slow: look at its log and its load; its address is not why',
      },
    ]);
    silent.close();
    await once(silent, 'close');
    expect(await reach({ part: 'temporal', todo: 'correct it', target }, never, LIMIT_MS)).toEqual([
      {
        part: 'temporal',
        status: 'fail',
        found: `no answer within 0.02 s, nor any connection to 127.0.0.1:${port}`,
        todo: 'correct it; or a firewall drops what is sent there',
      },
    ]);
  });

  it('calls a part slow that answers late, and reports what it answers', async () => {
    const late = () => sleep(2_050, [ok('database', 'Postgres')]);
    expect(await reach({ part: 'database', todo: 'correct it' }, late)).toEqual([
      ok('database', 'Postgres'),
      {
        part: 'database',
        status: 'warn',
        found: 'slow: it answered after 2 s',
        todo: expect.stringMatching(/no setting of it is wrong$/),
      },
    ]);
    expect(
      await reach({ part: 'database', todo: '' }, async () => [ok('database', 'Postgres')]),
    ).toHaveLength(1);
  });

  it('calls a check slow that is not finished, and nothing broken', async () => {
    expect(await runCheck('decisions', 'correct it', never, LIMIT_MS)).toEqual([
      {
        part: 'decisions',
        status: 'warn',
        found: 'slow: not finished within 0.02 s, and not checked',
        todo: expect.stringMatching(/no setting of it is wrong$/),
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

  const apart = (aheadMs: number) => ({ aheadMs, tookMs: 1 });

  it('says how exact the comparison of clocks is, where the answer was slow', () => {
    expect(clockFinding({ aheadMs: 0, tookMs: 9_000 })).toMatchObject({
      status: 'ok',
      found: "this machine's agrees with the database's, to within the 9 s that its answer took",
    });
  });

  it('reports a clock that differs from the database by more than seconds', () => {
    for (const ms of [0, 3_000, -3_000]) expect(clockFinding(apart(ms))).toMatchObject({ status: 'ok' });
    expect(clockFinding(apart(70_000))).toMatchObject({
      status: 'warn',
      found: 'this machine is 70 s ahead of the database',
    });
    expect(clockFinding(apart(-7_200_000))).toMatchObject({
      status: 'warn',
      found: 'this machine is 2 h behind the database',
    });
  });

  it('fails on the host of a signer that signs nothing, because clocks are apart', () => {
    expect(signerClockFinding(apart(59_000))).toMatchObject({ status: 'warn' });
    expect(signerClockFinding(apart(-61_000))).toMatchObject({
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

  it('counts the first that expires of a certificate and those that signed it', async () => {
    const until = (notAfterDate: string) =>
      generate([{ name: 'commonName', value: 'localhost' }], { notAfterDate: new Date(notAfterDate) });
    const [own, ca] = await Promise.all([until('2027-06-01T00:00:00Z'), until('2027-01-01T00:00:00Z')]);
    const chain = `${own.cert}\n${ca.cert}`;
    expect(certificateFinding('cert.pem', chain, Date.parse('2027-02-01T00:00:00Z'))).toMatchObject({
      status: 'fail',
      found: 'cert.pem expired at 2027-01-01T00:00:00.000Z',
    });
  });
});

describe('requests without an answer', () => {
  const now = Date.parse('2026-11-26T12:00:00Z');
  const request = (hasEffect: boolean) => ({
    organizationId: 'org_1',
    method: 'POST',
    path: '/api/v1/transactions',
    createdAt: new Date(now - 600_000),
    hasEffect,
  });

  test('are not a fault where their effect is recorded, and else name what has to be sent again', () => {
    expect(unansweredFinding([], now)).toEqual(ok('requests', 'none stuck'));
    expect(unansweredFinding([request(true), request(true)], now)).toEqual(
      ok('requests', '2 without an answer had their effect: a repeat gets the answer'),
    );
    expect(unansweredFinding([request(false), request(true)], now)).toEqual({
      part: 'requests',
      status: 'warn',
      found:
        '1 without an answer and without an effect: POST /api/v1/transactions of org_1, 10 min ago; 1 without an answer had their effect: a repeat gets the answer',
      todo: expect.stringMatching(/clients send them again, with the same X-Idempotency-Key/),
    });
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
    expect(await reachSignerEndpoints(network)).toEqual({
      clients: [],
      findings: [{ part: 'endpoints 7', status: 'ok', found: expect.stringContaining('refused') }],
    });
  });

  test('that do not answer are a failure, each', async () => {
    const signerRpcUrls = ['http://127.0.0.1:1/a', 'http://127.0.0.1:1/b'];
    const { clients, findings } = await reachSignerEndpoints({ ...network, signerRpcUrls });
    expect(clients).toEqual([]);
    expect(findings.map(({ status, todo }) => [status, todo])).toEqual(
      Array(2).fill(['fail', expect.stringContaining('signerRpcUrls')]),
    );
  });
});
