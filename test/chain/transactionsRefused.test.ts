/** @deep */
import { type Address, type Hex, numberToHex } from 'viem';
import { payloadToSign } from '../../src/approvals/signedTransaction';
import { signatureHash } from '../../src/approvals/verifiedVotes';
import { checksumAddress } from '../../src/chain/address';
import { ChainUnavailable } from '../../src/chain/clients';
import { signerEndpoints } from '../../src/chain/contractSignatures';
import { deriveAccount, SAFE_CONTRACTS } from '../../src/chain/safeAccount';
import { encodeSignature } from '../../src/chain/signatures';
import { hashTypedPayload } from '../../src/chain/typedData';
import { createIdentifyVoter } from '../../src/chain/voter';
import { newId } from '../../src/db/ids';
import { requireRow } from '../../src/db/rows';
import type { Policy } from '../../src/domain/policy';
import type { TransactionTerms } from '../../src/domain/terms';
import type { TransactionRef } from '../../src/domain/transaction';
import { createSteadyTime } from '../../src/signer/journal/steadyTime';
import { startLyingRpc } from '../support/lyingRpc';
import { signPayload, type TestMember } from '../support/service';
import { freePorts, rpc } from '../support/stack';
import { itDeep } from '../support/suite';
import { aPolicy, aTransferPolicy, transferData } from '../support/transactions';
import { until } from '../support/until';
import { type Asked, type AskedWith, TransactionWorld } from './transactionWorld';
import { deployAsFunder, execAsOwner, signAsSafe } from './wallets';

const RECIPIENT: Address = '0x00000000000000000000000000000000000A11ce';
const OTHER: Address = '0x0000000000000000000000000000000000000B0b';

let world: TransactionWorld;
let terms: TransactionTerms;

beforeAll(async () => {
  world = await TransactionWorld.start(41_051);
  terms = await world.terms(await world.transaction({ to: RECIPIENT, value: 5n }));
});

afterAll(() => world?.stop());

const asked: Asked = { to: RECIPIENT, value: 5n };

/** Decides who is in a group. */
function group(id: string, members: readonly TestMember[]): Promise<void> {
  const memberIds = members.map((member) => member.id).sort();
  return world.decide([{ type: 'group', id, after: { id, name: id, memberIds } }]);
}

/** A policy of anything that two of three admins have to approve, one of them not the initiator. */
async function approvedPolicy(change: Partial<Policy> = {}, groupId = newId('grp')): Promise<string> {
  const { alice, bob, carol } = world.org;
  await group(groupId, [alice, bob, carol]);
  return world.policy({
    type: 'MANUAL_APPROVAL',
    approverSetting: { type: 'group', groupId, threshold: 2, excludeInitiator: false },
    ...change,
  });
}

async function refusal(ref: TransactionRef, change: Partial<TransactionTerms> = {}, signer = world.signer) {
  const result = await signer.signTransaction({ ...ref, terms: { ...terms, ...change } });
  if (!('refused' in result)) throw new Error(`it signed: ${JSON.stringify(result)}`);
  expect(await world.attempts(ref)).toHaveLength(0);
  expect(await world.envelopes(ref)).toHaveLength(0);
  return result.refused;
}

/** Changes a stored transaction past the service; shared columns are those of its approval. */
async function changed(ref: TransactionRef, change: object): Promise<unknown> {
  const shared = ['summary', 'expires_at', 'execution_status', 'executed_with', 'closed_at', 'notes'];
  const table = Object.keys(change).some((column) => shared.includes(column)) ? 'approvals' : 'transactions';
  return world.db(table).where({ id: ref.transactionId }).update(change);
}

describe('the signer signs with enough valid signatures', () => {
  test('under AUTO_APPROVAL, its initiator', async () => {
    expect(await world.signer.signTransaction({ ...(await world.transaction(asked)), terms })).toEqual({
      envelopeId: expect.any(String),
    });
  });

  test('under MANUAL_APPROVAL, its initiator and its approvers', async () => {
    const { alice, bob } = world.org;
    const ref = await world.transaction(asked, {
      policyId: await approvedPolicy(),
      approvers: [alice, bob],
    });
    expect(await world.signer.signTransaction({ ...ref, terms })).toEqual({ envelopeId: expect.any(String) });
  });
});

