/** @deep */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { requireRow } from '../../src/db/rows';
import { canonicalJson } from '../../src/domain/canonicalJson';
import { change, makeAccount, proposeChange, reject } from '../support/api';
import { anAddress } from '../support/builders';
import { sharedService, type TestOrganization, type TestService } from '../support/service';
import { endpointOf, fundOnLocalChain, temporaryDir } from '../support/stack';
import { DEEP } from '../support/suite';
import {
  aTransactionBody,
  createTransaction,
  makePolicies,
  readTransaction,
  signed,
} from '../support/transactionApi';
import { until } from '../support/until';
import { command, json, refused, words } from './command';

let service: TestService;
let env: NodeJS.ProcessEnv;
let org: TestOrganization;
let file: string;
let proof: string;

const NETWORK = 31337;

/** Members, groups, policies, an account, a rejected proposal and a payment. */
async function live(): Promise<void> {
  const { http } = service;
  const account = await makeAccount(http, org, { networkIds: [NETWORK] });
  await change(http, org, '/groups/proposals/create', {
    items: [{ name: 'Traders', memberIds: [org.dave.id] }],
  });
  await reject(
    http,
    org,
    await proposeChange(http, org, '/admins/proposals/update', { updates: [], threshold: 1 }),
  );
  await change(http, org, '/members/proposals/update', { items: [{ id: org.alice.id, name: 'Alicia' }] });
  const [policy] = await makePolicies(http, org, {
    name: 'Any amount of ether',
    type: 'AUTO_APPROVAL',
    transactionType: 'TOKEN_TRANSFER',
    tokenTransferCondition: {
      tokenAddress: `0x${'0'.repeat(40)}`,
      amountThreshold: null,
      destinationAddresses: [],
    },
    networkId: NETWORK,
    accountIds: null,
    initiatorSetting: null,
  });
  const onChain = { updates: [], threshold: 2, onChain: { enabled: true } };
  await change(http, org, '/admins/proposals/update', onChain);
  await until('the admins have their Safe, as a module of the account', async () => {
    const safe = await service.db('admins_safes').where({ organization_id: org.id }).first();
    const rescue = await service.db('account_rescues').where({ account_id: account.id }).first();
    return safe?.status === 'current' && rescue?.rescue === 'ready';
  });
  const network = service.config.networks.find(({ id }) => id === NETWORK);
  await fundOnLocalChain(endpointOf(requireRow(network)), account.address);
  const body = aTransactionBody(org, { account, policy, to: anAddress() }, { networkId: NETWORK });
  const { id } = await signed(http, org, await createTransaction(http, org, body), org.dave, 'initiator', {
    execute: true,
  });
  await until('it is paid', async () => {
    const found = await readTransaction(http, org, { id });
    return found.executionStatus === 'completed';
  });
  await until(
    'the signer has read what became of it',
    async () => (await service.db('authorizations').where({ transaction_id: id }).first())?.outcome,
    60_000,
  );
}

beforeAll(async () => {
  service = await sharedService();
  env = service.env;
  org = await service.createOrganization();
  await live();
  file = join(temporaryDir(), 'proof.jsonl');
  await words(env, 'audit', 'export', '--org', org.id, '--out', file);
  proof = readFileSync(file, 'utf8');
});
afterAll(() => service?.stop());

function written(text: string): string {
  const other = join(temporaryDir(), 'other.jsonl');
  writeFileSync(other, text);
  return other;
}

/** What the command says against a text; it needs no setting. */
const against = (text: string) => refused({}, 'audit', 'prove', written(text));

