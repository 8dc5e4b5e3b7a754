/** @deep */
import { type Address, type Hex, parseAbi, parseEventLogs } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { deriveAdminsSafe } from '../../../src/chain/adminsSafe';
import { deriveAccount } from '../../../src/chain/safeAccount';
import { readSafe } from '../../../src/chain/safeState';
import { newId } from '../../../src/db/ids';
import { readOrganizationState } from '../../../src/db/seals';
import { type Owners, wantedOwners } from '../../../src/domain/adminsSafe';
import { adminsOf, type Edit } from '../../../src/domain/governance';
import { armFailpoint } from '../../../src/failpoints';
import type { SignerContext } from '../../../src/signer/signerContext';
import { keepAdminsSafes } from '../../../src/signer/upkeep/keep';
import { random } from '../../support/random';
import { makeOrganization, type TestOrganization } from '../../support/service';
import { rpc } from '../../support/stack';
import { DEEP } from '../../support/suite';
import { until } from '../../support/until';
import { TransactionWorld } from '../transactionWorld';
import { deployAsFunder } from '../wallets';

const ROUNDS = DEEP ? 28 : 2;
const ORGANIZATIONS = DEEP ? 6 : 3;
const MEMBERS = 12;
const MOST_ADMINS = 8;

const FAILPOINTS = [
  'signer.upkeepJournaled',
  'signer.upkeepReserved',
  'signer.upkeepSent',
  'signer.securingJournaled',
  'signer.envelopeStored',
];

/** An organization whose admins change, and every wallet that a decision has named as an admin's. */
interface Changing {
  readonly org: TestOrganization;
  readonly memberIds: readonly string[];
  readonly named: Set<string>;
}

const abi = parseAbi(['event AddedOwner(address indexed owner)']);

let world: TransactionWorld;
let context: SignerContext;
let stop: (() => Promise<void>) | undefined;

beforeAll(async () => {
  world = await TransactionWorld.start(41_313);
});
afterAll(async () => {
  jest.restoreAllMocks();
  armFailpoint(undefined);
  await stop?.();
  await world?.stop();
});

/** Contract wallets are the admins' own on this network. */
function keep(): void {
  const whole = world.signerContext({ signerNetworkId: world.network.id });
  // What is decided here has no seal: by its sequence, a state that was read before is as new.
  const read: typeof whole.readSealedState = Object.assign(
    (...[handle, id, { remembered: _, ...options } = {}]: Parameters<typeof whole.readSealedState>) =>
      whole.readSealedState(handle, id, options),
    { remember: whole.readSealedState.remember },
  );
  context = { ...whole, readSealedState: read };
  stop = keepAdminsSafes(context);
}

const chance = (percent: number) => random(100) < percent;
const pick = <T>(from: readonly T[]): T => from[random(from.length)] as T;

const shuffled = <T>(from: readonly T[]): T[] =>
  from
    .map((one) => [random(1_000_000), one] as const)
    .sort(([one], [other]) => one - other)
    .map(([, one]) => one);

const safesOf = (org: TestOrganization) =>
  deriveAdminsSafe({
    signingKey: world.keystore.organizationKey(org.id).address,
    admins: { id: org.adminsId },
  });

async function stateOf({ id }: TestOrganization) {
  const state = await readOrganizationState(world.db, id);
  if (!state) throw new Error(`no organization ${id}`);
  return state;
}

/** Makes an organization with twelve members, every third with a contract wallet, and an account that others have deployed. */
async function founded(): Promise<Changing> {
  const org = await makeOrganization(world.db, { keystore: world.keystore });
  const added = Array.from({ length: MEMBERS - org.all.length }, (_, i): Edit => {
    const walletKind = i % 3 === 2 ? ('contract' as const) : ('key' as const);
    const walletAddress = privateKeyToAccount(generatePrivateKey()).address;
    const id = newId('mem');
    return {
      type: 'member',
      id,
      after: { id, name: `Member ${i}`, type: 'user', walletAddress, walletKind },
    };
  });
  const id = newId('acc');
  const account = deriveAccount(world.keystore.organizationKey(org.id).address, id);
  await deployAsFunder(world.url, account);
  const after = { id, name: 'Treasury', address: account.address, networkIds: [world.network.id] };
  await org.decide([...added, { type: 'account', id, after }]);
  const memberIds = [...org.all.map((member) => member.id), ...added.map((edit) => edit.id)];
  return { org, memberIds, named: new Set() };
}

/** One decision about admins: another set and threshold, or another wallet of one of them. */
async function decide({ org, memberIds, named }: Changing): Promise<void> {
  const { members, admins } = await stateOf(org);
  const isOfWallet = admins.onChain && chance(25);
  if (isOfWallet) {
    const id = pick(admins.memberIds);
    const { revision: _, ...member } = members[id] as (typeof members)[string];
    const walletAddress = privateKeyToAccount(generatePrivateKey()).address;
    await org.decide([{ type: 'member', id, after: { ...member, walletAddress } }]);
  } else {
    // One of them has to be a bot.
    const others = memberIds.filter((id) => id !== org.bot.id);
    const chosen = [org.bot.id, ...shuffled(others).slice(0, random(MOST_ADMINS))];
    const after = {
      ...{ id: org.adminsId, memberIds: chosen.sort(), threshold: 1 + random(chosen.length) },
      onChain: true as const,
    };
    await org.decide([{ type: 'admin', id: org.adminsId, after }]);
  }
  for (const { walletAddress } of adminsOf(await stateOf(org)).members) named.add(walletAddress);
  await context.readSealedState(world.db, org.id);
  context.upkeep.wake(org.id);
}

