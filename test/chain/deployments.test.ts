/** @deep */
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import pino from 'pino';
import { type Address, type Hex, keccak256, parseTransaction } from 'viem';
import { type ChainActivities, createChainActivities } from '../../activities/chainActivities';
import type { DeploymentFollowed } from '../../activities/deployments/followDeployment';
import { applySeal } from '../../activities/proposals/applySeal';
import { createRelayerContext } from '../../activities/relayer/relayerContext';
import { signatureHash } from '../../src/approvals/verifiedVotes';
import { inspectAccount } from '../../src/chain/accountPresence';
import { ChainUnavailable, createChainClients } from '../../src/chain/clients';
import { signerEndpoints } from '../../src/chain/contractSignatures';
import type { Keystore } from '../../src/chain/keys';
import { relayerIndex } from '../../src/chain/relayerIndex';
import { deriveAccount, SAFE_CONTRACTS } from '../../src/chain/safeAccount';
import { encodeSignature } from '../../src/chain/signatures';
import { hashTypedPayload } from '../../src/chain/typedData';
import { createIdentifyVoter, type IdentifyVoter } from '../../src/chain/voter';
import type { NetworkConfig } from '../../src/config';
import { insertApproval } from '../../src/db/approvals';
import { createDatabase, type Db } from '../../src/db/database';
import { newId } from '../../src/db/ids';
import { readOrganization } from '../../src/db/organizations';
import { insertProposal } from '../../src/db/proposals';
import { requireRow } from '../../src/db/rows';
import type { DeploymentKey } from '../../src/domain/proposal';
import { proposalPayload } from '../../src/domain/signing';
import { createSignerActivities, type SignerActivities } from '../../src/signer/activities';
import { type Journal, openJournal } from '../../src/signer/journal/journal';
import { registerRelayers } from '../../src/signer/registerRelayers';
import { type SealResult, sealProposal } from '../../src/signer/seal';
import { createSignerContext, type SignerDeps } from '../../src/signer/signerContext';
import { setBaseFee } from '../support/baseFee';
import { inSlot } from '../support/inSlot';
import {
  decideDirectly,
  makeKeystore,
  makeOrganization,
  signPayload,
  type TestMember,
  type TestOrganization,
} from '../support/service';
import {
  createTestDatabase,
  freePorts,
  fundOnLocalChain,
  rpc,
  startOwnChain,
  temporaryDir,
} from '../support/stack';
import { insertSigned } from '../support/storedTransactions';
import { itDeep } from '../support/suite';
import { until } from '../support/until';
import { deployAsFunder, execAsOwner, signAsSafe } from './wallets';

const CHAIN_ID = 41_011;
const GWEI = 10n ** 9n;

let own: Awaited<ReturnType<typeof startOwnChain>>;
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let db: Db;
let serviceDb: Db;
let signerDb: Db;
let network: NetworkConfig;
let keystore: Keystore;
let journal: Journal;
let org: TestOrganization;
let chain: ChainActivities;
let signer: SignerActivities;
let identifyVoter: IdentifyVoter;
let url: string;
let relayer: Address;

beforeAll(async () => {
  own = await startOwnChain(CHAIN_ID);
  url = own.current.rpcUrl;
  database = await createTestDatabase();
  db = createDatabase(database.url, { poolMax: 3 });
  serviceDb = createDatabase(database.serviceUrl, { poolMax: 5 });
  signerDb = createDatabase(database.signerUrl, { poolMax: 5 });
  network = {
    id: CHAIN_ID,
    name: 'Own Chain',
    rpcUrls: [url],
    signerRpcUrls: [url],
    relayers: 1,
    nativeAsset: { symbol: 'ETH', name: 'Ether', decimals: 18 },
    confirmations: 1,
    maxFeePerGas: 5_000n * GWEI,
  };
  keystore = await makeKeystore(temporaryDir(), 'pass');
  journal = await openJournal({ file: join(temporaryDir(), 'journal'), waitMs: 0 });
  identifyVoter = createIdentifyVoter(signerEndpoints(network));
  chain = chainWith({});
  signer = signerWith({});
  await registerRelayers(signerDeps({}));
  relayer = keystore.relayerKey(CHAIN_ID, 0).address;
  org = await makeOrganization(db, { keystore });
});

