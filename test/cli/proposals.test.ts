/** @deep */

import { join } from 'node:path';
import { requireRow } from '../../src/db/rows';
import { approvalWorkflowId } from '../../src/temporal/ids';
import { carryOut, propose, read, type Shown, settled } from '../support/api';
import {
  fundRelayers,
  sign,
  startTestService,
  type TestOrganization,
  type TestService,
} from '../support/service';
import { freePorts, networksFile, rpc, sharedStack, temporaryDir } from '../support/stack';
import { itDeep } from '../support/suite';
import { until } from '../support/until';
import { command, json, refused, words } from './command';
import { type Gate, startGate } from './gate';

const STEADY_ID = 31_337;
const SHAKY_ID = 31_338;

let gate: Gate;
let service: TestService;
let env: NodeJS.ProcessEnv;
let org: TestOrganization;

beforeAll(async () => {
  const [steady, shaky] = sharedStack().chains;
  gate = await startGate(shaky?.rpcUrl ?? '');
  const file = networksFile([
    { id: STEADY_ID, name: 'Steady', rpcUrl: steady?.rpcUrl },
    { id: SHAKY_ID, name: 'Shaky', rpcUrl: gate.url },
  ]);
  service = await startTestService({
    env: { NETWORKS_FILE: file, TEMPORAL_UI_URL: 'http://127.0.0.1:8233/' },
  });
  env = service.env;
  org = await service.createOrganization();
});
afterAll(async () => {
  await service?.stop();
  await gate?.stop();
});

const shown = (id: string) => read(service.http, org.readKey, `/api/v1/accounts/proposals/${id}`);
const about = (findings: Shown[], part: string) => findings.find((finding) => finding.part === part);

async function emptyRelayer(networkId: number): Promise<string> {
  const { address } = requireRow(
    await service
      .db('relayers')
      .where({ network_id: BigInt(networkId) })
      .first(),
  );
  const chain = sharedStack().chains.find(({ chainId }) => chainId === networkId);
  await rpc(chain?.rpcUrl ?? '', 'anvil_setBalance', [address, '0x0']);
  return address;
}

/** A deployment that failed because its relayer has no funds; the other network is done. */
async function failedDeployment(): Promise<{ proposal: Shown; relayer: string }> {
  const open = await propose(service.http, org, { networkIds: [STEADY_ID, SHAKY_ID] });
  const relayer = await emptyRelayer(SHAKY_ID);
  await sign(service.http, org.adminKey, open, org.alice);
  await sign(service.http, org.adminKey, open, org.bob, 'approve', { execute: true });
  const proposal = await settled(service.http, org, open.id);
  expect(proposal).toMatchObject({ executionStatus: 'failed', failure: { code: 'relayerFunds' } });
  return { proposal, relayer };
}

describe('proposals list', () => {
  it('shows the newest first with the status of each, of one organization or of all', async () => {
    const other = await service.createOrganization();
    expect(await json(env, 'proposals', 'list', '--org', other.id)).toEqual([]);
    expect(await words(env, 'proposals', 'list', '--org', other.id)).toBe('There are no proposals.\n');
    const first = await propose(service.http, other);
    const second = await carryOut(service.http, other, await propose(service.http, other));
    const foreign = await propose(service.http, org);
    const ids = (list: Shown[]) => list.map(({ id }) => id);
    const own = await json(env, 'proposals', 'list', '--org', other.id);
    expect(ids(own)).toEqual([second.id, first.id]);
    expect(own[0]).toMatchObject({ organizationId: other.id, executionStatus: 'completed', failure: null });
    expect(ids(await json(env, 'proposals', 'list')).slice(0, 3)).toEqual([foreign.id, second.id, first.id]);
    const text = await words(env, 'proposals', 'list', '--org', other.id);
    expect(text).toMatch(new RegExp(`^${second.id} .*accounts create +Executed`, 'm'));
    expect(text).toMatch(new RegExp(`^${first.id} .*Waits for signatures: 2 more to approve`, 'm'));
    expect(await refused(env, 'proposals', 'list', '--org', 'org_none')).toBe(
      'organization org_none not found\n',
    );
  });
});

