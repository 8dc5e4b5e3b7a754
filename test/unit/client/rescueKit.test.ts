import {
  builderChecksum,
  buildRescueKit,
  checkRescueKit,
  kitHash,
  MAX_TAKEN,
  rescueKit,
  rescueSafes,
  SAFE_CONTRACTS,
  type SealedHead,
  safeAddress,
  verifyRescueKit,
} from '@orgwallet/client/rescue';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { deriveAccount, SAFE_CONTRACTS as KNOWN_CONTRACTS } from '../../../src/chain/safeAccount';
import { signHead } from '../../../src/chain/signedSeals';
import { requireRow } from '../../../src/db/rows';
import { LOCAL_SAFE_CONTRACTS } from '../../../tools/dev/localContracts';
import { aHash, anAddress, anId } from '../../support/builders';

const key = (digit: number) => privateKeyToAccount(`0x${String(digit).repeat(64)}` as Hex);
const signingKey = key(1).address;
const sealKey = key(2);
const nameOf = (networkId: number) => `Network ${networkId}`;

/** A sealed state with so many accounts on the first network; every second one is on the second network too. */
function aState(accounts: number) {
  const members = [1, 2, 3].map((i) => {
    const id = anId('mem');
    return {
      id,
      name: `Admin ${i}`,
      type: 'user',
      walletAddress: anAddress(),
      walletKind: 'key',
      revision: 0,
    };
  });
  const made = Array.from({ length: accounts }, (_, i) => {
    const id = anId('acc');
    const networkIds = i % 2 === 0 ? [31_337] : [31_337, 31_338];
    return {
      id,
      name: `Account ${i}`,
      address: deriveAccount(signingKey, id).address,
      networkIds,
      revision: 1,
    };
  });
  const byId = <T extends { id: string }>(items: readonly T[]) =>
    Object.fromEntries(items.map((item) => [item.id, item]));
  return {
    ...{ id: anId('org'), name: 'Acme "Ltd"', sequence: 7, domainSalt: aHash(), signingKey },
    ...{ sealKey: sealKey.address, members: byId(members), groups: {}, policies: {}, accounts: byId(made) },
    admins: {
      id: anId('adm'),
      memberIds: members.map(({ id }) => id),
      threshold: 2,
      onChain: true,
      revision: 0,
    },
  };
}

/** A state as its seal key signs it. */
async function signedHead(of: { readonly id: string; readonly sequence: number }, sealHash = aHash()) {
  const head = { organizationId: of.id, sequence: of.sequence, sealHash, state: JSON.stringify(of) };
  const key = { address: sealKey.address, sign: (asked: { hash: Hex }) => sealKey.sign(asked) };
  return { state: head.state, sealHash, signature: await signHead(key as never, head) };
}

const kitOf = async (head: SealedHead) =>
  requireRow(await buildRescueKit(head, nameOf, new Date('2026-11-26T12:00:00.000Z')));
const aKit = async (accounts = 3) => kitOf(await signedHead(aState(accounts)));

const known = { signingKey, sealKey: sealKey.address };

/** Every value in a JSON value, by its path, with what it would be if it were another one. */
function* falsified(
  value: unknown,
  put: (other: unknown) => unknown,
  path = '',
): Generator<[string, unknown]> {
  if (typeof value === 'string')
    yield [path, put(value === '' ? 'x' : value.replace(/.$/, (last) => (last === '1' ? '2' : '1')))];
  else if (typeof value === 'number') yield [path, put(value + 1)];
  else if (value === null) yield [path, put('x')];
  else if (Array.isArray(value)) {
    yield [`${path}[]`, put(value.slice(1))];
    for (const [i, item] of value.entries())
      yield* falsified(item, (other) => put(value.with(i, other)), `${path}[${i}]`);
  } else {
    const fields = value as Record<string, unknown>;
    yield [`${path}.more`, put({ ...fields, more: 1 })];
    for (const name of Object.keys(fields)) {
      yield* falsified(fields[name], (other) => put({ ...fields, [name]: other }), `${path}.${name}`);
    }
  }
}

