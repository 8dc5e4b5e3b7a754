import { createApi, PayloadMismatch } from '@orgwallet/client';
import { checkRescueKit, type RescueKit, rescueKit } from '@orgwallet/client/rescue';
import { deriveAdminsSafe } from '../../src/chain/adminsSafe';
import { decideAdminsSafe, sealedStateOf } from '../support/adminsSafe';
import { expectRefused, makeAccount, refusal, sharedApi } from '../support/api';
import { newAddress } from '../support/furnished';
import { type InterceptingProxy, startInterceptingProxy } from '../support/interceptingProxy';
import type { TestOrganization, TestService } from '../support/service';

let service: TestService;
let proxy: InterceptingProxy;
let org: TestOrganization;

beforeAll(async () => {
  service = await sharedApi();
  proxy = await startInterceptingProxy(service);
  org = await service.createOrganization();
});
afterAll(async () => {
  proxy?.close();
  await service?.stop();
});

const KIT = { path: '/api/v1/rescue-kit' };

const sealedState = () => sealedStateOf(service.db, org);
const decideOnChain = (onChain: boolean) => decideAdminsSafe(service.db, org, onChain);

const client = () => createApi({ baseUrl: proxy.baseUrl, apiKey: org.readKey });

describe('the rescue kit', () => {
  it("is not there while the admins' Safe is off", async () => {
    const { status, body } = await service.http.send({ key: org.readKey, ...KIT });
    expect([status, body.code]).toEqual([404, 'notFound']);
    expect(body.message).toBe("rescue kit not found: the admins' Safe of this organization is off");
  });

  it('has what a client derives itself, of the keys in the genesis, and every account', async () => {
    const account = await makeAccount(service.http, org);
    await decideOnChain(true);
    const state = await sealedState();
    const kit = await rescueKit(client(), state);
    const { keeper, safe } = deriveAdminsSafe(state);
    expect([kit.keeper, kit.adminsSafe]).toEqual([keeper.address, safe.address]);
    expect(kit.networks.map(({ networkId, name, accounts }) => ({ networkId, name, accounts }))).toEqual([
      {
        ...{ networkId: 31337, name: account.networks[0].name },
        accounts: [{ id: account.id, name: account.name, address: account.address }],
      },
    ]);
    const people = [org.alice, org.bob, org.carol, org.bot].map(({ wallet }) => wallet.address).sort();
    expect(kit.admins.members.map(({ walletAddress }) => walletAddress).sort()).toEqual(people);
    expect([kit.admins.threshold, kit.sequence]).toEqual([2, state.sequence]);
  });

  it('of an API that lies is refused, whatever it makes of it', async () => {
    const state = await sealedState();
    const honest = await rescueKit(client(), state);
    const other = newAddress();
    const swapped = (from: string) => JSON.parse(JSON.stringify(honest).replaceAll(from, other));
    const [network] = honest.networks;
    const lies: readonly (readonly [string, unknown])[] = [
      ["another admins' Safe", swapped(honest.adminsSafe)],
      ['another keeper', swapped(honest.keeper)],
      ['another account', swapped(network?.accounts[0]?.address ?? '')],
      ['another signing key', swapped(honest.signingKey)],
      ['another seal key', swapped(honest.sealKey)],
      ['another admin', swapped(honest.admins.members[0]?.walletAddress ?? '')],
      ['a lower threshold', { ...honest, admins: { ...honest.admins, threshold: 1 } }],
      ['no account', { ...honest, networks: [] }],
      [
        'another call',
        { ...honest, networks: [{ ...network, takeovers: [{ ...network?.takeovers[0], to: other }] }] },
      ],
    ];
    for (const [what, lie] of lies) {
      proxy.intercept({ after: (_, body) => ({ ...body, data: lie }) });
      const refused = await rescueKit(client(), state).catch((error: unknown) => error);
      expect([what, refused]).toEqual([what, expect.any(PayloadMismatch)]);
    }
    proxy.intercept({});
    // An organization of its own, whole in itself: only the keys of the genesis say that it is another one.
    const another = await service.createOrganization();
    [org] = [another];
    await decideOnChain(true);
    const theirs: RescueKit = await rescueKit(client(), await sealedState());
    expect(await checkRescueKit(theirs)).toEqual(theirs);
    await expect(rescueKit(client(), state)).rejects.toThrow(PayloadMismatch);
  });

  it('is for those whose key may read', async () => {
    await expectRefused(service.http, org, { key: 'wrong', ...KIT }, refusal(401, 'unauthorized'));
  });
});