describe('proposals show', () => {
  it('shows the operation, who signed, what is missing, and the link to its workflow', async () => {
    const open = await propose(service.http, org, { name: 'Treasury' });
    await sign(service.http, org.adminKey, open, org.alice);
    await sign(service.http, org.adminKey, open, org.carol, 'reject');
    const workflowId = approvalWorkflowId({
      subject: 'proposal',
      resourceType: 'accounts',
      organizationId: org.id,
      id: open.id,
    });
    const found = await json(env, 'proposals', 'show', open.id);
    expect(found).toMatchObject({
      ...(await shown(open.id)),
      organizationId: org.id,
      workflowId,
      temporalUiUrl: `http://127.0.0.1:8233/namespaces/default/workflows/${encodeURIComponent(workflowId)}`,
    });
    const text = await words(env, 'proposals', 'show', open.id);
    for (const part of [
      open.summary,
      open.id,
      'Treasury',
      'Alice',
      'Carol',
      '1 more to approve',
      open.expiresAt,
    ]) {
      expect(text).toContain(part);
    }
    expect(text).toContain(encodeURIComponent(workflowId));
  });

  it.each([
    ['show', 'prop_none'],
    ['show', 'prop_01jz8k3v5fe5ht0n2m6w9r4xyz'],
    ['retry', 'prop_01jz8k3v5fe5ht0n2m6w9r4xyz'],
  ])('%s is refused for %s, which does not exist', async (verb, id) => {
    expect(await refused(env, 'proposals', verb, id)).toBe(`proposal ${id} not found\n`);
  });
});

describe('proposals retry', () => {
  itDeep('finishes a failed deployment, and repeats nothing', async () => {
    const { proposal, relayer } = await failedDeployment();
    const envelopes = () =>
      service
        .db('chain_envelopes')
        .where({ network_id: BigInt(STEADY_ID) })
        .count();
    const before = await envelopes();

    const failed = await json(env, 'proposals', 'list', '--failed');
    expect(failed.map(({ id }: Shown) => id)).toEqual([proposal.id]);
    expect(await words(env, 'proposals', 'list', '--failed')).toMatch(
      new RegExp(`^${proposal.id} .*waits for a retry.*${relayer} has 0 ETH on Shaky`, 'm'),
    );
    const text = await words(env, 'proposals', 'show', proposal.id);
    for (const part of ['relayerFunds', `relayer ${relayer} has 0 ETH`, 'attempt 1', 'retry']) {
      expect(text).toContain(part);
    }
    const doctor = await command(env, 'doctor', '--json');
    expect(doctor.status).toBe(1);
    const findings = JSON.parse(doctor.stdout);
    expect(about(findings, `relayer ${SHAKY_ID}`)).toMatchObject({
      status: 'fail',
      todo: `send ETH to ${relayer} on Shaky`,
    });
    expect(about(findings, 'failures')).toMatchObject({
      status: 'warn',
      found: expect.stringContaining(proposal.id),
    });

    // The cause is still there: it fails again, with its second attempt.
    expect(await json(env, 'proposals', 'retry', proposal.id)).toMatchObject({ id: proposal.id });
    expect(await settled(service.http, org, proposal.id)).toMatchObject({
      executionStatus: 'failed',
      failure: { code: 'relayerFunds', attempt: 2 },
    });

    await fundRelayers(service.db, service.config);
    const retried = await words(env, 'proposals', 'retry', proposal.id);
    expect(retried).toMatch(/^(Being executed|Executed)/);
    const done = await settled(service.http, org, proposal.id);
    expect(done.executionStatus).toBe('completed');
    expect(done.deployments.map(({ status }: Shown) => status)).toEqual(['completed', 'completed']);
    expect(await envelopes()).toEqual(before);
    const audit = await service.db('audit_log').where({ resource_id: proposal.id }).orderBy('position');
    expect(audit.slice(3).map(({ action, actor }) => `${action} by ${actor.type}`)).toEqual([
      'proposal.executionStarted by member',
      'proposal.executionFailed by system',
      'proposal.executionRetried by operator',
      'proposal.executionFailed by system',
      'proposal.executionRetried by operator',
      'proposal.executed by system',
    ]);

    expect(await json(env, 'proposals', 'list', '--failed')).toEqual([]);
    expect(await words(env, 'proposals', 'list', '--failed')).toMatch(/^(Nothing|There)/);
    expect(await refused(env, 'proposals', 'retry', proposal.id)).toContain('Executed');
  });

  it('does not approve: it refuses a proposal without enough signatures', async () => {
    const open = await propose(service.http, org);
    await sign(service.http, org.adminKey, open, org.alice);
    const before = await shown(open.id);
    expect(await refused(env, 'proposals', 'retry', open.id)).toMatch(/\S/);
    expect(await shown(open.id)).toEqual(before);
    // Enough signatures alone are not a failure to retry either: an execution is for those who may ask for it.
    await sign(service.http, org.adminKey, open, org.bob);
    const ready = await shown(open.id);
    expect(ready.signatureStatus).toBe('approvalReady');
    expect(await refused(env, 'proposals', 'retry', open.id)).toMatch(/\S/);
    expect(await shown(open.id)).toEqual(ready);
  });

  itDeep('says that the workflow service is unavailable', async () => {
    const [port] = await freePorts(1);
    const open = await propose(service.http, org);
    const unreachable = { ...env, TEMPORAL_ADDRESS: `127.0.0.1:${port}` };
    const { status, stdout, stderr } = await command(unreachable, 'proposals', 'retry', open.id, '--json');
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^the workflow service did not answer/);
  });
});