afterAll(async () => {
  await journal?.close();
  await Promise.all([db, serviceDb, signerDb].map((pool) => pool?.destroy()));
  await database?.drop();
  await own?.stop();
});

beforeEach(() => fundOnLocalChain(url, relayer));

/** Activities with another configuration of the network. */
function chainWith(change: Partial<NetworkConfig>): ChainActivities {
  const chains = createChainClients([{ ...network, ...change }]);
  const context = createRelayerContext({
    ...{ db: serviceDb, chains, maxGas: 5_000_000n },
    ...{ pollMs: 20, stuckAfterMs: 1_500, withoutSlot: inSlot },
  });
  return createChainActivities({ ...context, scanners: new Map() });
}

function signerDeps(change: Partial<SignerDeps>): SignerDeps {
  return {
    ...{ db: signerDb, keystore, journal, networks: [network], identifyVoter, maxGas: 5_000_000n },
    gasBudgetPerHour: 10n ** 24n,
    proposalLifetimeMs: 7 * 24 * 3_600_000,
    ...{
      production: false,
      logger: pino({ level: 'silent' }),
      countRefusal: () => undefined,
      countUnknownExecution: () => undefined,
    },
    ...change,
  };
}

function signerWith(change: Partial<SignerDeps>): SignerActivities {
  return createSignerActivities(createSignerContext(signerDeps(change)));
}

interface How {
  readonly approvers?: readonly TestMember[];
  readonly expiresInMs?: number;
  readonly networkIds?: readonly number[];
}

/** An accounts proposal that two admins have approved and whose execution has begun; nothing is sealed yet. */
async function executing(more: How = {}): Promise<DeploymentKey & { address: Address; payload: string }> {
  const { approvers = [org.alice, org.bob], expiresInMs = 3_600_000, networkIds = [CHAIN_ID] } = more;
  const proposalId = newId('prop');
  const accountId = newId('acc');
  const name = `Treasury ${accountId}`;
  const account = deriveAccount(keystore.organizationKey(org.id).address, accountId);
  const expiresAt = new Date(Math.floor((Date.now() + expiresInMs) / 1_000) * 1_000);
  const proposal = {
    id: proposalId,
    organizationId: org.id,
    resourceType: 'accounts',
    action: 'create',
    data: {
      items: [{ id: accountId, name, address: account.address, networkIds: [...networkIds] }],
    },
    summary: `Create account "${name}" (${account.address}) on ${networkIds.map((networkId) => `"Own Chain" (${networkId})`).join(', ')}`,
    expiresAt,
  } as const;
  const { domainSalt } = await readOrganization(db, org.id);
  const payload = proposalPayload('ApproveProposal', domainSalt, proposal);
  await db.transaction(async (tx) => {
    await insertApproval(tx, 'proposal', { ...proposal, createdBy: null, mentions: [], position: 0n });
    await insertProposal(tx, { ...proposal, mentions: [] });
    for (const member of approvers) {
      const signature = await signPayload(member, payload);
      await insertSigned(tx, proposalId, {
        memberId: member.id,
        type: 'approve',
        signerAddress: member.wallet.address,
        scheme: 'eoa',
        signature,
        signatureHash: signatureHash(signature),
        initiatorSignatureHash: null,
        reason: null,
        credentialId: null,
      });
    }
    await tx('approvals')
      .where({ id: proposalId })
      .update({ execution_status: 'processing', execution_attempt: 1, decision: 'approve' });
  });
  return {
    organizationId: org.id,
    proposalId,
    accountId,
    networkId: CHAIN_ID,
    address: account.address as Address,
    payload,
  };
}

type Key = Awaited<ReturnType<typeof executing>>;

function seal(key: Key, change: Partial<SignerDeps> = {}): Promise<SealResult> {
  const { organizationId, proposalId } = key;
  return sealProposal(createSignerContext(signerDeps(change)), { organizationId, id: proposalId });
}

/** The same, sealed and carried out as far as the tables go: its deployments are pending. */
async function begunProposal(more: How = {}): Promise<Key> {
  const key = await executing(more);
  const result = await seal(key);
  if (!('sealed' in result)) throw new Error(JSON.stringify(result));
  await applySeal({ db: serviceDb }, { organizationId: key.organizationId, id: key.proposalId, result });
  return key;
}

