import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createOrgwallet, type Orgwallet } from '@orgwallet/client';
import { operations } from '../../src/operations';
import { newAccount, rejection } from '../../tools/demo/chapters/accounts';
import { adminsAsBefore } from '../../tools/demo/chapters/admins';
import { runScenario } from '../../tools/demo/scenario';
import { carryOut, NotAsExpected, type Stage } from '../../tools/demo/stage';
import { ensureDemoToken, LOCAL_FUNDER } from '../../tools/dev/localContracts';
import type { DemoFile } from '../../tools/dev/prepare';
import { type InterceptingProxy, startInterceptingProxy } from '../support/interceptingProxy';
import { sharedService, type TestMember, type TestService } from '../support/service';

/** What the whole story may take where other tests run beside it; on its own it takes some 20 s. */
const SCENARIO_LIMIT_MS = 300_000;

let service: TestService;
let proxy: InterceptingProxy;
let client: Orgwallet;
let demo: DemoFile;
let printed: string[];
let stage: Stage;

beforeAll(async () => {
  service = await sharedService();
  const org = await service.createOrganization();
  // A process learns at its start which certificates it accepts: the way to the service goes over one that does.
  proxy = await startInterceptingProxy(service);
  const shown = ({ id, name, type, wallet, privateKey }: TestMember) => ({
    id,
    name,
    type,
    walletAddress: wallet.address,
    privateKey,
  });
  demo = {
    origin: new URL(proxy.baseUrl).origin,
    baseUrl: proxy.baseUrl,
    caFile: '',
    operationsUrl: '',
    temporalUiUrl: null,
    organizationId: org.id,
    apiKeys: [{ key: org.adminKey, memberId: org.bot.id }],
    admins: { threshold: 2, members: [org.bot, org.alice, org.bob, org.carol].map(shown) },
    members: [shown(org.dave)],
    networks: await Promise.all(
      service.config.networks.map(async ({ id, name, rpcUrls: [rpcUrl = ''] }) => ({
        id,
        name,
        rpcUrl,
        funderPrivateKey: LOCAL_FUNDER.privateKey,
        testTokens: [await ensureDemoToken(rpcUrl)],
      })),
    ),
  };
  client = createOrgwallet({ baseUrl: proxy.baseUrl, apiKey: org.adminKey });
});
let run = 0;

beforeEach(() => {
  printed = [];
  run += 1;
  stage = {
    client,
    asked: new Map(),
    demo,
    named: (name) => `${name} ${run}`,
    linkOf: ({ id }) => `ui/${id}`,
    print: {
      chapter: (title) => printed.push(title),
      line: (label, text) => printed.push(`${label}: ${text}`),
      link: (url) => printed.push(url),
      plain: (text) => printed.push(text),
    },
  };
});
afterAll(async () => {
  proxy?.close();
  await service?.stop();
});

/** The kinds of operation without a completed proposal. */
async function kindsMissing(): Promise<string[]> {
  const page = await client.listProposals({ limit: 100, status: 'closed' });
  const done = page.filter(({ executionStatus }) => executionStatus === 'completed');
  const shown = new Set(done.map(({ resourceType, action }) => `${resourceType} ${action}`));
  return operations
    .map(({ resourceType, action }) => `${resourceType} ${action}`)
    .filter((kind) => !shown.has(kind));
}

/** The records of the organization, without accounts, which cannot be removed. */
async function records() {
  const [members, groups, policies, admins] = await Promise.all([
    client.listMembers(),
    client.listGroups(),
    client.listPolicies(),
    client.listAdmins(),
  ]);
  return { members, groups, policies, admins };
}

