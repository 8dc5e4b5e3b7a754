import { randomBytes } from 'node:crypto';
import { type Address, type Hex, parseAbi, type TypedDataDefinition } from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { createChainClient } from '../../src/chain/clients';
import { encodeSignature } from '../../src/chain/signatures';
import { hashTypedPayload } from '../../src/chain/typedData';
import type { NetworkConfig } from '../../src/config';
import { issueApiKey } from '../../src/credentials/apiKeys';
import { OPERATOR } from '../../src/domain/actor';
import { deployAsFunder, execAsOwner, newSafe, type SafeWallet, signAsSafe, wrapped } from '../chain/wallets';
import {
  insist,
  PROPOSE,
  proposalPath,
  read,
  refusal,
  refusalIn,
  type Shown,
  sharedApi,
} from '../support/api';
import type { TestService } from '../support/service';
import { endpointOf, rpc } from '../support/stack';

const INVALID = refusal(400, 'invalidSignature', 'signature');

let api: TestService;
let adminKey: string;
let there: SafeWallet;
let notYet: SafeWallet;
let bot: PrivateKeyAccount;
let memberIds: string[];
let network: NetworkConfig;

/** A Safe as a founder's wallet; `wrap`: it is not deployed yet (ERC-6492). */
const asWallet = (safe: SafeWallet, wrap = false) => ({
  address: safe.address,
  async signTypedData(typed: TypedDataDefinition) {
    const bytes = await innerSignature(safe, JSON.stringify(typed));
    return wrap ? wrapped(safe, bytes) : bytes;
  },
});

const newKey = () => privateKeyToAccount(generatePrivateKey());

beforeAll(async () => {
  api = await sharedApi();
  const signerNetwork = api.config.networks.find(({ id }) => id === api.config.signerNetworkId);
  if (!signerNetwork) throw new Error('there is no network for contract signers');
  network = signerNetwork;
  there = newSafe();
  notYet = newSafe();
  bot = newKey();
  await deployAsFunder(endpointOf(network), there.account);
  const wallets = [
    { name: 'Safe', type: 'user', wallet: asWallet(there), walletKind: 'contract', admin: true },
    {
      name: 'Future Safe',
      type: 'user',
      wallet: asWallet(notYet, true),
      walletKind: 'contract',
      admin: true,
    },
    { name: 'Bot', type: 'api', wallet: bot, admin: true },
  ] as const;
  const made = await api.found('Contracts', 2, wallets);
  ({ memberIds } = made);
  const issued = await api.db.transaction((tx) =>
    issueApiKey(tx, {
      organizationId: made.organizationId,
      memberIds: [memberIds[2] as string],
      actor: OPERATOR,
    }),
  );
  adminKey = issued.key;
});
afterAll(() => api?.stop());

async function proposal(): Promise<Shown> {
  const items = [{ name: `Account ${randomBytes(4).toString('hex')}`, networkIds: [31337] }];
  return (await insist(api.http, { key: adminKey, path: PROPOSE, body: { items } })).body.data;
}

/** The bytes with which a Safe signs a payload. */
function innerSignature(safe: SafeWallet, payload: string, owner = safe.owner): Promise<Hex> {
  return signAsSafe(owner, { address: safe.address, chainId: network.id }, hashTypedPayload(payload));
}

function vote(to: Shown, signer: Address, bytes: Hex, more: object = {}) {
  return api.http.send({
    key: adminKey,
    path: proposalPath(to.id, '/signatures'),
    body: { type: 'approve', signature: encodeSignature(signer, bytes), ...more },
  });
}

const approvers = (shown: Shown) => shown.approvals.map(({ id }: Shown) => id);