async function terms(key: Key) {
  const seen = await chain.observeDeployment(key);
  if (seen.kind !== 'needsEnvelope') throw new Error(`it is ${JSON.stringify(seen)}`);
  return seen.terms;
}

async function signed(key: Key): Promise<string> {
  const result = await signer.signDeployment({ ...key, terms: await terms(key) });
  if (!('envelopeId' in result)) throw new Error(JSON.stringify(result));
  return result.envelopeId;
}

function follow(envelopeId: string, reported: string | null = null): Promise<DeploymentFollowed> {
  const input = { envelopeId, networkId: CHAIN_ID, reported };
  return new MockActivityEnvironment().run(chain.followDeployment, input);
}

function envelopes(key: Key) {
  return db('chain_envelopes')
    .whereIn('attempt_id', db('chain_attempts').where({ account_id: key.accountId }).select('id'))
    .orderBy('id');
}

async function deployed(key: Key) {
  return until('the account counts as deployed', async () => {
    const seen = await chain.observeDeployment(key);
    if (seen.kind !== 'confirming') return seen;
    return undefined;
  });
}

describe('a deployment', () => {
  test('is signed once, stored before it is sent, and deployed when it is confirmed', async () => {
    const key = await begunProposal();
    const envelopeId = await signed(key);
    const [stored] = await envelopes(key);
    expect(stored).toMatchObject({ sent_at: null, outcome: null, relayer_address: relayer });
    expect(keccak256(stored?.raw_transaction as Hex)).toBe(stored?.transaction_hash);
    expect(parseTransaction(stored?.raw_transaction as Hex)).toMatchObject({ chainId: CHAIN_ID });
    expect(await chain.observeDeployment(key)).toEqual({ kind: 'inFlight', envelopeId });
    expect(await follow(envelopeId)).toEqual({ kind: 'mined' });
    expect(await deployed(key)).toEqual({
      kind: 'deployed',
      transactionHash: stored?.transaction_hash,
      blockNumber: expect.stringMatching(/^\d+$/),
    });
    expect(await envelopes(key)).toMatchObject([{ outcome: 'mined', sent_at: expect.any(Date) }]);
    // Whoever follows it again finds the same outcome.
    expect(await follow(envelopeId)).toEqual({ kind: 'mined' });
  });

  test('has a fifth more gas at least than it uses, as a block in between may raise what it needs', async () => {
    const key = await begunProposal();
    const envelopeId = await signed(key);
    expect(await follow(envelopeId)).toEqual({ kind: 'mined' });
    const { transaction_hash, gas } = requireRow((await envelopes(key))[0]);
    const { gasUsed } = (await rpc(url, 'eth_getTransactionReceipt', [transaction_hash])) as { gasUsed: Hex };
    expect(BigInt(gas)).toBeGreaterThanOrEqual((BigInt(gasUsed) * 120n) / 100n);
  });

  test('is paid by the relayer of its account', async () => {
    const two = { ...network, relayers: 2 };
    await registerRelayers(signerDeps({ networks: [two] }));
    let key = await begunProposal();
    while (relayerIndex(key.accountId, 2) === 0) key = await begunProposal();
    const { address: payer } = keystore.relayerKey(CHAIN_ID, 1);
    const observed = () => chainWith(two).observeDeployment(key);
    expect(await observed()).toMatchObject({
      failure: { code: 'relayerFunds', message: expect.stringContaining(payer) },
    });
    await fundOnLocalChain(url, payer);
    const seen = await observed();
    if (seen.kind !== 'needsEnvelope') throw new Error(JSON.stringify(seen));
    const result = await signerWith({ networks: [two] }).signDeployment({ ...key, terms: seen.terms });
    expect(await envelopes(key)).toMatchObject([{ relayer_address: payer, relayer_nonce: 0n }]);
    expect(await follow((result as { envelopeId: string }).envelopeId)).toEqual({ kind: 'mined' });
  });

  test('has one envelope when it is signed twice, concurrently or in sequence', async () => {
    const key = await begunProposal();
    const asked = { ...key, terms: await terms(key) };
    const results = await Promise.all([signer.signDeployment(asked), signer.signDeployment(asked)]);
    results.push(await signer.signDeployment(asked));
    expect(new Set(results.map((result) => JSON.stringify(result))).size).toBe(1);
    expect(await envelopes(key)).toHaveLength(1);
    expect(await follow((results[0] as { envelopeId: string }).envelopeId)).toEqual({ kind: 'mined' });
  });

  test('by a third party counts if it is the same account, before or after signing', async () => {
    const before = await begunProposal();
    const account = (key: Key) => deriveAccount(keystore.organizationKey(org.id).address, key.accountId);
    await deployAsFunder(url, account(before));
    expect(await deployed(before)).toEqual({ kind: 'deployed', transactionHash: null, blockNumber: null });
    expect(await envelopes(before)).toHaveLength(0);

    const after = await begunProposal();
    const envelopeId = await signed(after);
    await deployAsFunder(url, account(after));
    expect(await follow(envelopeId)).toMatchObject({ kind: 'reverted' });
    expect(await deployed(after)).toMatchObject({ kind: 'deployed', transactionHash: null });
  });

  itDeep('is included although an earlier nonce is not sent', async () => {
    const [first, second] = [await begunProposal(), await begunProposal()];
    const firstId = await signed(first);
    const secondId = await signed(second);
    expect(await follow(secondId)).toEqual({ kind: 'mined' });
    expect(await follow(firstId)).toEqual({ kind: 'mined' });
  });

  itDeep('uses one nonce each for many at once, and all are included', async () => {
    const keys = await Promise.all(Array.from({ length: 8 }, () => begunProposal()));
    const ids = await Promise.all(keys.map(signed));
    expect(new Set(ids).size).toBe(keys.length);
    for (const outcome of await Promise.all(ids.map((id) => follow(id)))) {
      expect(outcome).toEqual({ kind: 'mined' });
    }
  });

  itDeep('is sent again with the same bytes after its block is lost', async () => {
    const snapshot = await rpc(url, 'evm_snapshot');
    const [lost, other] = [await begunProposal(), await begunProposal()];
    const lostId = await signed(lost);
    expect(await follow(lostId)).toEqual({ kind: 'mined' });
    const otherId = await signed(other);
    expect(await follow(otherId)).toEqual({ kind: 'mined' });
    await rpc(url, 'evm_revert', [snapshot]);
    await fundOnLocalChain(url, relayer);
    // The later one brings the earlier one along: its nonce comes first.
    expect(await chain.observeDeployment(other)).toEqual({ kind: 'inFlight', envelopeId: otherId });
    expect(await follow(otherId)).toEqual({ kind: 'mined' });
    expect(await deployed(other)).toMatchObject({ kind: 'deployed' });
    expect(await deployed(lost)).toMatchObject({ kind: 'deployed' });
    expect(await envelopes(lost)).toHaveLength(1);
    expect(await envelopes(other)).toHaveLength(1);
  });

  test('is replaced at its nonce with a higher fee when it is stuck, up to the ceiling', async () => {
    const key = await begunProposal();
    const firstId = await signed(key);
    await setBaseFee(url, 900n * GWEI);
    const mining = setInterval(() => void rpc(url, 'anvil_mine', ['0x1']).catch(() => undefined), 400);
    try {
      const stuck = await follow(firstId);
      if (stuck.kind !== 'stuck') throw new Error(`it is ${JSON.stringify(stuck)}`);
      const replaced = await signer.signDeployment({ ...key, terms: stuck.terms });
      if (!('envelopeId' in replaced)) throw new Error(JSON.stringify(replaced));
      expect(replaced.envelopeId).not.toBe(firstId);
      // Asked again for the same replacement, it answers the one it made.
      expect(await signer.signDeployment({ ...key, terms: stuck.terms })).toEqual(replaced);
      expect(await follow(replaced.envelopeId)).toEqual({ kind: 'mined' });
    } finally {
      clearInterval(mining);
    }
    const [first, second] = await envelopes(key);
    expect(second).toMatchObject({ relayer_nonce: first?.relayer_nonce, outcome: 'mined' });
    expect(first?.outcome).toBe('dropped');
    expect(BigInt(requireRow(second).max_fee_per_gas)).toBeGreaterThan(
      BigInt(requireRow(first).max_fee_per_gas),
    );
    await setBaseFee(url, 1n);
  }, 60_000);

  itDeep('reports the transaction that ran out of gas', async () => {
    const key = await begunProposal();
    const result = await signer.signDeployment({ ...key, terms: { ...(await terms(key)), gas: '90000' } });
    if (!('envelopeId' in result)) throw new Error(JSON.stringify(result));
    const [stored] = await envelopes(key);
    expect(await follow(result.envelopeId)).toEqual({
      kind: 'reverted',
      transactionHash: stored?.transaction_hash,
    });
    // The next one has a nonce of its own and enough gas.
    expect(await follow(await signed(key))).toEqual({ kind: 'mined' });
  });
});

