import { randomBytes } from 'node:crypto';
import type { Address } from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { createChainClient } from '../../src/chain/clients';
import { encodeSignature } from '../../src/chain/signatures';
import { hashTypedPayload } from '../../src/chain/typedData';
import type { NetworkConfig } from '../../src/config';
import { deployAsFunder, execAsOwner, newSafe, signAsSafe } from '../chain/wallets';
import {
  change,
  makeAccount,
  proposalPath,
  propose,
  read,
  refusal,
  refusalIn,
  type Shown,
  settled,
  sharedApi,
} from '../support/api';
import { anAddress } from '../support/builders';
import { anAnyPolicyItem } from '../support/policies';
import { signPayload, type TestMember, type TestOrganization, type TestService } from '../support/service';
import { endpointOf } from '../support/stack';
import {
  aTransactionBody,
  createTransaction,
  makePolicies,
  transactionPath,
} from '../support/transactionApi';
import { until } from '../support/until';

const SENTINEL = '0x0000000000000000000000000000000000000001';
const newKey = () => privateKeyToAccount(generatePrivateKey());

/** A Safe that is the wallet of a member, with its present owner. */
interface Wallet {
  readonly address: Address;
  owner: PrivateKeyAccount;
}

let api: TestService;
let org: TestOrganization;
let network: NetworkConfig;
/** Of Carol, an admin. */
let carols: Wallet;
/** Of Dave. */
let daves: Wallet;
let account: Shown;
/** Carol approves it. */
let policy: Shown;

beforeAll(async () => {
  api = await sharedApi();
  const found = api.config.networks.find(({ id }) => id === api.config.signerNetworkId);
  if (!found) throw new Error('there is no network for contract wallets');
  network = found;
  org = await api.createOrganization();
  carols = await giveSafe(org.carol);
  daves = await giveSafe(org.dave);
  account = await makeAccount(api.http, org, { name: 'Treasury', networkIds: [31337] });
  const approverSetting = { type: 'user', memberId: org.carol.id };
  [policy] = await makePolicies(api.http, org, anAnyPolicyItem({ type: 'MANUAL_APPROVAL', approverSetting }));
});
afterAll(() => api?.stop());

/** Gives a member a Safe as their wallet. */
async function giveSafe({ id }: TestMember): Promise<Wallet> {
  const safe = newSafe();
  await deployAsFunder(endpointOf(network), safe.account);
  const items = [{ id, walletAddress: safe.address, walletKind: 'contract' }];
  await change(api.http, org, '/members/proposals/update', { items });
  return { address: safe.address, owner: safe.owner };
}

const onChain = (wallet: Wallet, signature: string, args: readonly unknown[]) =>
  execAsOwner(createChainClient(network), wallet.owner, wallet.address, { signature, args });

/** Another key becomes the owner of a Safe, in place of its owner. */
async function changeOwner(wallet: Wallet): Promise<void> {
  const heir = newKey();
  await onChain(wallet, 'swapOwner(address prevOwner, address oldOwner, address newOwner)', [
    SENTINEL,
    wallet.owner.address,
    heir.address,
  ]);
  wallet.owner = heir;
}

/** The encoded signature of a Safe. */
async function signatureOf({ address, owner }: Wallet, payload: string): Promise<string> {
  const safe = { address, chainId: network.id };
  return encodeSignature(address, await signAsSafe(owner, safe, hashTypedPayload(payload)));
}

const payloadsOf = async (path: string) => (await read(api.http, org.readKey, path)).signingPayloads;

async function sign(path: string, type: string, signature: string, more: object = {}) {
  const body = { type, signature, ...more };
  return api.http.send({ key: org.adminKey, path: `${path}/signatures`, body });
}

async function signAs(path: string, type: string, wallet: Wallet, more: object = {}) {
  const { [`${type}Payload`]: payload } = await payloadsOf(path);
  return sign(path, type, await signatureOf(wallet, payload), more);
}

async function aProposal(): Promise<string> {
  const { id, signingPayloads } = await propose(api.http, org, {
    name: `Account ${randomBytes(4).toString('hex')}`,
  });
  const path = proposalPath(id);
  await sign(path, 'approve', await signPayload(org.alice, signingPayloads.approvePayload));
  return path;
}

const noteOf = (wallet: Wallet, { id, name }: TestMember, more = '') => ({
  at: expect.any(String),
  code: 'signatureReplaced',
  message: `"${name}" (${id}) has signed again, because contract wallet ${wallet.address} does not accept the earlier signature any more${more}`,
});

const idOf = (path: string) => path.split('/').at(-1) ?? '';

/** The signatures of a member as they are stored, oldest first. */
const storedOf = (path: string, { id }: TestMember) =>
  api
    .db('votes')
    .where({ approval_id: idOf(path), member_id: id })
    .orderBy('id')
    .pluck('signature');

const settledTransaction = (path: string) =>
  until(`${path} is decided`, async () => {
    const found = await read(api.http, org.readKey, path);
    return ['completed', 'failed', 'blocked'].includes(found.executionStatus) && found;
  });