describe('demo', () => {
  it.each(['the first time', 'a second time'])(
    'completes %s and restores the organization',
    async () => {
      const before = await records();
      await runScenario(stage);
      expect(await records()).toEqual(before);
      const lines = printed.join('\n');
      expect(lines).toMatch(/too early: refused: .*thresholdNotMet/);
      expect(lines).toMatch(/: not deployed yet/);
      expect(printed.filter((line) => /bytes of code; deployed by 0x/.test(line))).toHaveLength(4);
      expect(
        new Set(printed.flatMap((line) => /(?:Savings|Reserve) \d+: (0x\w{40})$/.exec(line)?.[1] ?? [])).size,
      ).toBe(1);
      expect(lines).toMatch(/rejected: nothing was changed\n: no account was created/);
      expect(lines).toMatch(/Payout Bot \d+: .*registered at/);
      expect(lines).toMatch(/again: refused: 400 invalidSignature/);
      expect(lines).toMatch(/left out: refused: 400 validationError: .*accountIds/);
      expect(lines).toMatch(/WITHOUT LIMIT/);
      expect(lines).toMatch(/conflict: refused: 409 conflict: the open proposal prop_\w+ already changes/);
      expect(lines).toMatch(
        /meanwhile: prop_\w+: 1 of 2, pendingReviewSignatures\nnote: "Carol" .*: their signatures no longer count\n/,
      );
      expect(lines).toMatch(/note: the admin threshold is 3 now/);
      expect(lines).toMatch(/blocked: member mem_\w+ has left the organization; nothing was changed/);
      expect(printed.filter((line) => line.startsWith('ui/prop_')).length).toBeGreaterThan(20);
      expect(await kindsMissing()).toEqual([]);
      expect(await client.listProposals({ status: 'open' })).toEqual([]);

      expect(lines).toMatch(/on chain: 0x\w{40} has 2 ETH and 100 DEMO/);
      expect(lines).toMatch(
        /too much: refused: 403 forbidden: .*amount 20\.000000000000000001 "DEMO" \(wanted: at most/,
      );
      expect(lines).toMatch(/blocked: budget: .*within any 24 hours/);
      expect(lines).toMatch(/Alice: signed to approve \(1 of 2\).*\n.*\nBob: signed to approve \(2 of 2\)/);
      expect(lines).toMatch(/Alice: signed to reject \(2 of 2\): rejectionReady\nrejected: nothing was sent/);
      expect(lines).toMatch(
        /asked: Call burn of 0x\w{40} with 1 parameter\n.*\nvalue: 10000000000000000000$/m,
      );
      expect(lines).toMatch(/failed: reverted: .*burn amount exceeds balance/);
      expect(printed.filter((line) => /completed: block \d+, transaction 0x/.test(line))).toHaveLength(4);
      expect(printed.filter((line) => line.startsWith('ui/txn_'))).toHaveLength(7);
      expect(await client.listTransactions({ status: 'queued' })).toEqual([]);
    },
    SCENARIO_LIMIT_MS,
  );

  it('restores the admins of demo.json', async () => {
    const before = await client.listAdmins();
    const [carol] = demo.admins.members.filter(({ name }) => name === 'Carol');
    const [dave] = demo.members;
    const updates = [
      { action: 'removeMember' as const, id: carol?.id ?? '' },
      { action: 'addMember' as const, id: dave?.id ?? '' },
    ];
    await carryOut(stage, { type: 'admins.update', updates, threshold: 3 });
    await client.proposeAdminsUpdate({ updates: [], threshold: 1 });
    await adminsAsBefore(stage);
    expect(await client.listAdmins()).toEqual(before);
  });

  it('fails when a chain lacks the account that the service reports', async () => {
    const [first, second] = demo.networks;
    if (!first || !second) throw new Error('there are two networks');
    const chain = createServer((_, response) => response.end(JSON.stringify({ result: '0x' })));
    await new Promise<void>((resolve) => chain.listen(0, '127.0.0.1', resolve));
    const empty = { ...second, rpcUrl: `http://127.0.0.1:${(chain.address() as AddressInfo).port}` };
    try {
      const networks = [first, empty];
      await expect(newAccount({ ...stage, demo: { ...demo, networks } })).rejects.toThrow(
        /there is no code at/,
      );
    } finally {
      chain.closeAllConnections();
      chain.close();
    }
  });

  it('fails when a signature does not count', async () => {
    const [, alice] = demo.admins.members;
    if (!alice) throw new Error('there are two admins');
    const same = [alice, alice];
    const admins = { threshold: 2, members: same };
    await expect(rejection({ ...stage, demo: { ...demo, admins } })).rejects.toThrow(/already signed/);
    const none = { threshold: 2, members: [] };
    await expect(rejection({ ...stage, demo: { ...demo, admins: none } })).rejects.toThrow(NotAsExpected);
  });
});