describe('an obstacle', () => {
  test('insufficient funds of the relayer are reported with its network before anything is signed', async () => {
    const key = await begunProposal();
    await rpc(url, 'anvil_setBalance', [relayer, '0x0']);
    expect(await chain.observeDeployment(key)).toMatchObject({
      kind: 'failed',
      failure: {
        code: 'relayerFunds',
        message: expect.stringContaining(`insufficient funds: relayer ${relayer} has 0 ETH on Own Chain`),
      },
    });
  });

  itDeep(
    'insufficient funds of the relayer after signing are reported as waited for',
    async () => {
      const key = await begunProposal();
      const envelopeId = await signed(key);
      await rpc(url, 'anvil_setBalance', [relayer, '0x0']);
      const waiting = await follow(envelopeId);
      expect(waiting).toEqual({
        kind: 'waiting',
        message: expect.stringContaining(`insufficient funds: relayer ${relayer} on Own Chain`),
      });
      await fundOnLocalChain(url, relayer);
      const { message } = waiting as { message: string };
      expect(await follow(envelopeId, message)).toEqual({ kind: 'mined' });
    },
    30_000,
  );

  itDeep('gas above the ceiling of the network is reported before anything is signed', async () => {
    const key = await begunProposal();
    const cheap = chainWith({ maxFeePerGas: 0n });
    await setBaseFee(url, 10n * GWEI);
    expect(await cheap.observeDeployment(key)).toMatchObject({
      kind: 'failed',
      failure: { code: 'feeCeiling', message: expect.stringContaining('ceiling of 0 gwei') },
    });
  });

  itDeep('missing Safe contracts are named', async () => {
    const key = await begunProposal();
    const { address } = SAFE_CONTRACTS.fallbackHandler;
    const code = await rpc<Hex>(url, 'eth_getCode', [address, 'latest']);
    await rpc(url, 'anvil_setCode', [address, '0x6000']);
    const seen = await chain.observeDeployment(key);
    await rpc(url, 'anvil_setCode', [address, code]);
    expect(seen).toMatchObject({
      kind: 'failed',
      failure: { code: 'rpc', message: expect.stringContaining('CompatibilityFallbackHandler') },
    });
  });

  itDeep('another contract at the address is reported', async () => {
    const key = await begunProposal();
    await rpc(url, 'anvil_setCode', [key.address, '0x6000']);
    expect(await chain.observeDeployment(key)).toMatchObject({
      kind: 'failed',
      failure: { code: 'stale', message: expect.stringContaining(key.address) },
    });
  });

  itDeep('an unavailable chain, or another one, is unreachable and named', async () => {
    const key = await begunProposal();
    const [port = 0] = await freePorts(1);
    expect(await chainWith({ rpcUrls: [`http://127.0.0.1:${port}`] }).observeDeployment(key)).toMatchObject({
      kind: 'unreachable',
      message: expect.stringContaining('Own Chain (41011)'),
    });
    const wrong = await begunProposal();
    await db('deployments').where({ proposal_id: wrong.proposalId }).update({ network_id: 5 });
    expect(await chainWith({ id: 5 }).observeDeployment({ ...wrong, networkId: 5 })).toMatchObject({
      kind: 'unreachable',
      message: expect.stringContaining(`serves chain ${CHAIN_ID}`),
    });
  });

  itDeep(
    'a chain that stops after signing is waited for, and the bytes are included later',
    async () => {
      const key = await begunProposal();
      const envelopeId = await signed(key);
      own.freeze();
      try {
        const waiting = await follow(envelopeId);
        expect(waiting).toMatchObject({ kind: 'waiting', message: expect.stringContaining('Own Chain') });
      } finally {
        own.thaw();
      }
      const again = await follow(envelopeId, 'reported');
      expect(again).toEqual({ kind: 'mined' });
    },
    40_000,
  );
});