describe('a vote whose contract wallet changed its owner', () => {
  it('is replaced by one that the wallet accepts, and the proposal that was blocked is executed', async () => {
    const path = await aProposal();
    const first = await signatureOf(carols, (await payloadsOf(path)).approvePayload);
    expect((await sign(path, 'approve', first)).body.data.signatureStatus).toBe('approvalReady');
    await changeOwner(carols);
    const blocked = await api.http.send({
      key: org.adminKey,
      path: `${path}/execute`,
      body: { type: 'approve' },
    });
    expect(blocked.body.data.failure).toMatchObject({
      code: 'stale',
      message: `a counted signature is invalid now, because its wallet does not accept it: "Carol" (${org.carol.id}) can sign again`,
    });
    const second = await signatureOf(carols, (await payloadsOf(path)).approvePayload);
    const answer = await sign(path, 'approve', second);
    expect(answer.status).toBe(200);
    expect(answer.body.data).toMatchObject({
      signatureStatus: 'approvalReady',
      notes: [noteOf(carols, org.carol)],
    });
    expect(await storedOf(path, org.carol)).toEqual([first, second]);
    await api.http.send({ key: org.adminKey, path: `${path}/execute`, body: { type: 'approve' } });
    expect(await settled(api.http, org, idOf(path))).toMatchObject({ executionStatus: 'completed' });
    const entries = await read(
      api.http,
      org.readKey,
      `/api/v1/audit-logs?resourceId=${idOf(path)}&limit=100`,
    );
    const replaced = entries.filter(({ details }: Shown) => details.replaces !== undefined);
    expect(replaced).toMatchObject([{ action: 'proposal.signed', details: { type: 'approve' } }]);
  });

  it('is stored with the request to execute, which begins with it', async () => {
    const path = await aProposal();
    expect((await signAs(path, 'approve', carols)).status).toBe(200);
    await changeOwner(carols);
    const answer = await signAs(path, 'approve', carols, { execute: true });
    expect(answer.status).toBe(200);
    expect(await storedOf(path, org.carol)).toHaveLength(2);
    const done = await settled(api.http, org, idOf(path));
    expect(done).toMatchObject({ executionStatus: 'completed', notes: [noteOf(carols, org.carol)] });
  });

  it('is not replaced while the wallet accepts it', async () => {
    const path = await aProposal();
    expect((await signAs(path, 'approve', carols)).status).toBe(200);
    const other = newKey();
    await onChain(carols, 'addOwnerWithThreshold(address owner, uint256 threshold)', [other.address, 1]);
    const again = await signAs(path, 'approve', { ...carols, owner: other });
    expect(refusalIn(again, refusal(409, 'conflict'))).toEqual(refusal(409, 'conflict'));
    expect(await storedOf(path, org.carol)).toHaveLength(1);
    await onChain(carols, 'removeOwner(address prevOwner, address owner, uint256 threshold)', [
      SENTINEL,
      other.address,
      1,
    ]);
  });

  it('is replaced once by many that arrive at the same time', async () => {
    const path = await aProposal();
    expect((await signAs(path, 'approve', carols)).status).toBe(200);
    await changeOwner(carols);
    const answers = await Promise.all(Array.from({ length: 5 }, () => signAs(path, 'approve', carols)));
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(1);
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
    expect(await storedOf(path, org.carol)).toHaveLength(2);
    expect((await read(api.http, org.readKey, path)).notes).toHaveLength(1);
  });

  it('is replaced 9 times at most: each is read and verified again', async () => {
    const path = await aProposal();
    for (let signed = 0; signed < 10; signed += 1) {
      if (signed > 0) await changeOwner(carols);
      expect((await signAs(path, 'approve', carols)).status).toBe(200);
    }
    await changeOwner(carols);
    for (const execute of [false, true]) {
      const { status, body } = await signAs(path, 'approve', carols, { execute });
      expect([status, body.error]).toMatchObject([
        409,
        {
          code: 'conflict',
          message: `member ${org.carol.id} has already signed to approve proposal ${idOf(path)} 10 times, and the wallet does not accept the newest: create the proposal again`,
        },
      ]);
    }
    expect(await storedOf(path, org.carol)).toHaveLength(10);
  });

  it('is replaced for a transaction, and it is paid', async () => {
    const path = await aTransaction();
    expect((await signAs(path, 'initiator', daves)).status).toBe(200);
    expect((await signAs(path, 'approve', carols)).status).toBe(200);
    await changeOwner(carols);
    await signAs(path, 'approve', carols, { execute: true });
    expect(await settledTransaction(path)).toMatchObject({ executionStatus: 'completed' });
  });
});

async function aTransaction(): Promise<string> {
  const body = aTransactionBody(
    org,
    { account, policy, to: anAddress() },
    { initiatorWalletAddress: daves.address, value: '0', data: '0x12345678' },
  );
  return transactionPath((await createTransaction(api.http, org, body)).id);
}

describe('an initiator whose contract wallet changed its owner', () => {
  it('signs again, and then those who approve do', async () => {
    const path = await aTransaction();
    expect((await signAs(path, 'initiator', daves)).status).toBe(200);
    expect((await signAs(path, 'approve', carols)).body.data.signatureStatus).toBe('approvalReady');
    await changeOwner(daves);
    await api.http.send({ key: org.adminKey, path: `${path}/execute`, body: { type: 'approve' } });
    expect(await settledTransaction(path)).toMatchObject({
      executionStatus: 'blocked',
      failure: { code: 'stale', message: expect.stringContaining(`"Dave" (${org.dave.id}) can sign again`) },
    });
    const again = await signAs(path, 'initiator', daves);
    expect(again.status).toBe(200);
    expect(again.body.data).toMatchObject({
      signatureStatus: 'pendingReviewSignatures',
      approvals: [],
      notes: [noteOf(daves, org.dave, ': approvals and rejections have to be signed again')],
    });
    const approved = await signAs(path, 'approve', carols, { execute: true });
    expect(approved.status).toBe(200);
    expect(await settledTransaction(path)).toMatchObject({ executionStatus: 'completed' });
    expect(await storedOf(path, org.dave)).toHaveLength(2);
  });
});