describe('audit export and audit prove', () => {
  it('prove who decides, who has signed and what was authorized, without a database', async () => {
    const proved = await json({}, 'audit', 'prove', file);
    expect(proved).toMatchObject({
      seals: 7,
      attested: [],
      authorizations: [{ amount: '1', networkId: NETWORK, safeNonce: '1' }],
      state: { id: org.id, sequence: 6, admins: { threshold: 2 } },
      head: { organizationId: org.id, sequence: 6 },
    });
    // The keeper makes the Safe, and the account makes it its module: neither waits for the other.
    expect(proved.upkeep).toHaveLength(2);
    for (const accountId of [null, expect.stringMatching(/^acc_/)]) {
      const written = { accountId, networkId: NETWORK, safeNonce: '0', sequence: 6 };
      expect(proved.upkeep).toContainEqual(expect.objectContaining(written));
    }
    expect(proved.state.members[org.alice.id].name).toBe('Alicia');
    const text = await words({}, 'audit', 'prove', file);
    expect(text).toContain('every signature, change and authorization is proved');
    expect(text).toMatch(/^admins 2 of Alicia, /m);
    expect(text).toMatch(/^authorized under pol_\w+ on network \d+: 0\.0{17}1 "ETH" of 0x0{40}$/m);
  });

  it('writes to standard output too', async () => {
    const { stdout } = await command(env, 'audit', 'export', '--org', org.id);
    const lines = stdout.trimEnd().split('\n');
    expect(lines.slice(0, -1)).toEqual(proof.trimEnd().split('\n').slice(0, -1));
  });

  it('signs nothing that the tables show and the journal does not, or the other way round', async () => {
    const { db } = service;
    const of = () => db('authorizations').where({ organization_id: org.id });
    const own = requireRow(await of().first());
    const refusal = () => refused(env, 'audit', 'export', '--org', org.id);
    await of().update({ amount: '2' });
    expect(await refusal()).toContain(`transaction ${own.transaction_id} has another amount there`);
    await of().update({ amount: own.amount, outcome: 'reverted', block_at: own.authorized_at });
    expect(await refusal()).toContain('has another outcome there');
    await db.raw('ALTER TABLE authorizations DISABLE TRIGGER authorizations_kept');
    await of().delete();
    await db.raw('ALTER TABLE authorizations ENABLE TRIGGER authorizations_kept');
    expect(await refusal()).toContain(`lack what was decided about transaction ${own.transaction_id}`);
    const { counted_from: _, ...stored } = own;
    await db('authorizations').insert(stored);
    const { stdout } = await command(env, 'audit', 'export', '--org', org.id);
    expect(stdout.split('\n').slice(0, -2)).toEqual(proof.split('\n').slice(0, -2));
  });

  it('refuse a file with one byte changed, whichever, and name its line', async () => {
    const step = Math.max(1, Math.floor(proof.length / (DEEP ? 160 : 40)));
    for (let at = 0; at < proof.length; at += step) {
      if (proof[at] === '\n') continue;
      const other = proof[at] === '0' ? '1' : '0';
      const line = proof.slice(0, at).split('\n').length;
      expect(await against(`${proof.slice(0, at)}${other}${proof.slice(at + 1)}`)).toContain(`line ${line}:`);
    }
  });

  it('refuse lines that are missing, doubled, moved or of another organization, and a missing head', async () => {
    const lines = proof.trimEnd().split('\n');
    const text = (kept: readonly (string | undefined)[]) => `${kept.join('\n')}\n`;
    expect(await against(text(lines.slice(0, -1)))).toContain('there is no head');
    expect(await against(text(lines.toSpliced(2, 1)))).toContain('line 3: it does not follow');
    expect(await against(text(lines.toSpliced(2, 0, lines[1] ?? '')))).toContain('line 3:');
    expect(await against(text(lines.toSpliced(1, 0, lines[0] ?? '')))).toContain(
      'line 2: it is a second genesis',
    );
    expect(await against(text(lines.toSpliced(-2, 1)))).toContain('it is the head of other lines');
    const other = await service.createOrganization();
    const theirs = join(temporaryDir(), 'theirs.jsonl');
    await words(env, 'audit', 'export', '--org', other.id, '--out', theirs);
    const [genesis = ''] = readFileSync(theirs, 'utf8').split('\n');
    expect(await against(text([genesis, ...lines.slice(1)]))).toContain(
      'line 2: the seal key has not signed it',
    );
  });

  it("refuse what keeps the admins' Safe twice", async () => {
    const lines = proof.trimEnd().split('\n');
    const at = lines.findIndex((line) => line.includes('"type":"upkeep"'));
    const doubled = lines.toSpliced(at, 0, lines[at] ?? '');
    expect(await against(`${doubled.join('\n')}\n`)).toContain(`line ${at + 2}: nonce 0 of 0x`);
  });

  it('refuse a seal that says something else than was signed, even with its own hash', async () => {
    const lines = proof.trimEnd().split('\n');
    const seal = JSON.parse(lines[2] ?? '');
    const body = seal.body.replace('Traders', 'Thieves');
    const forged = canonicalJson({ ...seal, body });
    expect(await against(`${lines.toSpliced(2, 1, forged).join('\n')}\n`)).toContain('line 3:');
  });
});
