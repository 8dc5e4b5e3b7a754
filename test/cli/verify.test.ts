import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hashDomain, hashStruct } from 'viem';
import { hashTypedPayload } from '../../src/chain/typedData';
import { propose, type Shown, sharedApi } from '../support/api';
import { bodiesFor, furnish, newAddress } from '../support/furnished';
import type { TestOrganization, TestService } from '../support/service';
import { temporaryDir } from '../support/stack';
import { createTransaction } from '../support/transactionApi';
import { json, refused, words } from './command';

let service: TestService;
let org: TestOrganization;
let proposal: Shown;
const name = randomUUID();

beforeAll(async () => {
  service = await sharedApi();
  org = await service.createOrganization();
  proposal = await propose(service.http, org, { name });
});
afterAll(() => service?.stop());

/** A file with something in it. */
function fileOf(content: unknown): string {
  const file = join(temporaryDir(), `${randomUUID()}.json`);
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
  return file;
}

/** The command without any setting: it reaches neither a service nor a database. */
const OFFLINE = {};

describe('orgwallet verify', () => {
  it('shows what a payload in a file does, and the hashes that a hardware wallet shows, offline', async () => {
    const { approvePayload } = proposal.signingPayloads;
    const { domain, message, primaryType, types } = JSON.parse(approvePayload);
    for (const content of [approvePayload, JSON.parse(approvePayload)]) {
      const text = await words(OFFLINE, 'verify', fileOf(content));
      expect(text).toContain(`payload: Approve the proposal "${proposal.id}"\norganization: "${org.id}"\n`);
      expect(text).toContain(`items[0].name: "${name}"\nitems[0].networkIds[0]: 31337\n`);
      expect(text).toContain(`summary       ${JSON.stringify(proposal.summary)}\n`);
      expect(text).toContain(`domain hash   ${hashDomain({ domain, types })}\n`);
      expect(text).toContain(`message hash  ${hashStruct({ data: message, primaryType, types })}\n`);
      expect(text).toContain(`digest        ${hashTypedPayload(approvePayload)}\n`);
    }
  });

  it('takes a response of the API, with all its payloads', async () => {
    const found = await json(OFFLINE, 'verify', fileOf({ data: proposal }));
    expect(found.map(({ name: payload }: Shown) => payload)).toEqual([
      'approvePayload',
      'rejectPayload',
      'initiatorPayload',
    ]);
    for (const { name: payload, digest } of found) {
      expect(digest).toBe(hashTypedPayload(proposal.signingPayloads[payload]));
    }
  });

  it('reads a proposal or a transaction by its id', async () => {
    const shown = await json(service.env, 'verify', proposal.id);
    expect(shown.map(({ digest }: Shown) => digest)).toEqual(
      ['approvePayload', 'rejectPayload'].map((payload) =>
        hashTypedPayload(proposal.signingPayloads[payload]),
      ),
    );
    const own = await furnish(service, await service.createOrganization());
    const to = newAddress();
    const body = { ...bodiesFor('createTransaction', own)[0], to };
    const { id, signingPayloads } = await createTransaction(service.http, own.org, body);
    const text = await words(service.env, 'verify', id);
    expect(text).toContain(`initiatorPayload: Initiate the transaction "${id}"\n`);
    expect(text).toContain(`\nto: ${to}\n`);
    expect(text).toContain(hashTypedPayload(signingPayloads.initiatorPayload));
  });

  it('refuses what differs from an intent, or from a known salt, and names the field', async () => {
    const payload = fileOf(proposal.signingPayloads.approvePayload);
    const intent = (asked: string) =>
      fileOf({ type: 'accounts.create', items: [{ name: asked, networkIds: [31337] }] });
    const { salt } = JSON.parse(proposal.signingPayloads.approvePayload).domain;
    await words(OFFLINE, 'verify', payload, '--intent', intent(name), '--salt', salt);
    expect(await refused(OFFLINE, 'verify', payload, '--intent', intent('Other'))).toBe(
      `payload: message.data.items[0].name: "${name}" (expected "Other")\n`,
    );
    const other = `0x${'12'.repeat(32)}`;
    expect(await refused(OFFLINE, 'verify', payload, '--salt', other)).toMatch(/^payload: domain\.salt: /);
  });

  it.each([
    ['null', null],
    ['what is not a request', { items: [] }],
  ])('refuses %s as an intent: nothing would be compared', async (_, asked) => {
    const payload = fileOf(proposal.signingPayloads.approvePayload);
    const intent = fileOf(asked);
    const said = await refused(OFFLINE, 'verify', payload, '--intent', intent);
    expect(said).toMatch(`${intent}: intent: invalid type "undefined" (expected one of transfer, call, `);
  });

  it.each([
    ['an id that nothing has', () => 'prop_01jz8k3v5fe5ht0n2m6w9r4xyz', /^proposal prop_\w+ not found$/m],
    [
      'a transaction that does not exist',
      () => 'txn_01jz8k3v5fe5ht0n2m6w9r4xyz',
      /^transaction txn_\w+ not found$/m,
    ],
    ['a file that is not there', () => '/nowhere.json', /^\/nowhere\.json: no such file or folder$/m],
    ['no JSON', () => fileOf('{'), /JSON/],
    ['no payload', () => fileOf({ data: { id: 'prop_1' } }), /has nothing to sign$/m],
    ['another typed data', () => fileOf({ primaryType: 'Permit' }), /^payload: primaryType: "Permit"/],
  ])('refuses %s', async (_, subject, expected) => {
    expect(await refused(service.env, 'verify', subject())).toMatch(expected);
  });
});