describe('an admin whose wallet is a contract', () => {
  it('votes and executes with a signature that the contract accepts (EIP-1271)', async () => {
    const to = await proposal();
    const payload = to.signingPayloads.approvePayload;
    const signed = await vote(to, there.address, await innerSignature(there, payload));
    expect(signed.status).toBe(200);
    expect(approvers(signed.body.data)).toEqual([memberIds[0]]);
    const bytes = await bot.signTypedData(JSON.parse(payload));
    const executed = await vote(to, bot.address, bytes, { execute: true });
    expect(executed.status).toBe(200);
    expect(['processing', 'completed']).toContain(executed.body.data.executionStatus);
  });

  it('votes before the contract is deployed (ERC-6492)', async () => {
    const to = await proposal();
    const payload = to.signingPayloads.approvePayload;
    const signed = await vote(to, notYet.address, wrapped(notYet, await innerSignature(notYet, payload)));
    expect(signed.status).toBe(200);
    expect(approvers(signed.body.data)).toEqual([memberIds[1]]);
    const votes = await api.db('votes').where({ approval_id: to.id });
    expect(votes).toMatchObject([{ scheme: 'erc6492', signer_address: notYet.address }]);
  });

  it('does not vote with a signature of its owner, of another contract, or over another payload', async () => {
    const [to, other] = [await proposal(), await proposal()];
    const payload = to.signingPayloads.approvePayload;
    const before = await read(api.http, adminKey, '/api/v1/audit-logs?limit=1');
    const attempts: [Address, Hex][] = [
      [there.address, await there.owner.signTypedData(JSON.parse(payload))],
      [there.address, await innerSignature(there, payload, newKey())],
      [there.address, await innerSignature(there, other.signingPayloads.approvePayload)],
      [there.address, await innerSignature(there, to.signingPayloads.rejectPayload)],
      [there.address, '0x'],
      [there.address, `0x${'00'.repeat(65)}`],
      [notYet.address, await innerSignature(notYet, payload)],
      [notYet.address, wrapped(notYet, await innerSignature(notYet, payload, newKey()))],
      [notYet.address, wrapped(there, await innerSignature(notYet, payload))],
      [bot.address, wrapped(notYet, await bot.signTypedData(JSON.parse(payload)))],
    ];
    for (const [signer, bytes] of attempts) {
      expect(refusalIn(await vote(to, signer, bytes), INVALID)).toEqual(INVALID);
    }
    expect(await read(api.http, adminKey, proposalPath(to.id))).toMatchObject({ approvals: [] });
    expect(await read(api.http, adminKey, '/api/v1/audit-logs?limit=1')).toEqual(before);
  });

  it('is not an admin only because its contract accepts the signature', async () => {
    const stranger = newSafe();
    await deployAsFunder(endpointOf(network), stranger.account);
    const to = await proposal();
    const bytes = await innerSignature(stranger, to.signingPayloads.approvePayload);
    const answer = await vote(to, stranger.address, bytes);
    // Whether it is a signature at all is not asked of a contract that is not an admin's.
    expect([400, 403]).toContain(answer.status);
    expect(await read(api.http, adminKey, proposalPath(to.id))).toMatchObject({ approvals: [] });
  });

  it('blocks the execution when its contract no longer accepts; it can be retried', async () => {
    const to = await proposal();
    const payload = to.signingPayloads.approvePayload;
    await vote(to, there.address, await innerSignature(there, payload));
    const ready = await vote(to, bot.address, await bot.signTypedData(JSON.parse(payload)));
    expect(ready.body.data.signatureStatus).toBe('approvalReady');
    const client = createChainClient(network);
    const heir = newKey();
    const sentinel = '0x0000000000000000000000000000000000000001';
    await execAsOwner(client, there.owner, there.address, {
      signature: 'swapOwner(address prevOwner, address oldOwner, address newOwner)',
      args: [sentinel, there.owner.address, heir.address],
    });
    const execution = { key: adminKey, path: proposalPath(to.id, '/execute'), body: { type: 'approve' } };
    const blocked = await api.http.send(execution);
    expect(blocked.status).toBe(200);
    expect(blocked.body.data).toMatchObject({ executionStatus: 'blocked', failure: { code: 'stale' } });
    expect(blocked.body.data.result).toBeUndefined();
    await execAsOwner(client, heir, there.address, {
      signature: 'swapOwner(address prevOwner, address oldOwner, address newOwner)',
      args: [sentinel, heir.address, there.owner.address],
    });
    const again = await api.http.send(execution);
    expect(again.status).toBe(200);
    expect(['processing', 'completed']).toContain(again.body.data.executionStatus);
  });

  it('can vote with the same wrapping after its contract is deployed', async () => {
    await deployAsFunder(endpointOf(network), notYet.account);
    const code = await createChainClient(network).rpc.readContract({
      address: notYet.address,
      abi: parseAbi(['function getOwners() view returns (address[])']),
      functionName: 'getOwners',
    });
    expect(code).toEqual([notYet.owner.address]);
    const to = await proposal();
    const inner = await innerSignature(notYet, to.signingPayloads.approvePayload);
    const signed = await vote(to, notYet.address, wrapped(notYet, inner));
    expect(signed.status).toBe(200);
    const votes = await api.db('votes').where({ approval_id: to.id });
    expect(votes).toMatchObject([{ scheme: 'eip1271' }]);
  });
});

