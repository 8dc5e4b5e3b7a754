import { PayloadMismatch, spokenHash, verifyGenesis } from '@orgwallet/client';
import fc from 'fast-check';
import { genesisPayload } from '../../../src/chain/genesisPayload';
import { hashTypedPayload } from '../../../src/chain/typedData';
import { canonicalJson } from '../../../src/domain/canonicalJson';
import type { OrganizationState } from '../../../src/domain/governance';

const address = (index: number) => `0x${index.toString(16).padStart(40, '0')}`;

/** A state with so many admins and other members. */
function aState(admins: number, others = 1): OrganizationState {
  const ids = Array.from({ length: admins + others }, (_, i) => `mem_${String(i).padStart(26, '0')}`);
  const members = Object.fromEntries(
    ids.map((id, i) => [
      id,
      {
        ...{ id, name: `Member ${i}`, type: 'user', walletAddress: address(i + 1), revision: 0 },
        walletKind: i === 1 ? 'contract' : 'key',
      },
    ]),
  );
  return {
    ...{ id: `org_${'0'.repeat(26)}`, name: 'Acme', sequence: 0, domainSalt: `0x${'ab'.repeat(32)}` },
    ...{ signingKey: address(100), sealKey: address(101), members, groups: {}, policies: {}, accounts: {} },
    admins: { id: `adm_${'0'.repeat(26)}`, memberIds: ids.slice(0, admins), threshold: 2, revision: 0 },
  } as unknown as OrganizationState;
}

/** A payload with this text as its state. */
function typedWith(state: string): { message: object } {
  const typed = JSON.parse(genesisPayload(aState(2)));
  return { ...typed, message: { ...typed.message, state } };
}

const refusalOf = (payload: string, known: Parameters<typeof verifyGenesis>[1] = {}) => {
  try {
    verifyGenesis(payload, known);
  } catch (error) {
    if (error instanceof PayloadMismatch) return error.message;
    throw error;
  }
  return undefined;
};

test.each([[2], [3], [60]])('a genesis with %d admins is shown whole, with its hash', (count) => {
  const payload = genesisPayload(aState(count));
  const { digest, admins, state, description } = verifyGenesis(payload, {
    hash: hashTypedPayload(payload),
  });
  expect({ digest, threshold: state.admins.threshold, admins: admins.length }).toEqual({
    ...{ digest: hashTypedPayload(payload), threshold: 2, admins: count },
  });
  expect(state).toEqual(aState(count));
  for (const { walletAddress } of admins) expect(description).toContain(walletAddress);
  expect(spokenHash(digest).replaceAll(' ', '')).toBe(digest.slice(2));
});

test("a genesis with the admins' Safe says so in a line of its own, and in no other words", () => {
  const state = aState(3);
  const onChain = { ...state, admins: { ...state.admins, onChain: true as const } };
  const payload = genesisPayload(onChain);
  expect(verifyGenesis(payload).state).toEqual(onChain);
  const typed = JSON.parse(payload);
  const [first, safe, ...rest] = typed.message.summary;
  for (const lines of [[], ["Admins' Safe 0x12"], [safe.replace('2 of', '3 of')], [safe, safe]]) {
    const message = { ...typed.message, summary: [first, ...lines, ...rest] };
    expect(refusalOf(canonicalJson({ ...typed, message }))).toMatch(/^message.summary/);
  }
});

test('another hash, organization or wallet is refused', () => {
  const payload = genesisPayload(aState(2));
  expect(refusalOf(payload, { hash: `0x${'1'.repeat(64)}` })).toMatch(/digest/);
  expect(refusalOf(payload, { organization: `org_${'1'.repeat(26)}` })).toMatch(/message.organization/);
  // A member who is not an admin, and nobody at all.
  for (const wallet of [address(3), address(99)]) expect(refusalOf(payload, { wallet })).toContain(wallet);
  expect(refusalOf(payload, { wallet: address(2) })).toBeUndefined();
});

test('whatever is changed in it is refused, or changes the hash', () => {
  const payload = genesisPayload(aState(3));
  const hash = hashTypedPayload(payload);
  const parts = payload.match(/"[^"]*"|[0-9]+/g) ?? [];
  fc.assert(
    fc.property(fc.integer({ min: 0, max: parts.length - 1 }), (which) => {
      const part = parts[which] ?? '';
      const at = payload.indexOf(part);
      const other = part.startsWith('"') ? `"x${part.slice(1)}` : `${part}1`;
      const changed = `${payload.slice(0, at)}${other}${payload.slice(at + part.length)}`;
      expect(refusalOf(changed, { hash })).toBeDefined();
    }),
  );
});

test.each<[string, (typed: { message: Record<string, unknown>; domain: Record<string, unknown> }) => void]>([
  [
    'threshold in the summary',
    ({ message }) =>
      (message.summary = [
        'Found "Acme": 1 of 3 admins decide, other members: 1',
        ...(message.summary as string[]).slice(1),
      ]),
  ],
  [
    'wallet in the summary',
    ({ message }) =>
      (message.summary = (message.summary as string[]).map((line) => line.replace(address(1), address(9)))),
  ],
  [
    'admin that is left out of the summary',
    ({ message }) => (message.summary = (message.summary as string[]).slice(0, -1)),
  ],
  ['organization', ({ message }) => (message.organization = `org_${'1'.repeat(26)}`)],
  ['seal key', ({ message }) => (message.sealKey = address(7))],
  ['salt', ({ domain }) => (domain.salt = `0x${'cd'.repeat(32)}`)],
  ['field beside the others', ({ message }) => (message.note = 'x')],
])('a %s that the state does not have is refused, without any hash', (_, change) => {
  const typed = JSON.parse(genesisPayload(aState(3)));
  change(typed);
  expect(refusalOf(canonicalJson(typed))).toBeDefined();
});

