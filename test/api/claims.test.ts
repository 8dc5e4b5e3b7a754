import {
  change,
  makeAccount,
  proposalPath,
  proposeChange,
  read,
  refusal,
  refusalIn,
  type Shown,
} from '../support/api';
import { anAddress } from '../support/builders';
import { shortLivedService, sign, type TestOrganization, type TestService } from '../support/service';
import { until } from '../support/until';

/** Two requests for one thing: the first holds it, the second has it once the first has expired. */
interface Contest {
  readonly first: [path: string, body: object];
  readonly second: [path: string, body: object];
}

let api: TestService;
let org: TestOrganization;
let contests: Record<string, Contest>;
/** The proposals of the first requests, by the thing. */
const holders: Record<string, Shown> = {};

const send = ([path, body]: [string, object]) =>
  api.http.send({ key: org.adminKey, path: `/api/v1${path}`, body });

beforeAll(async () => {
  api = await shortLivedService();
  org = await api.createOrganization();
  const done = await change(api.http, org, '/groups/proposals/create', {
    items: [{ name: 'Traders', memberIds: [] }],
  });
  const group = done.result.resources[0].id;
  const account = (await makeAccount(api.http, org)).id;
  const wallet = anAddress();
  contests = {
    'a member': {
      first: ['/members/proposals/update', { items: [{ id: org.dave.id, name: 'David' }] }],
      second: ['/members/proposals/remove', { ids: [org.dave.id] }],
    },
    'a new wallet': {
      first: ['/members/proposals/create', { items: [{ name: 'Erin', walletAddress: wallet }] }],
      second: [
        '/members/proposals/update',
        { items: [{ id: org.otherBot.id, walletAddress: wallet.toLowerCase() }] },
      ],
    },
    'a group': {
      first: ['/groups/proposals/delete', { items: [{ id: group }] }],
      second: [
        '/groups/proposals/update',
        { items: [{ id: group, memberUpdates: [{ action: 'addMember', id: org.alice.id }] }] },
      ],
    },
    'an account': {
      first: ['/accounts/proposals/update', { items: [{ id: account, networkIds: [31338] }] }],
      second: ['/accounts/proposals/update', { items: [{ id: account, name: 'Renamed' }] }],
    },
    'the place of the admin proposal': {
      first: ['/admins/proposals/update', { updates: [], threshold: 3 }],
      second: ['/admins/proposals/update', { updates: [], threshold: 4 }],
    },
  };
  await Promise.all(
    Object.entries(contests).map(async ([thing, { first, second }]) => {
      holders[thing] = await proposeChange(api.http, org, ...first);
      const refused = refusal(409, 'conflict', null);
      expect(refusalIn(await send(second), refused)).toEqual(refused);
    }),
  );
  for (const { id } of Object.values(holders)) {
    await until(`the expiry of ${id} is recorded`, async () => {
      const path = `/api/v1/audit-logs?action=proposal.expired&resourceId=${id}`;
      return (await read(api.http, org.readKey, path)).length === 1;
    });
  }
});
afterAll(() => api?.stop());

describe.each(['a member', 'a new wallet', 'a group', 'an account', 'the place of the admin proposal'])(
  'the claim on %s',
  (thing) => {
    it('ends when its proposal expires', async () => {
      const { id, resourceType } = holders[thing];
      const expired = await read(api.http, org.readKey, proposalPath(id, '', resourceType));
      expect(expired).toMatchObject({ signatureStatus: 'expired', executionStatus: null });
      const late = await sign(api.http, org.adminKey, holders[thing], org.alice);
      expect([late.status, late.body.code]).toEqual([422, 'proposalExpired']);
      const contest = contests[thing];
      if (!contest) throw new Error(`nobody contests ${thing}`);
      expect((await send(contest.second)).status).toBe(201);
    });
  },
);