describe('a proposal about the kind of a wallet', () => {
  const membersPath = '/api/v1/members/proposals';
  const ask = async (below: 'create' | 'update', item: object) =>
    (await insist(api.http, { key: adminKey, path: `${membersPath}/${below}`, body: { items: [item] } })).body
      .data;
  const notesOf = ({ notes }: Shown) => notes.map(({ code, message }: Shown) => [code, message]);

  it('shows the kind in what is signed, and notes what is at the address', async () => {
    const contract = newSafe();
    await deployAsFunder(endpointOf(network), contract.account);
    const asKey = await ask('create', { name: 'Kim', walletAddress: contract.address });
    expect(asKey).toMatchObject({
      summary: `Add member "Kim" (api, ${contract.address})`,
      data: { items: [{ name: 'Kim', walletAddress: contract.address, walletKind: 'key' }] },
    });
    expect(notesOf(asKey)).toEqual([['walletHasCode', expect.stringContaining(contract.address)]]);
    const { address } = newKey();
    const asContract = await ask('create', { name: 'Lee', walletAddress: address, walletKind: 'contract' });
    expect(asContract).toMatchObject({
      summary: `Add member "Lee" (api, contract wallet ${address})`,
      data: { items: [{ walletAddress: address, walletKind: 'contract' }] },
    });
    expect(notesOf(asContract)).toEqual([['walletHasNoCode', expect.stringContaining(address)]]);
    const fits = { name: 'Mia', walletAddress: newSafe().address };
    expect(notesOf(await ask('create', fits))).toEqual([]);
  });

  it('notes delegated code (EIP-7702) only where a contract is stated', async () => {
    const { address } = newKey();
    await rpc(endpointOf(network), 'anvil_setCode', [address, `0xef0100${there.address.slice(2)}`]);
    const proposed = await ask('create', { name: 'Ned', walletAddress: address, walletKind: 'contract' });
    expect(notesOf(proposed)).toEqual([['walletIsDelegated', expect.stringContaining('EIP-7702')]]);
    const other = newKey().address;
    await rpc(endpointOf(network), 'anvil_setCode', [other, `0xef0100${there.address.slice(2)}`]);
    expect(notesOf(await ask('create', { name: 'Oda', walletAddress: other }))).toEqual([]);
  });

  it('changes it for an admin, whose earlier votes then no longer count', async () => {
    const waiting = await proposal();
    const bytes = await innerSignature(there, waiting.signingPayloads.approvePayload);
    await vote(waiting, there.address, bytes);
    const id = memberIds[0] ?? '';
    const proposed = await ask('update', { id, walletKind: 'key' });
    expect(proposed).toMatchObject({
      summary: `Update member "Safe" (${id}, contract wallet ${there.address})\nChange the wallet kind to key`,
      data: { items: [{ id, name: 'Safe', walletAddress: there.address, walletKind: 'key' }] },
    });
    expect(notesOf(proposed)).toEqual([['walletHasCode', expect.any(String)]]);
    const approve = async (signer: Address, signature: Hex, more: object = {}) =>
      api.http.send({
        key: adminKey,
        path: proposalPath(proposed.id, '/signatures', 'members'),
        body: { type: 'approve', signature: encodeSignature(signer, signature), ...more },
      });
    const payload = proposed.signingPayloads.approvePayload;
    await approve(there.address, await innerSignature(there, payload));
    const done = await approve(bot.address, await bot.signTypedData(JSON.parse(payload)), { execute: true });
    expect(done.body.data).toMatchObject({ executionStatus: 'completed' });
    const shown = await read(api.http, adminKey, proposalPath(waiting.id));
    expect([shown.approvals, notesOf(shown)]).toEqual([
      [],
      [
        [
          'walletChanged',
          expect.stringContaining(`from contract wallet ${there.address} to ${there.address}`),
        ],
      ],
    ]);
    expect(refusalIn(await vote(waiting, there.address, bytes), INVALID)).toEqual(INVALID);
  });
});
