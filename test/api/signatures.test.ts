import { concatHex, type Hex, hexToBigInt, numberToHex, size, slice } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { encodeSignature } from '../../src/chain/signatures';
import {
  badField,
  carryOut,
  execute,
  expectRefused,
  proposalPath,
  propose,
  read,
  refusal,
  type Shown,
  settled,
  sharedApi,
} from '../support/api';
import {
  sign,
  signPayload,
  type TestMember,
  type TestOrganization,
  type TestService,
} from '../support/service';

/** Order of secp256k1. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const INVALID = refusal(400, 'invalidSignature', 'signature');

let api: TestService;
let org: TestOrganization;
let proposal: Shown;

beforeAll(async () => {
  api = await sharedApi();
  org = await api.createOrganization();
  proposal = await propose(api.http, org);
});
afterAll(() => api?.stop());

const path = (id = proposal.id) => proposalPath(id, '/signatures');
const approvePayload = () => proposal.signingPayloads.approvePayload as string;

function refusedSignature(signature: string, expected = INVALID, type = 'approve') {
  return expectRefused(
    api.http,
    org,
    { key: org.adminKey, path: path(), body: { type, signature, execute: true } },
    expected,
  );
}

/** The 65 bytes that a member's wallet makes. */
function rawSignature(member: Pick<TestMember, 'wallet'>, payload = approvePayload()): Promise<Hex> {
  return member.wallet.signTypedData(JSON.parse(payload));
}

const encoded = (bytes: Hex) => encodeSignature(org.alice.wallet.address, bytes);

describe('a signature that cannot be decoded', () => {
  it.each<[string, (good: Hex) => string]>([
    ['that is empty', () => ''],
    ['that is only 0x', () => '0x'],
    ['without 0x', (good) => good.slice(2)],
    ['with 0X', (good) => `0X${good.slice(2)}`],
    ['that is not hex', (good) => `${good.slice(0, -2)}zz`],
    ['with a blank', (good) => `${good} `],
    ['with half a byte', (good) => good.slice(0, -1)],
    ['that is base64', (good) => Buffer.from(good.slice(2), 'hex').toString('base64')],
    ['of one word', () => `0x${'00'.repeat(32)}`],
    ['cut off', (good) => good.slice(0, -64)],
    ['with a word after it', (good) => `${good}${'00'.repeat(32)}`],
    ['with a dirty address word', (good) => `0x01${good.slice(4)}`],
    ['with dirty padding', (good) => `${good.slice(0, -2)}01`],
    ['with another offset', (good) => `${good.slice(0, 66)}${'60'.padStart(64, '0')}${good.slice(130)}`],
    ['with a length beyond its end', (good) => good.replace(/^(0x.{128}).{64}/, `$1${'f'.repeat(64)}`)],
    ['that is the raw 65 bytes', (good) => `0x${good.slice(2 + 3 * 64, 2 + 3 * 64 + 130)}`],
    ['beyond 64 KiB', (good) => `${good}${'00'.repeat(65_536)}`],
    ['of the zero address', (good) => `0x${'00'.repeat(32)}${good.slice(66)}`],
  ])('%s is refused', async (_, spoil) => {
    await refusedSignature(spoil(await signPayload(org.alice, approvePayload())));
  });
});