test('the signer verifies a contract signature again, and counts it while it is valid', async () => {
  const wallet = deriveAccount(org.alice.wallet.address, newId('acc'));
  const safe = { address: wallet.address as Address, chainId: CHAIN_ID };
  await deployAsFunder(url, wallet);
  const { id, name, type } = org.carol;
  const carol = (walletAddress: string, walletKind: 'key' | 'contract') =>
    decideDirectly(db, keystore, org.id, [
      { type: 'member', id, after: { id, name, type, walletAddress, walletKind } },
    ]);
  await carol(wallet.address, 'contract');
  try {
    const key = await executing({ approvers: [org.bob] });
    const bytes = await signAsSafe(org.alice.wallet, safe, hashTypedPayload(key.payload));
    const signature = encodeSignature(safe.address, bytes);
    await db('votes').insert({
      approval_id: key.proposalId,
      member_id: org.carol.id,
      type: 'approve',
      signer_address: wallet.address,
      scheme: 'eip1271',
      signature,
      signature_hash: signatureHash(signature),
    });
    const client = createChainClients([network]).get(CHAIN_ID);
    if (!client) throw new Error('no client');
    const old = await rpc(url, 'evm_snapshot');
    await execAsOwner(client, org.alice.wallet, safe.address, {
      signature: 'swapOwner(address prev, address old, address new)',
      args: ['0x0000000000000000000000000000000000000001', org.alice.wallet.address, org.dave.wallet.address],
    });
    expect(await seal(key)).toMatchObject({ refused: { code: 'stale' } });
    await rpc(url, 'evm_revert', [old]);
    expect(await seal(key)).toEqual({ sealed: expect.any(Number) });
  } finally {
    await carol(org.carol.wallet.address, 'key');
  }
});

