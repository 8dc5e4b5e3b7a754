import { insertDestination } from '../../src/db/destinations';
import type { DestinationKind } from '../../src/domain/delivery';
import { anId } from '../support/builders';
import { sharedService, type TestOrganization, type TestService } from '../support/service';
import { json, refused, words } from './command';

let service: TestService;
let org: TestOrganization;
let webhook: string;
let channel: string;

async function insert(id: string, kind: DestinationKind): Promise<string> {
  await service.db.transaction((tx) =>
    insertDestination(tx, {
      ...{ id, organizationId: org.id, kind, url: 'https://receiver.example/secret', types: null },
      ...{ description: '', position: 0n, hash: '', disabledFor: 'request' as const },
    }),
  );
  return id;
}

const listed = async (noun: string) =>
  (await json(service.env, noun, 'list', '--org', org.id)).map(({ id }: { id: string }) => id);
const entries = () => service.db('audit_log').where({ organization_id: org.id, resource_id: channel });

beforeAll(async () => {
  service = await sharedService();
  org = await service.createOrganization();
  webhook = await insert(anId('whk'), 'webhook');
  channel = await insert(anId('chn'), 'slack');
});
afterAll(() => service?.stop());

it('webhooks and channels are listed apart', async () => {
  expect([await listed('webhooks'), await listed('channels')]).toEqual([[webhook], [channel]]);
});

it('nothing is sent to a channel once more, and no entry about it says so', async () => {
  for (const [command, ...more] of [
    ['resend', '--from', '1', '--to', '9'],
    ['resend'],
    ['pause'],
    ['resume'],
  ]) {
    expect(await refused(service.env, 'webhooks', command as string, channel, ...more)).toContain(
      `webhook ${channel} not found`,
    );
  }
  expect(await entries()).toEqual([]);
  expect(await refused(service.env, 'channels', 'pause', webhook)).toContain(`channel ${webhook} not found`);
});

it('a channel is paused and resumed, audited as one', async () => {
  expect(await words(service.env, 'channels', 'pause', channel)).toContain(`${channel} is paused`);
  expect(await words(service.env, 'channels', 'resume', channel)).toContain(`${channel} goes on`);
  expect((await entries()).map(({ action }) => action).sort()).toEqual(['channel.paused', 'channel.resumed']);
});