async function wantedOf(org: TestOrganization): Promise<Owners> {
  const on = { id: world.network.id, signerNetworkId: world.network.id };
  const wanted = wantedOwners(adminsOf(await stateOf(org)), on);
  if (wanted.kind !== 'owners') throw new Error(wanted.reason);
  return wanted;
}

/** Waits until each admins' Safe is what was decided last. */
async function atRest(changing: readonly Changing[]): Promise<void> {
  for (const { org } of changing) {
    const { owners: wanted, threshold } = await wantedOf(org);
    const { safe, keeper } = safesOf(org);
    await until(
      `the admins' Safe of ${org.id} has ${wanted.length} owners, of which ${threshold} sign`,
      async () => {
        const found = await readSafe(world.client.rpc, safe.address);
        if (found.kind !== 'safe') return false;
        expect(found.state.modules.every((module) => module === keeper.address)).toBe(true);
        const isWanted = [...found.state.owners].sort().join() === [...wanted].sort().join();
        return isWanted && found.state.threshold === threshold;
      },
      120_000,
    );
  }
}

/** Nobody else than admins that a decision has named was ever written, but the keeper, which was there first. */
async function expectOnlyNamed(changing: readonly Changing[]): Promise<void> {
  for (const { org, named } of changing) {
    const { safe } = safesOf(org);
    const logs = await world.client.rpc.getLogs({ address: safe.address as Address, fromBlock: 0n });
    const added = parseEventLogs({ abi, logs }).map(({ args }) => args.owner);
    expect(added.filter((owner) => !named.has(owner))).toEqual([]);
  }
}

/** Ends the loop as a crash does, and begins it anew with the journal that is left. */
async function restart(): Promise<void> {
  armFailpoint(undefined);
  await stop?.();
  await world.restartSigner();
  keep();
}

/** The database loses every row of what was signed for admins' Safes. */
async function loseRows(): Promise<void> {
  await stop?.();
  const attempts = world.db('chain_attempts').where({ kind: 'upkeep' }).select('id');
  await world.db('chain_envelopes').whereIn('attempt_id', attempts).delete();
  await world.db('relayer_reservations').whereIn('attempt_id', attempts).delete();
  await world.db('chain_attempts').where({ kind: 'upkeep' }).delete();
  keep();
}

/** Decides of every organization, once to three times, and kills the signer meanwhile. Returns how often. */
async function decideAll(changing: readonly Changing[]): Promise<number> {
  const kills = chance(60);
  if (kills) armFailpoint(`${pick(FAILPOINTS)}#${1 + random(3)}`);
  let decisions = 0;
  for (const one of changing) {
    for (let times = 1 + random(3); times > 0; times -= 1) {
      await decide(one);
      decisions += 1;
    }
  }
  if (!kills) return decisions;
  await new Promise((resolve) => setTimeout(resolve, random(2_500)));
  await restart();
  return decisions;
}

async function expectAtRest(changing: readonly Changing[]): Promise<void> {
  await atRest(changing);
  await expectOnlyNamed(changing);
}

/** No nonce of a Safe ever gets a second content. */
function expectOneContent(contents: Map<string, string>): void {
  for (const { networkId, safe, safeNonce, safeTxHash } of world.journal.upkeep()) {
    const nonce = `${networkId}/${safe}/${safeNonce}`;
    expect(contents.get(nonce) ?? safeTxHash).toBe(safeTxHash);
    contents.set(nonce, safeTxHash);
  }
}

test('whatever is decided, killed, lost and undone: only admins are written, and at rest the last ones', async () => {
  // A failpoint kills the process: here it ends what was going on, and the next one begins with its journal.
  jest.spyOn(process, 'kill').mockImplementation(() => {
    throw new Error('killed');
  });
  const changing: Changing[] = [];
  for (let i = 0; i < ORGANIZATIONS; i += 1) changing.push(await founded());
  keep();
  let decisions = 0;
  const contents = new Map<string, string>();
  for (let round = 0; round < ROUNDS; round += 1) {
    const snapshot = await rpc<Hex>(world.url, 'evm_snapshot', []);
    decisions += await decideAll(changing);
    if (chance(20)) await loseRows();
    await expectAtRest(changing);
    if (chance(20)) {
      // The chain loses every block of this round.
      await rpc(world.url, 'evm_revert', [snapshot]);
      await restart();
      await expectAtRest(changing);
    }
    expectOneContent(contents);
  }
  // Two on average for each organization and round: 300 in the deep tests.
  expect(decisions).toBeGreaterThanOrEqual(ROUNDS * ORGANIZATIONS);
  if (DEEP)
    console.info(`${decisions} decisions of ${ORGANIZATIONS} organizations, ${contents.size} transactions`);
}, 900_000);