describe('the signer refuses to seal', () => {
  async function refusal(key: Key) {
    const result = await seal(key);
    expect(await db('seals').where({ proposal_id: key.proposalId })).toEqual([]);
    if (!('refused' in result)) throw new Error(`it sealed: ${JSON.stringify(result)}`);
    return result.refused;
  }

  test('below the threshold, and a signature that is counted twice is counted once', async () => {
    const one = await executing({ approvers: [org.alice] });
    expect(await refusal(one)).toMatchObject({ code: 'stale', message: expect.stringContaining('1 valid') });
    const vote = requireRow(await db('votes').where({ approval_id: one.proposalId }).first());
    await db('votes').insert({
      approval_id: one.proposalId,
      member_id: org.bob.id,
      type: 'approve',
      signer_address: org.bob.wallet.address,
      scheme: 'eoa',
      signature: vote.signature,
      signature_hash: vote.signature_hash,
    });
    expect(await refusal(one)).toMatchObject({ message: expect.stringContaining('1 valid') });
  });

  test('signatures of members who are not admins, whatever the tables say', async () => {
    const key = await executing({ approvers: [org.alice, org.dave] });
    await db('admin_set_members').insert({ organization_id: org.id, member_id: org.dave.id });
    try {
      expect(await refusal(key)).toMatchObject({ message: expect.stringContaining('1 valid') });
    } finally {
      await db('admin_set_members').where({ member_id: org.dave.id }).delete();
    }
  });

  test('what is below the sealed threshold, whatever the tables say', async () => {
    const key = await executing({ approvers: [org.alice] });
    await db('admin_sets').where({ organization_id: org.id }).update({ threshold: 1 });
    try {
      expect(await refusal(key)).toMatchObject({ message: expect.stringContaining('2 are required') });
    } finally {
      await db('admin_sets').where({ organization_id: org.id }).update({ threshold: 2 });
    }
  });

  test.each([
    ['summary', 'approvals', { summary: 'Create account "Other"' }],
    ['data', 'proposals', { data: JSON.stringify({ items: [] }) }],
    ['expiry', 'approvals', { expires_at: new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 7_200_000) }],
  ])('a changed %s', async (_, table, change) => {
    const key = await executing();
    await db(table).where({ id: key.proposalId }).update(change);
    expect(await refusal(key)).toMatchObject({ message: expect.stringContaining('0 valid') });
  });

  test('a network that is not configured', async () => {
    expect(await refusal(await executing({ networkIds: [1] }))).toMatchObject({ code: 'stale' });
  });

  test('after the expiry', async () => {
    expect(await refusal(await executing({ expiresInMs: -5_000 }))).toMatchObject({ code: 'timeout' });
  });

  test('and reports when the network of contract signers is unavailable', async () => {
    const key = await executing();
    const identify = async () => {
      throw new ChainUnavailable(network, 'timeout');
    };
    expect(await seal(key, { identifyVoter: identify })).toEqual({
      unreachable: expect.stringContaining('Own Chain (41011)'),
    });
  });
});

