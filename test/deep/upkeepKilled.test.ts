import { type Address, parseAbi, parseEventLogs } from 'viem';
import { unarmed } from '../chaos/paymentFixture';
import { change, makeAccount } from '../support/api';
import { type ServiceProcess, startServiceProcess } from '../support/process';
import { startTestService, type TestOrganization, type TestService } from '../support/service';
import { chainsOf, safesOf, untilOwned, untilReady, upkeepInJournal } from '../support/upkeepOnChains';

/** What a killed process held is free again after a minute, and then Temporal has to notice. */
const LIMIT_MS = 180_000;

/** The failpoints that each transaction of the upkeep reaches once its nonce is in the journal. */
const IN_FLIGHT = ['signer.upkeepReserved', 'signer.envelopeStored', 'signer.upkeepSent'];

const abi = parseAbi(['event AddedOwner(address indexed owner)']);

let api: TestService;
let signer: ServiceProcess;

beforeAll(async () => {
  api = await startTestService({ env: { ORGWALLET_ROLES: 'api,worker,chain' } });
  signer = await startServiceProcess(api.env, { roles: ['signer'] });
});
afterAll(async () => {
  await Promise.all([signer?.stop(), api?.stop()]);
});

/** The admins decide; the signer is killed at the failpoint while it does what follows, and starts again. */
async function decideKilled(failpoint: string, org: TestOrganization, body: object): Promise<void> {
  await signer.stop();
  await signer.start(unarmed(failpoint));
  await signer.arm();
  // Whether its answer comes before the kill is a matter of chance: the seal is what counts.
  const answered = change(api.http, org, '/admins/proposals/update', body).catch(() => undefined);
  await signer.died();
  await answered;
  await signer.start();
}

/** Only these wallets were ever written into the admins' Safe, on any network. */
async function expectOnlyAdmins(org: TestOrganization): Promise<void> {
  const { safe } = await safesOf(api, org);
  const named = [org.alice, org.bob, org.carol, org.bot].map(({ wallet }) => wallet.address).sort();
  for (const { client } of chainsOf(api)) {
    const logs = await client.getLogs({ address: safe.address as Address, fromBlock: 0n });
    const added = parseEventLogs({ abi, logs }).map(({ args }) => args.owner);
    expect([...added].sort()).toEqual(named);
  }
}

/** No nonce has a second content, and nothing of it was signed for two nonces. Returns how many transactions there were. */
async function expectOneContent(org: TestOrganization): Promise<number> {
  const contents = await upkeepInJournal(signer.config.journalFile, org);
  const attempts = await api.db('chain_attempts').where({ organization_id: org.id, kind: 'upkeep' });
  expect(attempts.map(({ safe_tx_hash: hash }) => hash).sort()).toEqual([...contents.values()].sort());
  return contents.size;
}

describe('a signer that is killed while it keeps the admins’ Safe', () => {
  it.each(['signer.upkeepJournaled', ...IN_FLIGHT])(
    'at %s, of the first owners and of others: writes the sealed admins once',
    async (failpoint) => {
      const org = await api.createOrganization();
      const networkIds = api.config.networks.map(({ id }) => id);
      // The admins have a Safe where the organization has an account.
      await makeAccount(api.http, org, { networkIds });
      const all = [org.alice, org.bob, org.carol, org.bot];
      await decideKilled(failpoint, org, { updates: [], threshold: 2, onChain: { enabled: true } });
      await untilOwned(api, org, { admins: all, threshold: 2 }, LIMIT_MS);
      await untilReady(api, org, LIMIT_MS);
      const left = [org.alice, org.bob, org.bot];
      const updates = [{ action: 'removeMember', id: org.carol.id }];
      await decideKilled(failpoint, org, { updates, threshold: 2 });
      await untilOwned(api, org, { admins: left, threshold: 2 }, LIMIT_MS);
      await expectOnlyAdmins(org);
      // The first owners, the module of the account, the other owners.
      expect(await expectOneContent(org)).toBe(3 * networkIds.length);
    },
    3 * LIMIT_MS,
  );

  it.each(['signer.securingJournaled', ...IN_FLIGHT])(
    'at %s, of an account: enables its module once',
    async (failpoint) => {
      const org = await api.createOrganization();
      const networkIds = api.config.networks.map(({ id }) => id);
      const switched = (is: boolean) => ({ updates: [], threshold: 2, onChain: { enabled: is } });
      await makeAccount(api.http, org, { networkIds });
      await change(api.http, org, '/admins/proposals/update', switched(true));
      const admins = [org.alice, org.bob, org.carol, org.bot];
      await untilOwned(api, org, { admins, threshold: 2 }, LIMIT_MS);
      await untilReady(api, org, LIMIT_MS);
      // What is left to do once it is on again is the account that was made meanwhile.
      await change(api.http, org, '/admins/proposals/update', switched(false));
      await makeAccount(api.http, org, { networkIds });
      await decideKilled(failpoint, org, switched(true));
      await untilReady(api, org, LIMIT_MS);
      await expectOnlyAdmins(org);
      expect(await expectOneContent(org)).toBe(3 * networkIds.length);
    },
    3 * LIMIT_MS,
  );
});
