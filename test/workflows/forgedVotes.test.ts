/** @deep */

import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import {
  type Address,
  createPublicClient,
  createWalletClient,
  encodeDeployData,
  type Hex,
  http as rpcTransport,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { signatureHash } from '../../src/approvals/verifiedVotes';
import { SAFE_CONTRACTS } from '../../src/chain/safeAccount';
import { encodeSignature } from '../../src/chain/signatures';
import { hashTypedPayload } from '../../src/chain/typedData';
import { createDatabase } from '../../src/db/database';
import { deployAsFunder, newSafe, type SafeWallet, sendAsFunder, signAsSafe } from '../chain/wallets';
import {
  approve,
  change,
  makeAccount,
  proposalPath,
  propose,
  proposeChange,
  read,
  refusal,
  refusalIn,
  type Shown,
  settled,
} from '../support/api';
import { anAddress } from '../support/builders';
import { type LyingRpc, startLyingRpc } from '../support/lyingRpc';
import { aPolicyItem, aTokenCondition } from '../support/policies';
import { sign, type TestOrganization } from '../support/service';
import { fundOnLocalChain, LOCAL_FUNDER, networksFile, startOwnChain } from '../support/stack';
import { itDeep } from '../support/suite';
import {
  aTransactionBody,
  createTransaction,
  executeTransaction,
  makePolicies,
  settledTransaction,
  signed,
  transactionPath,
} from '../support/transactionApi';
import { messages, workflowOfTransaction } from './transactionWorld';
import { startWorld, type World } from './world';

/**
 * The endpoint that the API and the workers ask belongs to an attacker, who also has API keys. The endpoint of the
 * signer is its own.
 */

const CHAIN_ID = 41_031;
const TEN_ETHER = String(10n ** 19n);
const INVALID = refusal(400, 'invalidSignature', 'signature');
/** Has the length of a key's signature, and is nobody's. */
const FORGERY: Hex = `0x${'11'.repeat(64)}1b`;

let own: Awaited<ReturnType<typeof startOwnChain>>;
let liar: LyingRpc;
let world: World;
let org: TestOrganization;
let account: Shown;
let policy: Shown;
let safe: SafeWallet;
let vault: Shown;

beforeAll(async () => {
  own = await startOwnChain(CHAIN_ID);
  const truth = own.current.rpcUrl;
  liar = await startLyingRpc(truth);
  const file = networksFile([{ id: CHAIN_ID, name: 'Own', rpcUrl: liar.url, signerRpcUrls: [truth] }]);
  world = await startWorld({ env: { NETWORKS_FILE: file, SIGNER_NETWORK: String(CHAIN_ID) } });
  const { http } = world;
  org = await world.createOrganization();
  safe = newSafe();
  await deployAsFunder(truth, safe.account);
  const items = [{ name: 'Vault', walletAddress: safe.address, type: 'user', walletKind: 'contract' }];
  const made = await change(http, org, '/members/proposals/create', { items });
  vault = await read(http, org.readKey, made.result.resources[0].uri);
  account = await makeAccount(http, org, { networkIds: [CHAIN_ID] });
  [policy] = await makePolicies(http, org, aPolicyItem({ networkId: CHAIN_ID }));
  await fundOnLocalChain(truth, account.address);
}, 120_000);
afterAll(async () => {
  await world?.stop();
  await liar?.stop();
  await own?.stop();
});
beforeEach(() => {
  liar.accepting = [org.dave.wallet.address, safe.address];
  liar.refusing = [];
});

/** A transfer of 10 ETH that somebody is said to ask for. */
async function payment(initiatorWalletAddress: string): Promise<Shown> {
  const body = aTransactionBody(
    org,
    { account, policy, to: anAddress() },
    {
      ...{ networkId: CHAIN_ID, value: TEN_ETHER },
      initiatorWalletAddress,
    },
  );
  return createTransaction(world.http, org, body);
}

const forgedVote = (signer: Address, bytes: Hex = FORGERY) => ({
  type: 'initiator' as const,
  signature: encodeSignature(signer, bytes),
  execute: true,
});
const send = ({ id }: Shown, body: object) =>
  world.http.send({ key: org.readKey, path: transactionPath(id, '/signatures'), body });

/** Nothing was signed for the chain, and nothing has arrived. */
async function expectNothingSigned({ id, to }: Shown): Promise<void> {
  expect(await world.db('chain_attempts').where({ transaction_id: id })).toEqual([]);
  const chain = createPublicClient({ transport: rpcTransport(own.current.rpcUrl) });
  expect(await chain.getBalance({ address: to })).toBe(0n);
}

async function expectPaid(transaction: Shown): Promise<void> {
  const paid = await settledTransaction(world.http, org, transaction);
  expect([paid.executionStatus, paid.failure]).toEqual(['completed', undefined]);
  const chain = createPublicClient({ transport: rpcTransport(own.current.rpcUrl) });
  expect(await chain.getBalance({ address: transaction.to })).toBe(10n ** 19n);
}

describe('the vote of a key', () => {
  it.each<[string, Hex]>([
    ['of the length of a signature', FORGERY],
    ['as a contract would take it', '0x1234'],
    ['in the wrapping of a contract to be deployed (ERC-6492)', `0x${'00'.repeat(96)}${'6492'.repeat(16)}`],
  ])('cannot be forged with bytes %s', async (_, bytes) => {
    const { address } = org.dave.wallet;
    const transaction = await payment(address);
    const vote = forgedVote(address, bytes);
    expect(refusalIn(await send(transaction, vote), INVALID)).toEqual(INVALID);
    // Past the API, straight to the workflow.
    const result = await workflowOfTransaction({ ...world, org }, transaction).executeUpdate(messages.sign, {
      updateId: randomUUID(),
      args: [vote],
    });
    expect(result).toMatchObject({ ok: false, refusal: { code: 'invalidSignature' } });
    await expectNothingSigned(transaction);
  });

  it.each(['eoa', 'eip1271'] as const)('is not executed when it is stored as %s', async (scheme) => {
    const { id: member_id, wallet } = org.dave;
    const transaction = await payment(wallet.address);
    const signature = encodeSignature(wallet.address, FORGERY);
    const service = createDatabase(world.env.DATABASE_URL ?? '', { poolMax: 1 });
    try {
      await service('votes').insert({
        approval_id: transaction.id,
        member_id,
        type: 'initiator',
        signer_address: wallet.address,
        scheme,
        signature,
        signature_hash: signatureHash(signature),
      });
      const answer = await executeTransaction(world.http, org, transaction);
      expect(
        answer.status === 200
          ? [answer.body.data.executionStatus, answer.body.data.failure.code]
          : [answer.status, answer.body.code],
      ).toEqual(scheme === 'eoa' ? ['blocked', 'stale'] : [422, 'thresholdNotMet']);
      await expectNothingSigned(transaction);
    } finally {
      await service.destroy();
    }
  });

  it('counts by its own signature while there is delegated code at its address (EIP-7702)', async () => {
    const { dave } = org;
    const chain = {
      id: CHAIN_ID,
      name: 'Own',
      nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    };
    const funder = createWalletClient({
      account: privateKeyToAccount(LOCAL_FUNDER.privateKey),
      chain: { ...chain, rpcUrls: { default: { http: [own.current.rpcUrl] } } },
      transport: rpcTransport(own.current.rpcUrl),
    });
    const authorization = await funder.signAuthorization({
      account: privateKeyToAccount(dave.privateKey),
      contractAddress: SAFE_CONTRACTS.singleton.address,
    });
    const hash = await funder.sendTransaction({
      to: dave.wallet.address,
      authorizationList: [authorization],
    });
    const network = createPublicClient({ transport: rpcTransport(own.current.rpcUrl) });
    await network.waitForTransactionReceipt({ hash });
    expect(await network.getCode({ address: dave.wallet.address })).toMatch(/^0xef0100/);
    const transaction = await payment(dave.wallet.address);
    expect(refusalIn(await send(transaction, forgedVote(dave.wallet.address)), INVALID)).toEqual(INVALID);
    await signed(world.http, org, transaction, dave, 'initiator', { execute: true });
    await expectPaid(transaction);
  });
});

describe('the vote of a contract', () => {
  it('that only the endpoint of the workers accepts is refused by the signer', async () => {
    const transaction = await payment(safe.address);
    expect((await send(transaction, forgedVote(safe.address))).status).toBe(200);
    const blocked = await settledTransaction(world.http, org, transaction);
    expect(blocked).toMatchObject({
      executionStatus: 'blocked',
      failure: { code: 'stale', message: expect.stringContaining('no valid signature of the initiator') },
    });
    await expectNothingSigned(transaction);
  });

  itDeep('that the contract accepts is paid', async () => {
    liar.accepting = [];
    const transaction = await payment(safe.address);
    const digest = hashTypedPayload(transaction.signingPayloads.initiatorPayload);
    const bytes = await signAsSafe(safe.owner, { address: safe.address, chainId: CHAIN_ID }, digest);
    expect((await send(transaction, forgedVote(safe.address, bytes))).status).toBe(200);
    await expectPaid(transaction);
  });
});

describe('the vote of an admin whose wallet is a contract', () => {
  beforeAll(async () => {
    liar.accepting = [];
    await change(world.http, org, '/admins/proposals/update', {
      updates: [{ action: 'addMember', id: vault.id }],
      threshold: 2,
    });
  });

  const approveAs = ({ id }: Shown, bytes: Hex, more: object = {}) =>
    world.http.send({
      key: org.adminKey,
      path: proposalPath(id, '/signatures'),
      body: { type: 'approve', signature: encodeSignature(safe.address, bytes), ...more },
    });

  it('that only the endpoint of the workers accepts is refused by the signer, which seals nothing', async () => {
    const proposal = await propose(world.http, org, { networkIds: [CHAIN_ID] });
    expect((await sign(world.http, org.adminKey, proposal, org.alice)).status).toBe(200);
    expect((await approveAs(proposal, FORGERY, { execute: true })).status).toBe(200);
    expect(await settled(world.http, org, proposal.id)).toMatchObject({
      executionStatus: 'blocked',
      failure: { code: 'stale', message: expect.stringContaining('found 1 valid signatures') },
    });
    expect(await world.db('seals').where({ proposal_id: proposal.id })).toEqual([]);
    expect(await world.db('accounts').where({ id: proposal.data.items[0].id })).toEqual([]);
    expect(await world.db('chain_attempts').where({ proposal_id: proposal.id })).toEqual([]);
  });

  it('counts for the signer, though that endpoint lets a forgery take its place', async () => {
    liar.accepting = [];
    const proposal = await propose(world.http, org, { networkIds: [CHAIN_ID] });
    const digest = hashTypedPayload(proposal.signingPayloads.approvePayload);
    const bytes = await signAsSafe(safe.owner, { address: safe.address, chainId: CHAIN_ID }, digest);
    expect((await approveAs(proposal, bytes)).status).toBe(200);
    expect((await approveAs(proposal, FORGERY)).status).toBe(400);
    liar.accepting = [safe.address];
    // While the first signature is accepted, there is no other.
    expect((await approveAs(proposal, FORGERY)).status).toBe(409);
    liar.refusing = [bytes];
    expect((await approveAs(proposal, FORGERY)).status).toBe(200);
    const executed = await sign(world.http, org.adminKey, proposal, org.alice, 'approve', { execute: true });
    expect(executed.status).toBe(200);
    expect(await settled(world.http, org, proposal.id)).toMatchObject({ executionStatus: 'completed' });
    const [body = ''] = await world.db('seals').where({ proposal_id: proposal.id }).pluck('body');
    expect(body).toContain(bytes.slice(2));
    expect(body).not.toContain(FORGERY.slice(2));
  });
});

describe('a token of a policy', () => {
  it('is not sealed with the decimals that only the endpoint of the workers gives it', async () => {
    const { http } = world;
    const { abi, bytecode } = createRequire(__filename)(
      '@openzeppelin/contracts/build/contracts/ERC20PresetMinterPauser.json',
    );
    const { contractAddress } = await sendAsFunder(own.current.rpcUrl, {
      data: encodeDeployData({ abi, bytecode, args: ['Gold', 'AU'] }),
    });
    const condition = { tokenAddress: contractAddress, amountThreshold: TEN_ETHER };
    const item = aPolicyItem({ networkId: CHAIN_ID, tokenTransferCondition: aTokenCondition(condition) });
    const add = () => proposeChange(http, org, '/policies/proposals/add', { policies: [item] });
    liar.decimals = { [contractAddress ?? '']: 36 };
    const forged = await add();
    expect(forged.summary).toContain('at most 0.00000000000000001 "AU"');
    expect(await approve(http, org, forged)).toMatchObject({
      executionStatus: 'blocked',
      failure: {
        code: 'stale',
        message: expect.stringMatching(
          /as "AU" \("Gold"\) with 18 decimals; .* \("Gold"\) with 36 decimals$/,
        ),
      },
    });
    expect(await world.db('seals').where({ proposal_id: forged.id })).toEqual([]);
    liar.decimals = {};
    const honest = await add();
    expect(honest.summary).toContain('at most 10 "AU"');
    expect(await approve(http, org, honest)).toMatchObject({ executionStatus: 'completed' });
  });
});