describe('the signer refuses', () => {
  test('without the initiator’s signature, or one of another member', async () => {
    const ref = await world.transaction(asked);
    const votes = () => world.db('votes').where({ approval_id: ref.transactionId });
    await votes().update({ member_id: world.org.alice.id, signer_address: world.org.alice.wallet.address });
    expect(await refusal(ref)).toMatchObject({ message: expect.stringContaining('of the initiator') });
    await votes().delete();
    expect(await refusal(ref)).toMatchObject({
      code: 'stale',
      message: 'the signer found no valid signature of the initiator',
    });
  });

  test('below the threshold, and a signature that is counted twice is counted once', async () => {
    const { alice, bob } = world.org;
    const ref = await world.transaction(asked, { policyId: await approvedPolicy(), approvers: [alice] });
    expect(await refusal(ref)).toMatchObject({ code: 'stale', message: expect.stringContaining('1 valid') });
    const [vote] = await world.db('votes').where({ approval_id: ref.transactionId, type: 'approve' });
    const { id: _, ...copy } = requireRow(vote);
    await world.db('votes').insert({ ...copy, member_id: bob.id, signer_address: bob.wallet.address });
    expect(await refusal(ref)).toMatchObject({ message: expect.stringContaining('1 valid') });
  });

  test('approvals of ineligible members', async () => {
    const { alice, bob, dave } = world.org;
    const groupId = newId('grp');
    const policyId = await approvedPolicy({}, groupId);
    const outsider = await world.transaction(asked, { policyId, approvers: [alice, dave] });
    expect(await refusal(outsider)).toMatchObject({ message: expect.stringContaining('1 valid') });
    const ref = await world.transaction(asked, { policyId, approvers: [alice, bob] });
    await group(groupId, [alice, world.org.carol]);
    expect(await refusal(ref)).toMatchObject({ message: expect.stringContaining('1 valid') });
  });

  test('an approval that is bound to another signature of the initiator', async () => {
    const { alice, bob } = world.org;
    const ref = await world.transaction(asked, {
      policyId: await approvedPolicy(),
      approvers: [alice, bob],
    });
    const bound = (hash: string) =>
      world
        .db('votes')
        .where({ approval_id: ref.transactionId, type: 'approve', member_id: bob.id })
        .update({ initiator_signature_hash: hash });
    await bound(`0x${'1'.repeat(64)}`);
    expect(await refusal(ref)).toMatchObject({ message: expect.stringContaining('1 valid') });
  });

  test('when the initiator has been removed, or has another wallet', async () => {
    const { dave } = world.org;
    const ref = await world.transaction(asked);
    const { id, name, type } = dave;
    const decide = (walletAddress: Address) =>
      world.decide([{ type: 'member', id, after: { id, name, type, walletAddress, walletKind: 'key' } }]);
    await decide(OTHER);
    const moved = await refusal(ref);
    await decide(dave.wallet.address);
    const { otherBot } = world.org;
    const theirs = await world.transaction(asked, { initiator: otherBot });
    await world.decide([{ type: 'member', id: otherBot.id, after: null }]);
    const removed = await refusal(theirs);
    for (const refused of [removed, moved]) {
      expect(refused).toMatchObject({ code: 'stale', message: expect.stringContaining('of the initiator') });
    }
  });

  test.each<[string, object]>([
    ['recipient', { to_address: OTHER }],
    ['recipient that is not an address', { to_address: '0x12' }],
    ['value', { value: '6' }],
    ['calldata', { calldata: '0x12345678', type: 'CONTRACT_INTERACTION' }],
    ['summary', { summary: 'Something else' }],
    ['expiry', { expires_at: new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 7_200_000) }],
  ])('a changed %s', async (_, change) => {
    const ref = await world.transaction(asked);
    await changed(ref, change);
    expect(await refusal(ref)).toMatchObject({ message: expect.stringContaining('of the initiator') });
  });

  test('a summary that the bytes do not make, whoever has signed it', async () => {
    const ref = await world.transaction(asked, { summary: 'Send 0.001 "ETH" to Payroll' });
    const refused = await refusal(ref);
    expect(refused.code).toBe('stale');
    expect(refused.message).toContain(
      String.raw`says "0.001 \"ETH\" to Payroll" instead of "0.000000000000000005 `,
    );
    expect(refused.message).toContain(checksumAddress(RECIPIENT));
  });

  test('a summary that names a token that no policy names, and signs one in raw units', async () => {
    const token = OTHER;
    const data = transferData(checksumAddress(RECIPIENT), 5_000_000n) as Hex;
    const account = await world.account();
    const said = (what: string) =>
      `Send ${what} to ${checksumAddress(RECIPIENT)}\nFrom the account "${account.name}" (${account.address}) on "Own Chain" (41051)`;
    const claimed = said(`5 "USDC" ("USD Coin", ${token})`);
    const ref = await world.transaction({ to: token, data }, { account, summary: claimed });
    expect(await refusal(ref)).toMatchObject({
      code: 'stale',
      message: expect.stringContaining('instead of "5000000 raw units of the token'),
    });
    const raw = await world.transaction(
      { to: token, data },
      { account, summary: said(`5000000 raw units of the token ${token}`) },
    );
    // It does not simulate what has no contract here.
    const unasked = world.signerWith({ networks: [{ ...world.network, signerRpcUrls: [] }] });
    expect(await unasked.signTransaction({ ...raw, terms: { ...terms, gas: '200000' } })).toEqual({
      envelopeId: expect.any(String),
    });
  });

  test('the name that an account had when it was signed', async () => {
    const account = await world.account();
    const ref = await world.transaction(asked, { account });
    const { id, address } = account;
    const networkIds = [world.network.id];
    await world.decide([{ type: 'account', id, after: { id, name: 'Payroll', address, networkIds } }]);
    expect(await refusal(ref)).toMatchObject({
      code: 'stale',
      message: expect.stringContaining(String.raw`says "\"${account.name}\"" instead of "\"Payroll\""`),
    });
  });

  test('a signature over another recipient, token or amount than that of the bytes', async () => {
    const { dave } = world.org;
    for (const [field, value] of [
      ['recipient', OTHER],
      ['token', OTHER],
      ['amount', '6'],
    ] as const) {
      const ref = await world.transaction(asked);
      const seen = await world.snapshot(ref);
      const payload = JSON.parse(payloadToSign(seen.record, seen.now, 'initiator') ?? '');
      payload.message[field] = value;
      const signature = await signPayload(dave, JSON.stringify(payload));
      await world
        .db('votes')
        .where({ approval_id: ref.transactionId })
        .update({ signature, signature_hash: signatureHash(signature) });
      expect(await refusal(ref)).toMatchObject({ message: expect.stringContaining('of the initiator') });
    }
  });

  test('a changed policy, network or account', async () => {
    const ref = await world.transaction(asked);
    await changed(ref, { policy_id: await world.policy() });
    expect(await refusal(ref)).toMatchObject({ message: expect.stringContaining('of the initiator') });
    const elsewhere = await world.transaction(asked);
    await changed(elsewhere, { network_id: 5 });
    expect(await refusal(elsewhere)).toMatchObject({ message: expect.stringContaining('network 5') });
    const other = await world.transaction(asked);
    await changed(other, { account_id: (await world.account()).id });
    expect(await refusal(other)).toMatchObject({ message: expect.stringContaining('of the initiator') });
  });

  test('what replaces a transaction that it has not read as reverted or cancelled itself', async () => {
    const account = await world.account();
    const replacing = (replaced: TransactionRef) =>
      world.transaction(asked, { account, replaces: replaced.transactionId });
    const first = await world.transaction(asked, { account });
    const unsigned = await replacing(first);
    expect(await refusal(unsigned)).toMatchObject({
      code: 'stale',
      message: expect.stringContaining(`replaces ${first.transactionId}, which is not a failed transaction`),
    });
    await world.sign(first);
    const second = await replacing(first);
    const held = { held: expect.stringContaining('whose outcome the signer has not read yet') };
    expect(await world.signer.signTransaction({ ...second, terms })).toEqual(held);
    // Nor what the owner of the tables says that it has read.
    const row = world.db('authorizations').where({ transaction_id: first.transactionId });
    for (const outcome of ['reverted', 'cancelled'] as const) {
      await row.clone().update({ outcome, block_at: new Date() });
      expect(await world.signer.signTransaction({ ...second, terms })).toEqual(held);
    }
    await row.clone().update({ outcome: null, block_at: null });
    await world.execute(first);
    await changed(first, { execution_status: 'failed', closed_at: new Date() });
    const unasked = world.signerWith({ networks: [{ ...world.network, signerRpcUrls: [] }] });
    expect(await unasked.signTransaction({ ...second, terms })).toEqual({
      held: expect.stringContaining('whose outcome the signer cannot read now'),
    });
    // It looks the outcome up itself.
    expect(await refusal(second)).toMatchObject({
      code: 'stale',
      message: expect.stringContaining('which was executed'),
    });

    const cancelled = await world.transaction(asked, { account });
    await world.sign(cancelled);
    const elsewhere = await world.transaction(asked, { replaces: cancelled.transactionId });
    await world.requestCancellation(cancelled);
    await world.execute(cancelled, { cancel: true });
    expect(await refusal(elsewhere)).toMatchObject({ code: 'stale' });
    const replaces = world.serviceDb('transactions').where({ id: elsewhere.transactionId });
    await expect(replaces.update({ replaces: null })).rejects.toThrow(/permission denied/);
    const authorization = world.db('authorizations').where({ transaction_id: cancelled.transactionId });
    await authorization.clone().update({ outcome: null, block_at: null });
    await world.sign(await replacing(cancelled));
    expect(await authorization.first('outcome')).toEqual({ outcome: 'cancelled' });
  });

  test('what was replaced before anything of it was authorized', async () => {
    const account = await world.account();
    const closed = await world.transaction(asked, { account });
    await changed(closed, { execution_status: 'failed', closed_at: new Date() });
    await world.sign(await world.transaction(asked, { account, replaces: closed.transactionId }));
    expect(world.journal.isRejected(closed.transactionId)).toBe(true);
    await changed(closed, { execution_status: 'processing', closed_at: null });
    expect(await refusal(closed)).toMatchObject({ code: 'stale' });
    expect(await world.attempts(closed)).toHaveLength(0);
  });

  test('what was rejected, whatever the service makes of its records', async () => {
    const { alice, bob, carol } = world.org;
    const policyId = await approvedPolicy();
    const ref = await world.transaction(asked, { policyId, approvers: [alice, bob], begun: false });
    const answer = (code: string) => ({ ok: false, refusal: { code } });
    expect(await world.signer.recordRejection(ref)).toMatchObject(answer('thresholdNotMet'));
    for (const member of [bob, carol]) await world.vote(ref, member, 'reject');
    const votes = () => world.db('votes').where({ approval_id: ref.transactionId, type: 'reject' });
    const row = (db = world.db) => db('authorizations').where({ transaction_id: ref.transactionId });
    const signatures = await votes().orderBy('id').pluck('signature');
    await votes().update({ signature: requireRow(signatures[0]) });
    expect(await world.signer.recordRejection(ref)).toMatchObject(answer('conflict'));
    expect(await row()).toEqual([]);
    await votes()
      .where({ member_id: carol.id })
      .update({ signature: requireRow(signatures[1]) });
    for (const _ of ['once', 'again']) {
      expect(await world.signer.recordRejection(ref)).toEqual({ ok: true, value: null });
    }
    expect(await row()).toMatchObject([{ outcome: 'rejected', safe_nonce: null, counted_from: -Infinity }]);
    await votes().delete();
    await world.begin(ref);
    expect(await refusal(ref)).toMatchObject({ code: 'stale', message: expect.stringContaining('rejected') });
    await expect(row(world.serviceDb).delete()).rejects.toThrow(/permission denied/);
    await expect(row(world.serviceDb).update({ outcome: null })).rejects.toThrow(/permission denied/);
    await expect(row(world.signerDb).update({ outcome: null })).rejects.toThrow(/check constraint/);
  });

  test('to record the rejection of what is signed or being executed', async () => {
    const ref = await world.transaction(asked);
    await world.vote(ref, world.org.dave, 'reject');
    const answer = (message: string) => ({
      ok: false,
      refusal: { code: 'conflict', message: expect.stringContaining(message) },
    });
    expect(await world.signer.recordRejection(ref)).toMatchObject(answer('being executed'));
    await world.sign(ref);
    await world.db('approvals').where({ id: ref.transactionId }).update({ execution_status: 'blocked' });
    expect(await world.signer.recordRejection(ref)).toMatchObject(answer('is signed for its chain'));
  });

  test('a type that its content does not have', async () => {
    const ref = await world.transaction(asked);
    await changed(ref, { type: 'CONTRACT_INTERACTION' });
    expect(await refusal(ref)).toMatchObject({ message: expect.stringContaining('recorded as') });
  });

  test.each<[string, () => Promise<Asked & { account?: AskedWith['account'] }>]>([
    [
      'the account itself',
      async () => {
        const account = await world.account();
        return { to: account.address, account };
      },
    ],
    ['a contract of the Safe', async () => ({ to: SAFE_CONTRACTS.singleton.address })],
  ])('a call of %s, whatever its signatures', async (_, make) => {
    const { account, ...call } = await make();
    const ref = await world.transaction({ ...call, data: '0x610b5925' as Hex }, account ? { account } : {});
    expect(await refusal(ref)).toMatchObject({
      code: 'stale',
      message: expect.stringContaining('must not be'),
    });
  });

  test('an account that no decision has on the network', async () => {
    const account = await world.account();
    const ref = await world.transaction(asked, { account });
    const { id, name, address } = account;
    await world.decide([{ type: 'account', id, after: { id, name, address, networkIds: [5] } }]);
    expect(await refusal(ref)).toMatchObject({
      code: 'stale',
      message: expect.stringContaining('no sealed decision has account'),
    });
  });

  test('a state that its seal key has not signed', async () => {
    const ref = await world.transaction(asked);
    const sealed = () => world.db('sealed_states').where({ organization_id: world.org.id });
    const { state } = requireRow(await sealed().first());
    await sealed().update({ state: state.replace('"threshold":2', '"threshold":1') });
    try {
      expect(await refusal(ref)).toMatchObject({
        code: 'stale',
        message: expect.stringContaining('is not the one that was sealed'),
      });
    } finally {
      await sealed().update({ state });
    }
  });

  test('what only the tables permit', async () => {
    const { alice, dave } = world.org;
    const policyId = await approvedPolicy();
    const ref = await world.transaction(asked, { policyId, approvers: [alice, dave] });
    const { id: _, ...open } = aPolicy({ networkId: world.network.id });
    await world
      .db('policies')
      .where({ id: policyId })
      .update({ definition: JSON.stringify(open) });
    expect(await refusal(ref)).toMatchObject({ message: expect.stringContaining('1 valid') });
  });

  test('what the current policy does not permit, and a removed policy', async () => {
    const policyId = await world.policy();
    const ref = await world.transaction(asked, { policyId });
    const tight = aTransferPolicy({ amountThreshold: '4' }, { networkId: world.network.id });
    await world.storePolicy({ ...tight, id: policyId });
    expect(await refusal(ref)).toMatchObject({
      code: 'policy',
      message: expect.stringContaining('at most 0.000000000000000004 "ETH"'),
    });
    await world.storePolicy({ ...aPolicy({ networkId: world.network.id }), id: policyId });
    await world.decide([{ type: 'policy', id: policyId, after: null }]);
    expect(await refusal(ref)).toMatchObject({ code: 'policy', message: expect.stringContaining('removed') });
  });

  test('over the budget, which its own reservation does not count against', async () => {
    const policyId = newId('pol');
    const limitation = {
      hours: 24,
      initiatorScope: 'ALL_ITEMS',
      sourceAccountScope: 'ALL_ITEMS',
      destinationScope: 'ALL_ITEMS',
    } as const;
    await world.storePolicy({
      ...aTransferPolicy({ amountThreshold: '8' }, { networkId: world.network.id, limitation }),
      id: policyId,
    });
    const first = await world.transaction(asked, { policyId });
    expect(await world.signer.signTransaction({ ...first, terms })).toEqual({
      envelopeId: expect.any(String),
    });
    const second = await world.transaction(asked, { policyId });
    expect(await refusal(second)).toMatchObject({ code: 'budget' });
  });

  test('without a reservation, or with one of something else', async () => {
    const none = await world.transaction(asked);
    const usage = () => world.db('policy_usage').where({ transaction_id: none.transactionId });
    await usage().update({ amount: '1' });
    expect(await refusal(none)).toMatchObject({ message: expect.stringContaining('no budget is reserved') });
    await usage().update({ amount: '5', destination: OTHER });
    expect(await refusal(none)).toMatchObject({ message: expect.stringContaining('no budget is reserved') });
    await usage().update({ destination: RECIPIENT, status: 'released', decided_at: new Date() });
    expect(await refusal(none)).toMatchObject({ message: expect.stringContaining('no budget is reserved') });
  });

  test('what is not being executed, and what is not found', async () => {
    const ref = await world.transaction(asked, { begun: false });
    expect(await refusal(ref)).toMatchObject({ message: expect.stringContaining('not being executed') });
    expect(await refusal({ ...ref, transactionId: newId('txn') })).toMatchObject({ code: 'stale' });
    expect(await refusal({ ...ref, organizationId: newId('org') })).toMatchObject({ code: 'stale' });
  });

  test('a first attempt after expiry, and carries on what it signed before', async () => {
    expect(await refusal(await world.transaction(asked, { expiresInMs: -5_000 }))).toMatchObject({
      code: 'timeout',
    });
    const ref = await world.transaction(asked, { expiresInMs: 3_000 });
    const envelopeId = await world.signShortOfGas(ref);
    expect(await world.followToEnd(ref, envelopeId)).toEqual({ kind: 'reverted' });
    await world.db.raw(`SELECT pg_sleep(greatest(0, extract(epoch FROM expires_at - now()) + 0.1))
      FROM approvals WHERE id = '${ref.transactionId}'`);
    expect(await world.execute(ref)).toMatchObject({ outcome: { kind: 'executed' } });
  });

  test('to sign, reject or cancel while the clock of the database is apart', async () => {
    const ref = await world.transaction(asked);
    const signed = await world.transaction(asked);
    await world.sign(signed);
    await world.requestCancellation(signed);
    const refusals: string[] = [];
    const countRefusal = (reason: string) => refusals.push(reason);
    for (const apart of [61_000, -61_000]) {
      const journal = Object.assign(Object.create(world.journal), { lastTime: () => 0 });
      const steady = createSteadyTime(() => Date.now() + apart);
      const signer = world.signerWith({ journal, steady, countRefusal });
      const way = apart < 0 ? 'ahead of' : 'behind';
      const message = expect.stringMatching(`the clock of the database is 6\\d s ${way} the signer's`);
      expect(await signer.signTransaction({ ...ref, terms })).toEqual({ held: message });
      expect(await signer.signCancellation({ ...signed, terms })).toEqual({ held: message });
      expect(await signer.recordRejection(ref)).toMatchObject({ ok: false, refusal: { message } });
    }
    expect(refusals).toEqual(Array(6).fill('clock'));
    expect(await world.attempts(ref)).toHaveLength(0);
    await world.sign(ref);
  });

  test('what has expired by its own clock, which it records', async () => {
    const ownTime = () => Date.now() + 30_000;
    const signer = world.signerWith({ steady: createSteadyTime(ownTime) });
    const expired = await world.transaction(asked, { expiresInMs: 20_000 });
    expect(await refusal(expired, {}, signer)).toMatchObject({ code: 'timeout' });
    const ref = await world.transaction(asked);
    const before = ownTime();
    expect(await signer.signTransaction({ ...ref, terms })).toHaveProperty('envelopeId');
    const { transactionId } = ref;
    const { authorized_at } = requireRow(
      await world.db('authorizations').where({ transaction_id: transactionId }).first(),
    );
    expect(authorized_at.getTime()).toBeGreaterThanOrEqual(before);
  });

  test('gas and fees above their ceilings', async () => {
    const ref = await world.transaction(asked);
    expect(await refusal(ref, { gas: '5000001' })).toMatchObject({
      code: 'reverted',
      message: expect.stringContaining('MAX_GAS'),
    });
    const fee = String(world.network.maxFeePerGas + 1n);
    expect(await refusal(ref, { maxFeePerGas: fee })).toMatchObject({ code: 'feeCeiling' });
    expect(await refusal(ref, { maxPriorityFeePerGas: fee })).toMatchObject({ code: 'stale' });
    expect(await refusal(ref, { safeTxGas: '0' })).toMatchObject({ code: 'stale' });
  });

  test('gas that its content cannot need, and malformed terms', async () => {
    const ref = await world.transaction(asked);
    const { gas } = terms;
    const message = expect.stringContaining(`expected ${gas} to `);
    for (const wrong of ['0', String(BigInt(gas) - 1n), '4000000']) {
      expect(await refusal(ref, { gas: wrong })).toEqual({ code: 'stale', message });
    }
    for (const name of ['gas', 'maxFeePerGas', 'maxPriorityFeePerGas'] as const) {
      expect(await refusal(ref, { [name]: '-1' })).toEqual({
        code: 'stale',
        message: `invalid ${name} "-1" (expected a decimal integer)`,
      });
    }
    for (const chainNonce of [-1, 0.5, Number.MAX_SAFE_INTEGER + 1]) {
      expect(await refusal(ref, { chainNonce })).toMatchObject({ code: 'stale' });
    }
  });

  test('a nonce of the relayer that nobody has signed up to', async () => {
    const ref = await world.transaction(asked);
    const chainNonce = 5_000_000;
    const tooHigh = { code: 'stale', message: expect.stringMatching(/nonce 5000000 of .* is too high/) };
    expect(await refusal(ref, { chainNonce })).toEqual(tooHigh);
    for (const signerRpcUrls of [[], [world.url, 'http://127.0.0.1:1']]) {
      const signer = world.signerWith({ networks: [{ ...world.network, signerRpcUrls }] });
      const answer = await signer.signTransaction({ ...ref, terms: { ...terms, chainNonce } });
      expect(answer).toEqual(
        signerRpcUrls.length === 0 ? { refused: tooHigh } : { unreachable: expect.anything() },
      );
    }
    expect(await world.attempts(ref)).toHaveLength(0);
    // The key is used elsewhere too, and the signer's own endpoints have that many transactions.
    const elsewhere = (await world.terms(ref)).chainNonce + 7;
    await rpc(world.url, 'anvil_setNonce', [world.relayer, numberToHex(elsewhere)]);
    expect(await refusal(ref, { chainNonce: elsewhere + 1 })).toMatchObject({
      message: expect.stringContaining(`its own endpoints have ${elsewhere}`),
    });
    // A count of a moment ago is shared.
    await until('the new count is read', async () => (await world.terms(ref)).chainNonce === elsewhere);
    await world.sign(ref);
    expect(await world.envelopes(ref)).toMatchObject([{ relayer_nonce: BigInt(elsewhere) }]);
    await world.execute(ref);
  });

  test('to pay more than its own endpoints say', async () => {
    const ref = await world.transaction(asked);
    const fee = String(world.network.maxFeePerGas);
    const said = await world.terms(ref);
    await world.sign(ref, { maxFeePerGas: fee, maxPriorityFeePerGas: fee });
    const [envelope] = await world.envelopes(ref);
    expect(envelope).toMatchObject({ max_priority_fee_per_gas: said.maxPriorityFeePerGas });
    // A block in between may have changed the base fee, by an eighth at most (EIP-1559).
    expect(BigInt(envelope?.max_fee_per_gas ?? fee)).toBeLessThanOrEqual(
      (BigInt(said.maxFeePerGas) * 5n) / 4n,
    );
    await world.execute(ref);
  });

  itDeep('an account whose nonce is ahead of the records', async () => {
    const account = await world.account();
    const fresh = await world.transaction(asked, { account });
    expect(await refusal(fresh, { accountNonce: '1' })).toMatchObject({
      code: 'stale',
      message: expect.stringContaining('the recorded ones end before 0'),
    });
    await world.execute(fresh);
    await world.executeUnknown(account);
    const next = await world.transaction(asked, { account });
    expect(await refusal(next, await world.terms(next))).toMatchObject({
      code: 'stale',
      message: expect.stringContaining('has the nonce 2 on Own Chain, but the recorded ones end before 1'),
    });
  });

  itDeep('and reports when the network of contract signers is unavailable', async () => {
    const ref = await world.transaction(asked);
    const unavailable = world.signerWith({
      identifyVoter: async () => {
        throw new ChainUnavailable(world.network, 'timeout');
      },
    });
    expect(await unavailable.signTransaction({ ...ref, terms })).toEqual({
      unreachable: expect.stringContaining('Own Chain'),
    });
    expect(await world.attempts(ref)).toHaveLength(0);
  });

  test('to cancel what is not signed, and what nobody has requested to cancel', async () => {
    const ref = await world.transaction(asked);
    await world.requestCancellation(ref);
    const refused = { refused: { code: 'stale' } };
    expect(await world.signer.signCancellation({ ...ref, terms })).toMatchObject(refused);
    const other = await world.transaction(asked);
    await world.sign(other);
    expect(await world.signer.signCancellation({ ...other, terms })).toMatchObject(refused);
    await world.execute(other);
  });

  test('to cancel what the chain has decided, which would pin its account to a relayer', async () => {
    const ref = await world.transaction(asked);
    await world.sign(ref);
    await world.execute(ref);
    await world.requestCancellation(ref);
    expect(await world.signer.signCancellation({ ...ref, terms })).toMatchObject({
      refused: { code: 'stale', message: expect.stringContaining('has decided') },
    });
    expect(await world.attempts(ref)).toHaveLength(1);
  });

  test('to fill a nonce of a network that is not configured', async () => {
    expect(await world.signer.fillNonce({ networkId: 5, nonce: 0, terms })).toMatchObject({
      refused: { code: 'stale' },
    });
  });

  test('to fill a nonce that no undecided envelope waits for', async () => {
    const ref = await world.transaction(asked);
    await world.sign(ref);
    const { relayer_nonce, id } = requireRow(await world.envelopes(ref).first());
    const own = Number(relayer_nonce);
    const rows = await world.db('chain_envelopes').count();
    for (const nonce of [own, own + 1, 5_000_000]) {
      for (const replaces of [{}, { replaces: String(id) }]) {
        const input = { networkId: world.network.id, nonce, terms: { ...terms, ...replaces } };
        expect(await world.signer.fillNonce(input)).toEqual({
          refused: { code: 'stale', message: expect.stringMatching(`nonce ${nonce} .*on Own Chain`) },
        });
      }
    }
    for (const nonce of [Number.MAX_SAFE_INTEGER + 1, -1, 0.5, Number.NaN]) {
      expect(await world.signer.fillNonce({ networkId: world.network.id, nonce, terms })).toEqual({
        refused: {
          code: 'stale',
          message: expect.stringMatching(/^invalid nonce .*expected an integer from 0/),
        },
      });
    }
    const odd = { networkId: world.network.id, nonce: own, terms: { ...terms, replaces: 'x' } };
    expect(await world.signer.fillNonce(odd)).toEqual({
      refused: { code: 'stale', message: 'invalid replaces "x" (expected the id of an envelope)' },
    });
    expect(await world.db('chain_envelopes').count()).toEqual(rows);
    await world.execute(ref);
  });
});

