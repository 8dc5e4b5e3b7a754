import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { signedState } from '../../../src/approvals/sealedState';
import type { SigningKey } from '../../../src/chain/keys';
import type { Db } from '../../../src/db/database';
import type { StoredState } from '../../../src/db/seals';
import type { OrganizationState } from '../../../src/domain/governance';
import { createReadSealedState } from '../../../src/signer/sealedState';
import { sealedIn } from '../../../src/signer/store/nextSeal';

const ORG = 'org_1';
const OTHER = 'org_2';

/** A seal key of its own for each organization. */
function sealKey(organizationId: string): SigningKey {
  const account = privateKeyToAccount(`0x${organizationId.at(-1)}${'1'.repeat(63)}`);
  return { address: account.address, sign: ({ hash }) => account.sign({ hash }) } as SigningKey;
}

const hashOf = (organizationId: string, sequence: number): Hex =>
  `0x${organizationId.at(-1)}${String(sequence).padStart(63, '0')}`;

const stateOf = (id: string, sequence: number): Promise<StoredState> =>
  signedState(
    sealKey(id),
    { id, sequence, sealKey: sealKey(id).address } as unknown as OrganizationState,
    hashOf(id, sequence),
  );

/** The signer's reads, with a journal whose latest decisions the test sets. */
function reads() {
  const latest = new Map<string, number>();
  const journal = {
    latestSealed: (id: string) => {
      const sequence = latest.get(id);
      return sequence === undefined ? undefined : { sequence, hash: hashOf(id, sequence) };
    },
    append: () => Promise.resolve(),
  };
  const readSealedState = createReadSealedState({ keystore: { sealKey }, journal });
  // No seal is stored that the journal lacks.
  const none = { where: () => none, orderBy: () => Promise.resolve([]) };
  const db = (() => none) as unknown as Db;
  const read = (id: string, stored: () => Promise<StoredState | null>) =>
    readSealedState(db, id, { read: stored });
  /** What is kept, where it is the latest in the journal: nothing is read for it. */
  const kept = async (id: string) => {
    const { stored } = await readSealedState(db, id, {
      remembered: true,
      read: () => Promise.reject(new Error('it is not kept')),
    });
    return stored.sequence;
  };
  return { latest, read, kept, remember: readSealedState.remember };
}

/** An answer of the database that the test gives. */
function answer() {
  let give: (stored: StoredState) => void = () => undefined;
  const given = new Promise<StoredState>((resolve) => {
    give = resolve;
  });
  return { read: () => given, give };
}

describe('a state that was read before another decision was sealed', () => {
  it.each(['remembered', 'read'] as const)('does not take the place of the later one: %s', async (how) => {
    const { latest, read, kept, remember } = reads();
    const [first, second] = [await stateOf(ORG, 1), await stateOf(ORG, 2)];
    latest.set(ORG, 1);
    const slow = answer();
    const reading = read(ORG, slow.read);
    latest.set(ORG, 2);
    if (how === 'read') await read(ORG, () => Promise.resolve(second));
    else remember({ state: JSON.parse(second.state), stored: second });
    slow.give(first);
    expect((await reading).stored.sequence).toBe(1);
    expect(await kept(ORG)).toBe(2);
  });
});

describe('verified states', () => {
  it('a later read that gets an older state does not lock out the later state of a read that began earlier', async () => {
    const { latest, read, kept } = reads();
    const [first, second] = [await stateOf(ORG, 1), await stateOf(ORG, 2)];
    latest.set(ORG, 1);
    const slow = answer();
    const reading = read(ORG, slow.read);
    await read(ORG, () => Promise.resolve(first));
    latest.set(ORG, 2);
    slow.give(second);
    await reading;
    expect(await kept(ORG)).toBe(2);
  });

  it('a decision that is remembered late does not take the place of a later one', async () => {
    const { latest, kept, remember } = reads();
    const [first, second] = [await stateOf(ORG, 1), await stateOf(ORG, 2)];
    latest.set(ORG, 2);
    remember({ state: JSON.parse(second.state), stored: second });
    remember({ state: JSON.parse(first.state), stored: first });
    expect(await kept(ORG)).toBe(2);
  });

  it('reading one of 100 organizations again does not drop the others', async () => {
    const { latest, read, kept } = reads();
    const ids = Array.from({ length: 100 }, (_, i) => `org_${i}_${(i % 8) + 1}`);
    for (const id of ids) {
      const stored = await stateOf(id, 1);
      latest.set(id, 1);
      await read(id, () => Promise.resolve(stored));
    }
    const again = await stateOf(ids[5] as string, 1);
    await read(ids[5] as string, () => Promise.resolve(again));
    expect(await kept(ids[6] as string)).toBe(1);
  });

  it('the state of an organization is not taken for that of another one', async () => {
    const { latest, read } = reads();
    const own = await stateOf(ORG, 7);
    latest.set(ORG, 7);
    latest.set(OTHER, 3);
    await read(ORG, () => Promise.resolve(own));
    const columns = { ...own, organizationId: OTHER };
    const refusal = 'is not the one that was sealed';
    await expect(read(ORG, () => Promise.resolve(columns))).rejects.toThrow(refusal);
    await expect(read(OTHER, () => Promise.resolve(columns))).rejects.toThrow(refusal);
  });

  it('are of the organization that was asked for, whatever else the JSON of the database names', async () => {
    const own = await stateOf(ORG, 7);
    expect(sealedIn(ORG, { sealed: { ...own, organizationId: OTHER } as never })).toEqual(own);
  });
});