describe('an invalid signature', () => {
  it.each<[string, (good: Hex) => Hex]>([
    ['of no bytes', () => '0x'],
    ['of 64 bytes (EIP-2098)', (good) => slice(good, 0, 64)],
    ['of 66 bytes', (good) => concatHex([good, '0x00'])],
    ['of 130 bytes', (good) => concatHex([good, good])],
    [
      'with a high s',
      (good) => {
        const s = numberToHex(ORDER - hexToBigInt(slice(good, 32, 64)), { size: 32 });
        return concatHex([slice(good, 0, 32), s, good.endsWith('1b') ? '0x1c' : '0x1b']);
      },
    ],
    ['with v 0 or 1', (good) => concatHex([slice(good, 0, 64), good.endsWith('1b') ? '0x00' : '0x01'])],
    ['with v 29', (good) => concatHex([slice(good, 0, 64), '0x1d'])],
    ['with v 255', (good) => concatHex([slice(good, 0, 64), '0xff'])],
    ['with the other v', (good) => concatHex([slice(good, 0, 64), good.endsWith('1b') ? '0x1c' : '0x1b'])],
    ['with r = 0', (good) => concatHex([`0x${'00'.repeat(32)}`, slice(good, 32)])],
    ['with s = 0', (good) => concatHex([slice(good, 0, 32), `0x${'00'.repeat(32)}`, slice(good, 64)])],
    ['with r and s of all ones', (good) => concatHex([`0x${'ff'.repeat(64)}`, slice(good, 64)])],
  ])('%s is refused', async (_, spoil) => {
    const good = await rawSignature(org.alice);
    expect(size(good)).toBe(65);
    await refusedSignature(encoded(spoil(good)));
  });

  it('over the payload of the other outcome is refused', async () => {
    const { rejectPayload } = proposal.signingPayloads;
    await refusedSignature(await signPayload(org.alice, rejectPayload));
    await refusedSignature(await signPayload(org.alice, approvePayload()), INVALID, 'reject');
  });

  it('over the payload of the initiator is refused', async () => {
    await refusedSignature(await signPayload(org.alice, proposal.signingPayloads.initiatorPayload));
  });

  it('over another proposal is refused', async () => {
    const other = await propose(api.http, org);
    await refusedSignature(await signPayload(org.alice, other.signingPayloads.approvePayload));
  });

  it('over other data of the same proposal is refused', async () => {
    const payload = JSON.parse(approvePayload());
    payload.message.data = payload.message.data.replace('31337', '31338');
    await refusedSignature(await signPayload(org.alice, JSON.stringify(payload)));
  });

  it('over the text instead of the typed data is refused', async () => {
    await refusedSignature(encoded(await org.alice.wallet.signMessage({ message: approvePayload() })));
  });

  it('with the address of another member is refused', async () => {
    await refusedSignature(encoded(await rawSignature(org.bob)));
  });
});