describe('the signer refuses', () => {
  async function refusal(key: Key, from: SignerActivities = signer, change: object = {}) {
    const offer = {
      gas: '500000',
      maxFeePerGas: String(2n * GWEI),
      maxPriorityFeePerGas: '1',
      relayerAddress: relayer,
      chainNonce: 0,
      head: '0',
    };
    const result = await from.signDeployment({ ...key, terms: { ...offer, ...change } });
    expect(await envelopes(key)).toHaveLength(0);
    if (!('refused' in result)) throw new Error(`it signed: ${JSON.stringify(result)}`);
    return result.refused;
  }

  test('an account that no decision is about, a deployment that is not pending, and another network', async () => {
    const key = await begunProposal();
    const unknown = newId('acc');
    expect(await refusal({ ...key, accountId: unknown })).toMatchObject({ code: 'stale' });
    await db('deployments').where({ proposal_id: key.proposalId }).update({ network_id: 5 });
    const elsewhere = signerWith({ networks: [network, { ...network, id: 5 }] });
    const { address: relayerAddress } = keystore.relayerKey(5, 0);
    expect(await refusal({ ...key, networkId: 5 }, elsewhere, { relayerAddress })).toMatchObject({
      message: expect.stringContaining('no sealed decision has account'),
    });
    expect(await refusal(key)).toMatchObject({ message: expect.stringContaining('is not deploying') });
  });

  test('gas and fees above their ceilings', async () => {
    const key = await begunProposal();
    expect(await refusal(key, signer, { gas: '5000001' })).toMatchObject({
      code: 'reverted',
      message: expect.stringContaining('MAX_GAS'),
    });
    const fee = String(network.maxFeePerGas + 1n);
    expect(await refusal(key, signer, { maxFeePerGas: fee })).toMatchObject({ code: 'feeCeiling' });
  });

  test('to start with a keystore of another database', async () => {
    const other = await makeKeystore(temporaryDir(), 'pass');
    await expect(registerRelayers(signerDeps({ keystore: other }))).rejects.toThrow(/not the one that owns/);
  });
});

describe('the database lets only the signer write what is signed', () => {
  const rows: Record<string, object> = {
    signing_keys: { organization_id: 'org_x', address: '0x' },
    relayers: { network_id: 1, index: 9, address: '0x' },
    chain_attempts: { kind: 'deployment' },
    chain_envelopes: { transaction_hash: '0x' },
  };

  test.each(Object.keys(rows))('%s', async (table) => {
    await expect(serviceDb(table).insert(rows[table])).rejects.toThrow(/permission denied/);
    await expect(serviceDb(table).delete()).rejects.toThrow(/permission denied/);
    await expect(signerDb(table).delete()).rejects.toThrow(/permission denied/);
    await expect(serviceDb.raw(`TRUNCATE ${table} CASCADE`)).rejects.toThrow(/permission denied/);
  });

  test('bytes and nonces never change', async () => {
    for (const pool of [serviceDb, signerDb]) {
      await expect(pool('chain_envelopes').update({ raw_transaction: '0x' })).rejects.toThrow(/permission/);
      await expect(pool('chain_envelopes').update({ relayer_nonce: 1 })).rejects.toThrow(/permission/);
      await expect(pool('chain_attempts').update({ data: '0x' })).rejects.toThrow(/permission/);
    }
  });

  test('the account on chain matches the database', async () => {
    const rows = await db('chain_envelopes')
      .join('chain_attempts', 'chain_attempts.id', 'chain_envelopes.attempt_id')
      .where('chain_envelopes.outcome', 'mined')
      .select<{ account_id: string }[]>('account_id');
    const client = createChainClients([network]).get(CHAIN_ID);
    for (const { account_id } of rows) {
      const account = deriveAccount(keystore.organizationKey(org.id).address, account_id);
      expect(client && (await inspectAccount(client.rpc, account))).toEqual({ kind: 'fits', secured: false });
    }
  });
});
