import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { OrgwalletClient } from '../../src/demo/client';
import { addNetworks, NotAsExpected, newAccount, rejection, type Stage } from '../../src/demo/story';
import type { DemoFile } from '../../src/dev/prepare';
import { startTestService, type TestMember, type TestService } from '../support/service';

let service: TestService;
let client: OrgwalletClient;
let demo: DemoFile;
let told: string[];
let stage: Stage;

beforeAll(async () => {
  service = await startTestService();
  const org = await service.createOrganization();
  const caFile = service.config.tls.certFile;
  const origin = `https://localhost:${service.config.httpsPort}`;
  const shown = ({ id, name, type, wallet, privateKey }: TestMember) => ({
    id,
    name,
    type,
    walletAddress: wallet.address,
    privateKey,
  });
  demo = {
    origin,
    baseUrl: `${origin}/api/v1`,
    caFile,
    operationsUrl: '',
    temporalUiUrl: null,
    organizationId: org.id,
    apiKeys: [{ key: org.adminKey, memberId: org.bot.id }],
    admins: { threshold: 2, members: [org.bot, org.alice, org.bob, org.carol].map(shown) },
    members: [shown(org.dave)],
    networks: service.config.networks.map(({ id, name, rpcUrl }) => ({
      id,
      name,
      rpcUrl,
      funderPrivateKey: '',
      testTokens: [],
    })),
  };
  client = new OrgwalletClient({ origin, apiKey: org.adminKey, ca: readFileSync(caFile, 'utf8') });
});
beforeEach(() => {
  told = [];
  stage = {
    client,
    demo,
    linkOf: ({ id }) => `ui/${id}`,
    print: {
      chapter: (title) => told.push(title),
      line: (label, text) => told.push(`${label}: ${text}`),
      link: (url) => told.push(url),
      plain: (text) => told.push(text),
    },
  };
});
afterAll(async () => {
  client?.close();
  await service?.stop();
});

describe('the story of the demo', () => {
  it('makes an account on every network after people have signed', async () => {
    await newAccount(stage);
    expect(told[0]).toBe('An account on every network');
    expect(told.join('\n')).toMatch(/too early: .*thresholdNotMet/);
    expect(told.filter((line) => /signed to approve/.test(line)).map((line) => line.split(':')[0])).toEqual([
      'Alice',
      'Bob',
    ]);
    expect(told.filter((line) => /bytes of code; deployed by 0x/.test(line))).toHaveLength(2);
    expect(told.filter((line) => line.startsWith('ui/prop_'))).toHaveLength(1);
  });

  it('adds a network to an account, at the same address', async () => {
    await addNetworks(stage);
    expect(told.filter((line) => line.endsWith(': nothing there yet'))).toHaveLength(1);
    const addresses = told.flatMap((line) => /Savings: (0x\w{40})$/.exec(line)?.[1] ?? []);
    expect(addresses).toHaveLength(2);
    expect(new Set(addresses).size).toBe(1);
  });

  it('has a proposal rejected, of which nothing comes', async () => {
    await rejection(stage);
    expect(told.at(-1)).toMatch(/^rejected: .*no account was made$/);
  });

  it('fails when a chain does not have what the service says', async () => {
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
    const [bot, alice] = demo.admins.members;
    if (!bot || !alice) throw new Error('there are two admins');
    const same = [alice, alice];
    const admins = { threshold: 2, members: same };
    await expect(rejection({ ...stage, demo: { ...demo, admins } })).rejects.toThrow(/already signed/);
    const none = { threshold: 2, members: [] };
    await expect(rejection({ ...stage, demo: { ...demo, admins: none } })).rejects.toThrow(NotAsExpected);
  });
});