describe('addresses', () => {
  test('of accounts and Safes are those that the service derives, of the contracts that a local chain has', () => {
    for (let i = 0; i < 20; i += 1) {
      const [owner, id] = [anAddress(), anId('acc')];
      expect(safeAddress(owner, id)).toBe(deriveAccount(owner, id).address);
    }
    const [owner, id] = [anAddress(), anId('adm')];
    const keeper = deriveAccount(owner, id).address;
    expect(rescueSafes(owner, id)).toEqual({ keeper, adminsSafe: deriveAccount(keeper, id).address });
    const { factory, fallbackHandler, multiSendCallOnly } = SAFE_CONTRACTS;
    expect([factory, fallbackHandler]).toEqual([
      KNOWN_CONTRACTS.factory.address,
      KNOWN_CONTRACTS.fallbackHandler.address,
    ]);
    expect(LOCAL_SAFE_CONTRACTS.find(({ artifact }) => artifact.includes('MultiSendCallOnly'))?.address).toBe(
      multiSendCallOnly,
    );
  });
});

describe('a kit', () => {
  test('has every account of each network, what takes them over, and no secret', async () => {
    const kit = await aKit();
    expect(kit.networks.map(({ accounts }) => accounts.length)).toEqual([3, 1]);
    expect(await verifyRescueKit(JSON.parse(JSON.stringify(kit)), known)).toEqual(kit);
    expect(await checkRescueKit(kit)).toEqual(kit);
    expect(kitHash(JSON.parse(JSON.stringify(kit, null, 2)))).toBe(kitHash(kit));
  });

  test('has the same hash whenever it is saved, and another one after another decision', async () => {
    const kit = await aKit();
    const later = await buildRescueKit(kit.head, nameOf, new Date('2030-01-01T00:00:00Z'));
    expect(later?.createdAt).not.toBe(kit.createdAt);
    expect(later && kitHash(later)).toBe(kitHash(kit));
    const state = { ...JSON.parse(kit.head.state), sequence: kit.sequence + 1 };
    const next = await buildRescueKit({ ...kit.head, state: JSON.stringify(state) }, nameOf, new Date());
    expect(next && kitHash(next)).not.toBe(kitHash(kit));
  });

  test('is refused with any value of it falsified, and names the field', async () => {
    const kit = await aKit();
    let tried = 0;
    for (const [path, forged] of falsified(kit, (other) => other)) {
      tried += 1;
      const refusal = await verifyRescueKit(forged, known).then(
        () => `accepted with ${path} falsified`,
        (error) => error.code,
      );
      // The name of a network is a label, and the time is said by whoever writes it.
      const isLabel = /^\.networks\[\d\]\.name$/.test(path);
      expect([path, refusal]).toEqual([path, isLabel ? expect.anything() : 'payloadMismatch']);
    }
    expect(tried).toBeGreaterThan(100);
  });

  test('of other keys, of another organization, of an older state or without a network is refused', async () => {
    const kit = await aKit();
    const other = anAddress();
    await expect(verifyRescueKit(kit, { ...known, signingKey: other })).rejects.toThrow(/signingKey/);
    await expect(verifyRescueKit(kit, { ...known, sealKey: other })).rejects.toThrow(/sealKey/);
    await expect(verifyRescueKit(kit, { ...known, id: anId('org') })).rejects.toThrow(/state\.id/);
    await expect(verifyRescueKit(kit, { ...known, sequence: 8 })).rejects.toThrow(
      /sequence: 7 \(expected "8 or more"\)/,
    );
    const less = { ...kit, networks: kit.networks.slice(0, 1) };
    await expect(verifyRescueKit(less, known)).rejects.toThrow(/networks\[1\]/);
    for (const nothing of [{}, null, [], 'kit', { type: 'orgwallet-rescue-kit', version: 2 }]) {
      await expect(verifyRescueKit(nothing, known)).rejects.toMatchObject({ code: 'payloadMismatch' });
    }
  });

  test("is not written, nor accepted, where the admins' Safe is off", async () => {
    const kit = await aKit();
    const state = JSON.parse(kit.head.state);
    delete state.admins.onChain;
    const head = await signedHead(state);
    expect(await buildRescueKit(head, nameOf, new Date())).toBeUndefined();
    await expect(verifyRescueKit({ ...kit, head }, known)).rejects.toThrow(/head\.state\.admins\.onChain/);
  });

  test('that was read is refused where the API lies', async () => {
    const kit = await aKit();
    const read = (answer: unknown) => rescueKit({ getRescueKit: async () => answer as never }, known);
    expect(await read(kit)).toEqual(kit);
    await expect(read({ ...kit, adminsSafe: anAddress() })).rejects.toThrow(/adminsSafe/);
  });

  test('with an account whose address is not its own is refused, even where the seal key has signed it', async () => {
    const kit = await aKit();
    const state = JSON.parse(kit.head.state);
    Object.assign(Object.values(state.accounts)[0] as object, { address: anAddress() });
    const forged = await kitOf(await signedHead(state));
    await expect(verifyRescueKit(forged, known)).rejects.toThrow(/head\.state\.accounts\.acc_\w+\.address/);
  });

  test("with another set of admins than the founders' is refused: its Safes would be others", async () => {
    const kit = await aKit();
    const state = JSON.parse(kit.head.state);
    const founded = { ...known, admins: { id: state.admins.id } };
    expect(await verifyRescueKit(kit, founded)).toEqual(kit);
    // Whoever has the seal key: a Safe of his own, which the same admins own, and somebody else.
    const forged = await kitOf(await signedHead({ ...state, admins: { ...state.admins, id: anId('adm') } }));
    await expect(verifyRescueKit(forged, founded)).rejects.toThrow(/head\.state\.admins\.id/);
  });

  test('of many accounts takes them over in several transactions, the first of which drops the keeper', async () => {
    const kit = await aKit(2 * MAX_TAKEN + 1);
    const [network] = kit.networks;
    expect(network?.takeovers.map(({ accounts }) => accounts.length)).toEqual([MAX_TAKEN, MAX_TAKEN, 1]);
    expect(network?.transactionBuilder.map(({ transactions }) => transactions.length)).toEqual([
      1 + MAX_TAKEN,
      MAX_TAKEN,
      1,
    ]);
    for (const { gas } of network?.takeovers ?? []) expect(Number(gas)).toBeLessThan(2 ** 24);
  });
});

test("the checksum of a Transaction Builder file is the one that Safe's own application computes", () => {
  const file = {
    ...{ version: '1.0', chainId: '31337', createdAt: 1_700_000_000_000 },
    meta: {
      ...{ name: 'Take over "Acme"', description: 'äöü 李', txBuilderVersion: '1.18.0' },
      ...{ createdFromSafeAddress: `0x${'12'.repeat(20)}`, createdFromOwnerAddress: '' },
    },
    transactions: [
      ...[
        {
          to: `0x${'34'.repeat(20)}`,
          value: '0',
          data: '0xabcdef',
          contractMethod: null,
          contractInputsValues: null,
        },
      ],
    ],
  };
  expect(builderChecksum(file)).toBe('0x1d04115dcafe3b31b606f65e371c825ed1a14666f5f98dc03aefdc025ee0315c');
  const renamed = { ...file, meta: { ...file.meta, name: 'Another name' } };
  expect(builderChecksum(renamed)).toBe(builderChecksum(file));
  const changed = { ...file, chainId: '1' };
  expect(builderChecksum(changed)).not.toBe(builderChecksum(file));
});