describe('doctor', () => {
  async function doctor(settings = env): Promise<{ status: number; findings: Shown[] }> {
    const { status, stdout } = await command(settings, 'doctor', '--json');
    return { status, findings: JSON.parse(stdout) };
  }

  it('reports every part of a healthy installation, and warns until the keystore has a backup', async () => {
    const before = await doctor();
    expect(before.findings.filter(({ status }) => status === 'fail')).toEqual([]);
    expect(before.status).toBe(0);
    for (const part of [
      'orgwallet',
      'service',
      'api',
      'temporal',
      'worker',
      'chain worker',
      'signer',
      `network ${STEADY_ID}`,
      `network ${SHAKY_ID}`,
      'database',
      'schema',
      `relayer ${STEADY_ID}`,
      `relayer ${SHAKY_ID}`,
      'keystore',
    ]) {
      expect(about(before.findings, part)).toMatchObject({ part, status: 'ok' });
    }
    expect(about(before.findings, `network ${STEADY_ID}`).found).toMatch(/Steady, block \d+/);
    expect(about(before.findings, 'temporal').found).toMatch(/server \d+\.\d+/);
    expect(about(before.findings, 'database').found).toMatch(/Postgres \d+/);
    expect(about(before.findings, 'backup')).toMatchObject({ status: 'warn' });
    await json(env, 'keystore', 'backup', '--out', join(temporaryDir(), 'copy.json'));
    expect(about((await doctor()).findings, 'backup')).toMatchObject({ status: 'ok' });
    const inWords = await command(env, 'doctor');
    expect(inWords.status).toBe(0);
    expect(inWords.stdout).toMatch(/^ok +database +Postgres/m);
    expect(inWords.stdout).not.toContain(service.env.KEYSTORE_PASSPHRASE);
  });

  it('names an unavailable network, and only that', async () => {
    gate.shut();
    // On a busy machine another part may not answer within doctor's limits either.
    await until('doctor names it alone', async () => {
      const { status, findings } = await doctor();
      expect(status).toBe(1);
      expect(about(findings, `network ${SHAKY_ID}`)).toMatchObject({
        status: 'fail',
        todo: expect.stringMatching(/\S/),
      });
      const others = findings.filter(({ part, status }) => status === 'fail' && !part.includes(SHAKY_ID));
      expect(others.filter(({ part }) => part !== 'service')).toEqual([]);
      expect(about(findings, `network ${STEADY_ID}`)).toMatchObject({ status: 'ok' });
      return true;
    }).finally(() => gate.open());
  });

  it('names an unavailable database, Temporal and workers, without the password, within seconds', async () => {
    const [postgres, temporal] = await freePorts(2);
    const begunAt = Date.now();
    const { status, findings } = await doctor({
      ...env,
      DATABASE_URL: `postgres://orgwallet:secret@127.0.0.1:${postgres}/orgwallet`,
      TEMPORAL_ADDRESS: `127.0.0.1:${temporal}`,
    });
    expect(Date.now() - begunAt).toBeLessThan(30_000);
    expect(status).toBe(1);
    for (const part of ['database', 'temporal']) {
      expect(about(findings, part)).toMatchObject({ status: 'fail', todo: expect.stringMatching(/\S/) });
    }
    expect(about(findings, `network ${STEADY_ID}`)).toMatchObject({ status: 'ok' });
    expect(JSON.stringify(findings)).not.toContain('secret');
  });

  it('compares settings with those of the signer, and says what follows', async () => {
    expect(about((await doctor()).findings, 'settings')).toMatchObject({ status: 'ok' });
    const { status, findings } = await doctor({ ...env, PROPOSAL_LIFETIME: '10d', MAX_GAS: '9000000' });
    expect(status).toBe(1);
    expect(findings.filter(({ part }) => part === 'settings').map(({ found }) => found)).toEqual([
      expect.stringMatching(
        /^PROPOSAL_LIFETIME is 240 h here and \d+ h at the signer \(.+\): it signs nothing that/,
      ),
      expect.stringMatching(/^MAX_GAS is 9000000 here and 5000000 at the signer \(.+\): it refuses/),
    ]);
  });

  itDeep('names roles that no process runs', async () => {
    const { status, findings } = await doctor({ ...env, TEMPORAL_TASK_QUEUE: 'nobody' });
    expect(status).toBe(1);
    for (const part of ['worker', 'chain worker']) {
      expect(about(findings, part)).toMatchObject({ status: 'fail' });
    }
    // The signer of this database runs, and polls the queues of its own settings.
    expect(about(findings, 'signer')).toMatchObject({
      status: 'warn',
      found: expect.stringContaining('no process poll nobody-signer'),
    });
  });

  it('detects a login with more rights than its role', async () => {
    const { status, findings } = await doctor({ ...env, DATABASE_URL: env.MIGRATION_DATABASE_URL });
    expect(status).toBe(1);
    expect(findings.filter(({ part }) => part === 'login')).toEqual([
      expect.objectContaining({
        status: 'fail',
        found: expect.stringContaining('login "orgwallet_owner" owns table'),
        todo: expect.stringContaining('use the login orgwallet_service'),
      }),
      expect.objectContaining({ status: 'ok', found: expect.stringContaining('orgwallet_signer') }),
    ]);
  });

  it('checks login and keystore where only the signer has a login', async () => {
    const { findings } = await doctor({ ...env, DATABASE_URL: '' });
    expect(about(findings, 'login')).toMatchObject({
      status: 'ok',
      found: 'orgwallet_signer has the rights of orgwallet_signer and no more',
    });
    expect(about(findings, 'keystore')).toMatchObject({ status: 'ok' });
    expect(findings.filter(({ status }) => status === 'fail')).toEqual([]);
  });

  itDeep('detects a keystore of another database', async () => {
    const wrong = { ...env, KEYSTORE_PASSPHRASE: 'another passphrase' };
    const { status, findings } = await doctor(wrong);
    expect(status).toBe(1);
    expect(about(findings, 'keystore')).toMatchObject({
      status: 'fail',
      found: expect.stringContaining('passphrase is wrong'),
    });
  });
});
