import { createHash, randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { kitHash, type RescueKit, rescueSafes, safeAddress } from '@orgwallet/client/rescue';
import { projectRoot } from '../../src/projectRoot';
import { change, makeAccount, type Shown } from '../support/api';
import { aHash, anAddress } from '../support/builders';
import { sharedService, type TestOrganization, type TestService } from '../support/service';
import { temporaryDir } from '../support/stack';
import { until } from '../support/until';
import { command, json, refused, words } from './command';

/** The command without any setting: it reaches neither a service nor a database. */
const OFFLINE = {};

let service: TestService;
let org: TestOrganization;
let account: Shown;
let kit: RescueKit;
let genesis: string;

const newPath = () => join(temporaryDir(), randomUUID());
function fileOf(content: unknown): string {
  const path = newPath();
  writeFileSync(path, JSON.stringify(content, null, 2));
  return path;
}

const shownStatus = () => words(service.env, 'rescue', 'status', '--org', org.id);

beforeAll(async () => {
  service = await sharedService();
  org = await service.createOrganization();
  account = await makeAccount(service.http, org, { networkIds: [31_337] });
  expect(await shownStatus()).toContain("The admins' Safe is off");
  expect(await refused(service.env, 'rescue', 'kit', '--org', org.id)).toContain(`${org.id} is off`);
  const onChain = { updates: [], threshold: 2, onChain: { enabled: true } };
  await change(service.http, org, '/admins/proposals/update', onChain);
  const file = newPath();
  await words(service.env, 'rescue', 'kit', '--org', org.id, '--out', file);
  kit = JSON.parse(readFileSync(file, 'utf8'));
  genesis = newPath();
  await words(service.env, 'org', 'genesis', org.id, '--out', genesis);
});
afterAll(() => service?.stop());

describe('orgwallet rescue', () => {
  it('writes the kit of an organization: every account, and what takes it over', async () => {
    const { signingKey, adminsSafe, keeper } = kit;
    const state = JSON.parse(kit.head.state);
    expect({ keeper, adminsSafe }).toEqual(rescueSafes(signingKey, state.admins.id));
    expect(safeAddress(signingKey, account.id)).toBe(account.address);
    const { id, name, address } = account;
    expect(kit.networks).toMatchObject([{ networkId: 31_337, accounts: [{ id, name, address }] }]);
    expect(kit.admins.members.map(({ walletAddress }) => walletAddress)).toContain(org.alice.wallet.address);
    const printed = await json(service.env, 'rescue', 'kit', '--org', org.id);
    expect(printed).toEqual({ ...kit, createdAt: expect.any(String), networks: expect.any(Array) });
    expect(await refused(service.env, 'rescue', 'kit', '--org', 'org_none')).toContain('org_none not found');
  });

  it('shows the status of each network, and what is weak', async () => {
    const text = await until('the account can be taken over', async () => {
      const shown = await shownStatus();
      return shown.includes('current') && shown.includes('1 of 1') && shown;
    });
    expect(text).toContain(`admins' Safe ${kit.adminsSafe}: 2 of 4 admins can take the accounts over`);
    expect(text).toMatch(/\(31337\) +current +\d+ s +2 of 4 +1 of 1$/m);
    expect(text).not.toContain('warning');
    await change(service.http, org, '/admins/proposals/update', { updates: [], threshold: 1 });
    const { warnings, networks, accounts } = await json(service.env, 'rescue', 'status', '--org', org.id);
    expect(warnings).toEqual([
      'threshold 1: one stolen wallet takes every account',
      '1 admin is a bot: the threshold is reached without a person',
    ]);
    expect([networks.length, accounts]).toEqual([1, []]);
    expect(await refused(service.env, 'rescue', 'status', '--org', 'org_none')).toContain(
      'org_none not found',
    );
  });

  it('verifies a kit offline, alone and against what the founders signed', async () => {
    for (const file of [fileOf(kit), fileOf({ data: kit })]) {
      const text = await words(OFFLINE, 'rescue', 'verify', file, '--genesis', genesis);
      expect(text).toContain(`admins' Safe  ${kit.adminsSafe}\n`);
      expect(text).toContain(`hash          ${kitHash(kit)}\n`);
      expect(text).toContain('Its keys are those of the genesis.');
    }
    expect(await words(OFFLINE, 'rescue', 'verify', fileOf(kit))).toContain('Compare the two keys');
    const other = await service.createOrganization();
    const another = newPath();
    await words(service.env, 'org', 'genesis', other.id, '--out', another);
    for (const [file, options, reason] of [
      [fileOf(kit), ['--genesis', another], 'head.state.id'],
      [fileOf(kit), ['--genesis', genesis, '--hash', aHash()], 'digest'],
      [fileOf({ ...kit, adminsSafe: anAddress() }), [], 'adminsSafe'],
      [fileOf({}), [], 'type'],
    ] as const) {
      expect(await refused(OFFLINE, 'rescue', 'verify', file, ...options)).toContain(reason);
    }
    expect(await refused(OFFLINE, 'rescue', 'verify', genesis)).toContain('type');
  });

  it('writes the page of this build, and never over a file', async () => {
    const file = newPath();
    const { sha256 } = await json(OFFLINE, 'rescue', 'page', '--out', file);
    const page = readFileSync(file);
    expect(page).toEqual(readFileSync(join(projectRoot(), 'dist', 'rescue.html')));
    expect(createHash('sha256').update(page).digest('hex')).toBe(sha256);
    expect((await command(OFFLINE, 'rescue', 'page', '--out', file)).status).toBe(1);
  });
});