describe('a contract wallet', () => {
  const FORGERY: Hex = '0x1234';
  let safe: { address: Address; chainId: number };
  let fresh: TransactionTerms;

  beforeAll(async () => {
    const wallet = deriveAccount(world.org.alice.wallet.address, newId('acc'));
    safe = { address: wallet.address as Address, chainId: world.network.id };
    fresh = { ...terms, accountNonce: '0' };
    await deployAsFunder(world.url, wallet);
    await moveDave(safe.address, 'contract');
  });
  afterAll(() => moveDave(world.org.dave.wallet.address, 'key'));

  function moveDave(walletAddress: Address, walletKind: 'key' | 'contract') {
    const { id, name, type } = world.org.dave;
    return world.decide([{ type: 'member', id, after: { id, name, type, walletAddress, walletKind } }]);
  }

  /** A transaction that Dave's contract has signed; with these bytes, if they are given. */
  async function initiated(bytes?: Hex): Promise<TransactionRef> {
    const ref = await world.transaction(asked, { begun: false });
    await world.db('votes').where({ approval_id: ref.transactionId }).delete();
    const seen = await world.snapshot(ref);
    const digest = hashTypedPayload(payloadToSign(seen.record, seen.now, 'initiator') ?? '');
    const signature = encodeSignature(
      safe.address,
      bytes ?? (await signAsSafe(world.org.alice.wallet, safe, digest)),
    );
    await world.db('votes').insert({
      approval_id: ref.transactionId,
      member_id: world.org.dave.id,
      type: 'initiator',
      signer_address: safe.address,
      scheme: 'eip1271',
      signature,
      signature_hash: signatureHash(signature),
    });
    await world.begin(ref);
    return ref;
  }

  /** A signer with these endpoints of its own. */
  function signerAsking(...signerRpcUrls: string[]) {
    const endpoints = signerEndpoints({ ...world.network, signerRpcUrls });
    return world.signerWith({ identifyVoter: createIdentifyVoter(endpoints) });
  }

  test('has its signature verified again by the signer, which counts it while it is valid', async () => {
    const { alice, dave } = world.org;
    const ref = await initiated();
    await execAsOwner(world.client, alice.wallet, safe.address, {
      signature: 'swapOwner(address prev, address old, address new)',
      args: ['0x0000000000000000000000000000000000000001', alice.wallet.address, dave.wallet.address],
    });
    expect(await refusal(ref, fresh)).toMatchObject({ message: expect.stringContaining('of the initiator') });
    await execAsOwner(world.client, dave.wallet, safe.address, {
      signature: 'swapOwner(address prev, address old, address new)',
      args: ['0x0000000000000000000000000000000000000001', dave.wallet.address, alice.wallet.address],
    });
    expect(await world.signer.signTransaction({ ...ref, terms: fresh })).toEqual({
      envelopeId: expect.any(String),
    });
  });

  test('does not vote by a signature that it gave as a key, or with the key of its owner', async () => {
    const ref = await initiated();
    const votes = world.db('votes').where({ approval_id: ref.transactionId });
    await votes.update({ scheme: 'eoa' });
    expect(await refusal(ref, fresh)).toMatchObject({ message: expect.stringContaining('of the initiator') });
    const owned = await initiated(await world.org.alice.wallet.signMessage({ message: 'anything' }));
    expect(await refusal(owned, fresh)).toMatchObject({
      message: expect.stringContaining('of the initiator'),
    });
  });

  test('has its votes verified by all endpoints of the signer, or by none', async () => {
    const liar = await startLyingRpc(world.url);
    const [nothing] = await freePorts(1);
    liar.accepting = [safe.address];
    try {
      const forged = await initiated(FORGERY);
      const attempt = { ...forged, terms: fresh };
      expect(await signerAsking(world.url, liar.url).signTransaction(attempt)).toEqual({
        unreachable:
          `the endpoints of network Own Chain (${world.network.id}) disagree about a signature of contract wallet ` +
          `${safe.address}: ${liar.host} accepts it, ${new URL(world.url).host} does not`,
      });
      expect(
        await signerAsking(liar.url, `http://127.0.0.1:${nothing}/secret`).signTransaction(attempt),
      ).toEqual({
        unreachable: `network Own Chain (${world.network.id}) is unavailable: its endpoint 127.0.0.1:${nothing} does not answer`,
      });
      expect(await refusal(forged, fresh, signerAsking())).toEqual({
        code: 'endpoints',
        message: expect.stringContaining('has no signerRpcUrls'),
      });
      const ref = await initiated();
      expect(await signerAsking(world.url, liar.url).signTransaction({ ...ref, terms: fresh })).toEqual({
        envelopeId: expect.any(String),
      });
    } finally {
      await liar.stop();
    }
  });

  itDeep('is asked about on its own network only', async () => {
    const other = signerEndpoints({ ...world.network, id: 5, signerRpcUrls: [world.url] });
    const signer = world.signerWith({ identifyVoter: createIdentifyVoter(other) });
    expect(await signer.signTransaction({ ...(await initiated()), terms: fresh })).toEqual({
      unreachable: expect.stringContaining(`serves chain ${world.network.id}`),
    });
  });
});