describe('a valid signature', () => {
  const forbidden = refusal(403, 'forbidden', 'signature');

  it('of a wallet without a member is refused', async () => {
    const wallet = privateKeyToAccount(generatePrivateKey());
    await refusedSignature(encodeSignature(wallet.address, await rawSignature({ wallet })), forbidden);
  });

  it('of a member who is not an admin is refused', async () => {
    await refusedSignature(await signPayload(org.dave, approvePayload()), forbidden);
    await refusedSignature(await signPayload(org.otherBot, approvePayload()), forbidden);
  });

  it('of an admin of another organization is refused', async () => {
    const other = await api.createOrganization();
    await refusedSignature(await signPayload(other.alice, approvePayload()), forbidden);
  });

  it('of an admin counts once, whatever key sends it and however often', async () => {
    const signature = await signPayload(org.alice, approvePayload());
    const ask = { key: org.adminKey, path: path(), body: { type: 'approve', signature } };
    const first = await api.http.send(ask);
    expect(first.status).toBe(200);
    expect(first.body.data.approvals).toEqual([
      {
        id: org.alice.id,
        name: 'Alice',
        type: 'user',
        walletAddress: org.alice.wallet.address,
        walletKind: 'key',
      },
    ]);
    await expectRefused(api.http, org, ask, refusal(409, 'conflict', null));
    await expectRefused(
      api.http,
      org,
      { ...ask, body: { ...ask.body, execute: true, reason: 'again' } },
      refusal(409, 'conflict', null),
    );
  });

  it('repeated with `execute` executes a ready proposal, and not one below the threshold', async () => {
    const fresh = await propose(api.http, org);
    expect((await sign(api.http, org.adminKey, fresh, org.alice, 'reject')).status).toBe(200);
    expect((await sign(api.http, org.adminKey, fresh, org.alice)).status).toBe(200);
    expect((await sign(api.http, org.adminKey, fresh, org.bob)).status).toBe(200);
    const below = await sign(api.http, org.adminKey, fresh, org.alice, 'reject', { execute: true });
    expect([below.status, below.body.code]).toEqual([409, 'conflict']);
    const silent = await sign(api.http, org.adminKey, fresh, org.bob);
    expect([silent.status, silent.body.code]).toEqual([409, 'conflict']);
    const repeated = await sign(api.http, org.adminKey, fresh, org.bob, 'approve', { execute: true });
    expect(repeated.status).toBe(200);
    expect(await settled(api.http, org, fresh.id)).toMatchObject({
      executionStatus: 'completed',
      approvals: [org.alice.id, org.bob.id].sort().map((id) => ({ id })),
    });
    expect(await api.db('votes').where({ approval_id: fresh.id })).toHaveLength(3);
    const late = await sign(api.http, org.adminKey, fresh, org.bob, 'approve', { execute: true });
    expect([late.status, late.body.code]).toEqual([409, 'conflict']);
  });

  it('to approve and to reject can be given by one admin', async () => {
    const answer = await sign(api.http, org.adminKey, proposal, org.alice, 'reject', {
      reason: 'Second thoughts',
    });
    expect(answer.status).toBe(200);
    expect(answer.body.data).toMatchObject({
      approvals: [{ id: org.alice.id }],
      rejections: [{ id: org.alice.id }],
      signatureStatus: 'pendingReviewSignatures',
    });
    await expectRefused(
      api.http,
      org,
      {
        key: org.adminKey,
        path: path(),
        body: {
          type: 'reject',
          signature: await signPayload(org.alice, proposal.signingPayloads.rejectPayload),
        },
      },
      refusal(409, 'conflict'),
    );
  });

  it('of one admin sent many times at once counts once', async () => {
    const fresh = await propose(api.http, org);
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => sign(api.http, org.adminKey, fresh, org.carol)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
    expect(await read(api.http, org.readKey, proposalPath(fresh.id))).toMatchObject({
      approvals: [{ id: org.carol.id }],
    });
  });

  it('of all admins at once counts for each', async () => {
    const fresh = await propose(api.http, org);
    const admins = [org.alice, org.bob, org.carol, org.bot];
    const answers = await Promise.all(admins.map((member) => sign(api.http, org.adminKey, fresh, member)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const shown = await read(api.http, org.readKey, proposalPath(fresh.id));
    expect(shown.approvals).toHaveLength(4);
    expect(shown).toMatchObject({ signatureStatus: 'approvalReady', executionStatus: null });
  });

  it('with its address in capital hex is the same signature', async () => {
    const fresh = await propose(api.http, org);
    const signature = await signPayload(org.bob, fresh.signingPayloads.approvePayload);
    const answer = await api.http.send({
      key: org.adminKey,
      path: path(fresh.id),
      body: { type: 'approve', signature: `0x${signature.slice(2).toUpperCase()}` },
    });
    expect(answer.status).toBe(200);
  });
});

describe('after a proposal is decided', () => {
  const conflict = refusal(409, 'conflict', null);

  async function expectClosed(decided: Shown) {
    for (const type of ['approve', 'reject'] as const) {
      const signature = await signPayload(org.carol, decided.signingPayloads[`${type}Payload`]);
      const body = { type, signature };
      await expectRefused(api.http, org, { key: org.adminKey, path: path(decided.id), body }, conflict);
      const ask = { key: org.adminKey, path: proposalPath(decided.id, '/execute'), body: { type } };
      await expectRefused(api.http, org, ask, conflict);
    }
    // The signature is looked at before the state.
    const body = { type: 'approve', signature: '0x12' };
    await expectRefused(api.http, org, { key: org.adminKey, path: path(decided.id), body }, INVALID);
  }

  it('by execution, signing and executing are refused', async () => {
    const decided = await propose(api.http, org);
    const done = await carryOut(api.http, org, decided);
    expect(done.signingPayloads).toBeUndefined();
    await expectClosed(decided);
  });

  it('by rejection, signing and executing are refused', async () => {
    const decided = await propose(api.http, org);
    await sign(api.http, org.adminKey, decided, org.alice, 'reject');
    const rejected = await sign(api.http, org.adminKey, decided, org.bob, 'reject', { execute: true });
    expect(rejected.body.data).toMatchObject({
      executionStatus: 'rejected',
      signatureStatus: 'rejectionReady',
      result: { resolution: 'rejected', resources: [] },
    });
    expect(rejected.body.data.signingPayloads).toBeUndefined();
    await expectClosed(decided);
  });
});

describe('with both outcomes ready', () => {
  it.each(['approve', 'reject'] as const)('whichever is executed first wins: %s', async (first) => {
    const both = await propose(api.http, org);
    for (const member of [org.alice, org.bob]) {
      await sign(api.http, org.adminKey, both, member, 'approve');
      await sign(api.http, org.adminKey, both, member, 'reject');
    }
    expect(await read(api.http, org.readKey, proposalPath(both.id))).toMatchObject({
      signatureStatus: 'approvalAndRejectionReady',
      executionStatus: null,
    });
    const won = await execute(api.http, org.adminKey, both.id, first);
    expect(won.status).toBe(200);
    const done = await settled(api.http, org, both.id);
    expect(done).toMatchObject({
      executionStatus: first === 'approve' ? 'completed' : 'rejected',
      signatureStatus: 'approvalAndRejectionReady',
      result: { resolution: first === 'approve' ? 'approved' : 'rejected' },
    });
    const before = await org.stored();
    const late = await execute(api.http, org.adminKey, both.id, first === 'approve' ? 'reject' : 'approve');
    expect(late.status).toBe(409);
    expect(await org.stored()).toEqual(before);
  });

  it('exactly one wins when they race', async () => {
    const raced = await propose(api.http, org);
    for (const member of [org.alice, org.bob]) {
      await sign(api.http, org.adminKey, raced, member, 'approve');
      await sign(api.http, org.adminKey, raced, member, 'reject');
    }
    const answers = await Promise.all(
      (['approve', 'reject', 'approve', 'reject'] as const).map((type) =>
        execute(api.http, org.adminKey, raced.id, type),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
    await settled(api.http, org, raced.id);
    const decisions = await read(
      api.http,
      org.readKey,
      `/api/v1/audit-logs?resourceId=${raced.id}&limit=100`,
    );
    const actions: string[] = decisions.map(({ action }: Shown) => action);
    const count = (...wanted: string[]) => actions.filter((action) => wanted.includes(action)).length;
    expect(count('proposal.executionStarted')).toBe(1);
    expect(count('proposal.executed', 'proposal.rejected')).toBe(1);
  });
});

describe('a threshold that is not met', () => {
  it('refuses an execution', async () => {
    const open = await propose(api.http, org);
    await sign(api.http, org.adminKey, open, org.alice);
    await sign(api.http, org.adminKey, open, org.bob, 'reject');
    for (const type of ['approve', 'reject']) {
      await expectRefused(
        api.http,
        org,
        { key: org.adminKey, path: proposalPath(open.id, '/execute'), body: { type } },
        refusal(422, 'thresholdNotMet', null),
      );
    }
  });

  it('only records a signature with execute', async () => {
    const open = await propose(api.http, org);
    const answer = await sign(api.http, org.adminKey, open, org.alice, 'approve', { execute: true });
    expect(answer.status).toBe(200);
    expect(answer.body.data).toMatchObject({ executionStatus: null, approvals: [{ id: org.alice.id }] });
  });

  it('met without execute leaves the proposal ready, without an execution', async () => {
    const open = await propose(api.http, org);
    await sign(api.http, org.adminKey, open, org.alice, 'approve', { execute: false });
    const ready = await sign(api.http, org.adminKey, open, org.bob);
    expect(ready.body.data).toMatchObject({ signatureStatus: 'approvalReady', executionStatus: null });
    const executed = await execute(api.http, org.adminKey, open.id);
    expect(executed.status).toBe(200);
    expect(['processing', 'completed']).toContain(executed.body.data.executionStatus);
    await settled(api.http, org, open.id);
  });
});

describe('the request that signs', () => {
  it('is refused for an invalid field before its signature is verified', async () => {
    await expectRefused(
      api.http,
      org,
      { key: org.adminKey, path: path(), body: { type: 'x', signature: 'y' } },
      badField('type'),
    );
  });
});