/** A genesis whose state is changed, and whose fields say the same as that. */
function withState(change: (state: { [field: string]: unknown }) => void): string {
  const state = aState(3) as unknown as { [field: string]: unknown };
  change(state);
  return genesisPayload(state as unknown as OrganizationState);
}

type Members = { readonly [id: string]: { walletAddress: string; name: string } };
const memberAt = ({ members }: { [field: string]: unknown }, place: number) =>
  Object.values(members as Members)[place] ?? { walletAddress: '', name: '' };
const first = { id: 'x_1', name: 'x', revision: 0 };

test.each<[string, (state: { [field: string]: unknown }) => void, RegExp]>([
  ['a group', (state) => (state.groups = { grp_1: first }), /^message.state.groups.grp_1: /],
  ['a policy', (state) => (state.policies = { pol_1: first }), /^message.state.policies.pol_1: /],
  ['an account', (state) => (state.accounts = { acc_1: first }), /^message.state.accounts.acc_1: /],
  ['a field that no state has', (state) => (state.owner = 'x'), /^message.state.owner: /],
  ['decisions behind it', (state) => (state.sequence = 1), /^message.state.sequence: 1 \(expected 0\)$/],
  [
    'a member with a field that none has',
    ({ members }) => Object.assign(Object.values(members as object)[0], { note: 'x' }),
    /^message.state.members.mem_0+.note: /,
  ],
  [
    'a wallet of a kind that there is not',
    ({ members }) => Object.assign(Object.values(members as object)[2], { walletKind: 'multisig' }),
    /^message.state.members.mem_0+2.walletKind: "multisig" \(expected "key or contract"\)$/,
  ],
  [
    'an admin twice',
    ({ admins }) => {
      const { memberIds } = admins as { memberIds: string[] };
      memberIds[1] = memberIds[0] ?? '';
    },
    /^message.state.admins.memberIds\[1\]: /,
  ],
  [
    'a wallet of two members',
    (state) => (memberAt(state, 3).walletAddress = memberAt(state, 0).walletAddress),
    /^message.state.members.mem_0+3.walletAddress: /,
  ],
  [
    'a name of two members, as people read it',
    (state) => (memberAt(state, 3).name = '\uff2dember\u00ad 0'),
    /^message.state.members.mem_0+3.name: /,
  ],
  ...[0, -1, 4].map((threshold): [string, (state: { [field: string]: unknown }) => void, RegExp] => [
    `a threshold of ${threshold} that 3 admins cannot have`,
    ({ admins }) => ((admins as { threshold: number }).threshold = threshold),
    /^message.state.admins.threshold: .*expected "from 1 to 3"/,
  ]),
])('a state with %s is refused at its field, also where everything else agrees', (_, change, refusal) => {
  expect(refusalOf(withState(change))).toMatch(refusal);
});

const odd: unknown[] = [undefined, null, 0, -1, '', 'x', true, [], {}, [null], { x: 1 }];

/** Every place in a value, by its path. */
function* placesIn(value: unknown, path: readonly string[] = []): Generator<readonly string[]> {
  if (path.length > 0) yield path;
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) yield* placesIn(inner, [...path, key]);
}

/** Puts something else in a place of a value, or leaves it out. */
function put(value: unknown, path: readonly string[], other: unknown): void {
  const [key = '', ...below] = path;
  const holder = value as { [key: string]: unknown };
  if (below.length > 0) put(holder[key], below, other);
  else if (other === undefined && Array.isArray(holder)) holder.splice(Number(key), 1);
  else if (other === undefined) delete holder[key];
  else holder[key] = other;
}

test.each([
  ['payload', () => JSON.parse(genesisPayload(aState(2))), (typed: object) => typed],
  ['state', () => aState(2), (state: object) => typedWith(canonicalJson(state as never))],
])('a %s with anything else in any place is refused, and never breaks the reader', (_, make, typedOf) => {
  const hash = hashTypedPayload(genesisPayload(aState(2)));
  const accepted = [...placesIn(make())].filter((place) =>
    odd.some((other) => {
      const changed = make();
      put(changed, place, other);
      if (canonicalJson(changed) === canonicalJson(make())) return false;
      return refusalOf(canonicalJson(typedOf(changed) as never), { hash }) === undefined;
    }),
  );
  expect(accepted).toEqual([]);
});

test('of many admins the last line of the summary says how many it shows, and nothing else', () => {
  const payload = genesisPayload(aState(60));
  const { message } = JSON.parse(payload);
  const last = message.summary.at(-1);
  expect(last).toMatch(/^\d+ of 60 shown: state has all$/);
  for (const other of ['Ann decides alone. 1 of 60 shown: state has all', last.replace(/^\d+/, '3')]) {
    const typed = JSON.parse(payload);
    typed.message.summary[typed.message.summary.length - 1] = other;
    expect(refusalOf(canonicalJson(typed))).toMatch(/^message.summary\[\d+\]: /);
  }
});

test.each(['', '{', 'null', '[]', '"x"', '{}'])('the text %j is refused', (text) => {
  expect(refusalOf(text)).toBeDefined();
});