test('no endpoint forges the vote of a key', async () => {
  const { dave } = world.org;
  const liar = await startLyingRpc(world.url);
  liar.accepting = [dave.wallet.address];
  try {
    const ref = await world.transaction(asked);
    const signature = encodeSignature(dave.wallet.address, '0x1234');
    const change = { signature, signature_hash: signatureHash(signature) };
    const signer = world.signerWith({
      identifyVoter: createIdentifyVoter(signerEndpoints({ ...world.network, signerRpcUrls: [liar.url] })),
    });
    for (const scheme of ['eoa', 'eip1271', 'erc6492'] as const) {
      await world
        .db('votes')
        .where({ approval_id: ref.transactionId })
        .update({ ...change, scheme });
      expect(await refusal(ref, {}, signer)).toMatchObject({
        message: expect.stringContaining('of the initiator'),
      });
    }
  } finally {
    await liar.stop();
  }
});

test('signs nothing when the execution ends meanwhile', async () => {
  const ref = await world.transaction(asked);
  await world.serviceDb.transaction(async (tx) => {
    await tx('approvals').where({ id: ref.transactionId }).forUpdate().first('id');
    const signing = world.signer.signTransaction({ ...ref, terms });
    // The signer waits for this database transaction where it stores what it has signed.
    await new Promise<void>((resolve, reject) => {
      const look = async () => {
        const { rows } = await world.db.raw(
          `SELECT count(*)::int AS waiting FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        if (rows[0].waiting > 0) resolve();
        else setTimeout(() => look().catch(reject), 20);
      };
      look().catch(reject);
    });
    await tx('approvals').where({ id: ref.transactionId }).update({ execution_status: 'failed' });
    await tx.commit();
    expect(await signing).toMatchObject({ refused: { code: 'stale' } });
  });
  expect(await world.attempts(ref)).toHaveLength(0);
});

describe('the database lets only the signer write what is signed', () => {
  test('content, nonces and signatures never change, and the service writes outcomes alone', async () => {
    const changes = [
      { to_address: OTHER },
      { value: '1' },
      { safe_nonce: 9 },
      { safe_tx_gas: '1' },
      { safe_tx_hash: '0x' },
      { transaction_id: null },
    ];
    for (const pool of [world.serviceDb, world.signerDb]) {
      for (const change of changes) {
        await expect(pool('chain_attempts').update(change)).rejects.toThrow(/permission denied/);
      }
    }
    for (const pool of [world.serviceDb, world.signerDb]) {
      await expect(pool('chain_signatures').update({ signature: '0x' })).rejects.toThrow(/permission denied/);
    }
    await expect(world.signerDb('chain_attempts').update({ confirmations: 1 })).rejects.toThrow(
      /permission denied/,
    );
    await expect(world.signerDb('approvals').update({ notes: '[]' })).rejects.toThrow(/permission denied/);
    await expect(world.signerDb('votes').delete()).rejects.toThrow(/permission denied/);
    await expect(world.signerDb('policy_usage').update({ amount: '0' })).rejects.toThrow(/permission denied/);
  });
});

test('no refused transaction is on chain', async () => {
  expect(await world.balanceOf(OTHER)).toBe(0n);
});
