import { type Address, type Hex, keccak256, recoverAddress, sha256, stringToHex } from 'viem';
import type { Api } from './api.ts';
import { canonicalJson } from './canonicalJson.ts';
import type { CallOptions } from './endpoints.ts';
import { PayloadMismatch } from './errors.ts';
import { anyInteger, anyText, isSameAddress, Matcher, match, objectIn } from './expectation.ts';
import { formOf } from './payload.ts';
import { rescueSafes, safeAddress } from './safes.ts';
import { inTakeovers, SENTINEL, takeoverCalls, takeoverGas, together } from './takeover.ts';
import { type TransactionBuilderFile, transactionBuilderFile } from './transactionBuilder.ts';

const TYPE = 'orgwallet-rescue-kit';

/** The state of an organization as its seal key has signed it. */
export interface SealedHead {
  /** JSON of what the admins have decided. */
  readonly state: string;
  /** keccak256 of the latest seal. */
  readonly sealHash: string;
  /** Of the seal key, over state, sequence and `sealHash`. */
  readonly signature: string;
}

/** What a kit needs of that state. */
interface State {
  readonly id: string;
  readonly name: string;
  readonly sequence: number;
  readonly signingKey: Address;
  readonly sealKey: Address;
  readonly members: {
    readonly [id: string]: {
      readonly name: string;
      readonly walletAddress: string;
      readonly walletKind: 'key' | 'contract';
    };
  };
  readonly accounts: {
    readonly [id: string]: {
      readonly id: string;
      readonly name: string;
      readonly address: Address;
      readonly networkIds: readonly number[];
    };
  };
  readonly admins: {
    readonly id: string;
    readonly memberIds: readonly string[];
    readonly threshold: number;
    readonly onChain?: boolean;
  };
}

/** One transaction of the admins' Safe that takes accounts over. */
export interface Takeover {
  readonly accounts: readonly Address[];
  readonly to: Address;
  readonly value: '0';
  readonly data: Hex;
  readonly operation: 1;
  readonly safeTxGas: '0';
  /** Gas to send it with: more than it uses. */
  readonly gas: string;
}

/** A network of a kit. */
export interface KitNetwork {
  readonly networkId: number;
  readonly name: string;
  readonly accounts: readonly { readonly id: string; readonly name: string; readonly address: Address }[];
  /** What takes them over, in this order: one transaction, or more where there are many accounts. */
  readonly takeovers: readonly Takeover[];
  /** The same as files for Safe's Transaction Builder. */
  readonly transactionBuilder: readonly TransactionBuilderFile[];
}

/** What the admins need to get at the accounts without the service. It has no secret. */
export interface RescueKit {
  readonly type: typeof TYPE;
  readonly version: 1;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly organization: { readonly id: string; readonly name: string };
  /** The number of decisions of which it is. */
  readonly sequence: number;
  readonly signingKey: Address;
  readonly sealKey: Address;
  readonly keeper: Address;
  readonly adminsSafe: Address;
  readonly admins: {
    readonly threshold: number;
    readonly members: readonly {
      readonly id: string;
      readonly name: string;
      readonly walletAddress: string;
      readonly walletKind: 'key' | 'contract';
    }[];
  };
  readonly networks: readonly KitNetwork[];
  readonly head: SealedHead;
}

/** What is known of an organization otherwise, such as the state of its genesis. What is given is compared. */
export interface KnownOrganization {
  readonly id?: string;
  readonly signingKey: string;
  readonly sealKey: string;
  /** The set of its admins, for ever: the addresses of both Safes derive from it. */
  readonly admins?: { readonly id: string };
  /** The decisions that it has had at least: an older kit may lack accounts. */
  readonly sequence?: number;
}

const validTime = new Matcher('a time (ISO 8601)', (got) => !Number.isNaN(Date.parse(String(got))));
const networkList = new Matcher(
  'a list of networks',
  (got) =>
    Array.isArray(got) && got.every((one) => anyInteger.fits(one?.networkId) && anyText.fits(one?.name)),
);

/** Lets others run: a kit of many accounts takes a while. */
const pause = () => new Promise((resolve) => setTimeout(resolve, 0));

async function networkOf(
  state: State,
  { networkId, name }: { readonly networkId: number; readonly name: string },
  createdAt: Date,
): Promise<KitNetwork> {
  const { signingKey, admins } = state;
  const { keeper, adminsSafe } = rescueSafes(signingKey, admins.id);
  const accounts = Object.values(state.accounts)
    .filter(({ networkIds }) => networkIds.includes(networkId))
    .sort((one, other) => (one.id < other.id ? -1 : 1));
  const groups = inTakeovers(accounts.map(({ address }) => address));
  const takeovers: Takeover[] = [];
  const transactionBuilder: TransactionBuilderFile[] = [];
  for (const [i, taken] of groups.entries()) {
    await pause();
    const owned = taken.map((address) => ({ address, owner: signingKey }));
    const dropped = i === 0 ? { address: keeper, before: SENTINEL } : undefined;
    const calls = takeoverCalls(adminsSafe, owned, dropped);
    const { to, data } = together(calls);
    const gas = String(takeoverGas(taken.length, admins.memberIds.length));
    takeovers.push({ accounts: taken, to, value: '0', data, operation: 1, safeTxGas: '0', gas });
    await pause();
    const part = groups.length > 1 ? ` (${i + 1} of ${groups.length})` : '';
    transactionBuilder.push(
      transactionBuilderFile(calls, {
        networkId,
        safe: adminsSafe,
        name: `Take over ${state.name}${part}`,
        description: "Makes the admins' Safe the owner of every account.",
        createdAt,
      }),
    );
  }
  return {
    networkId,
    name,
    accounts: accounts.map(({ id, name: called, address }) => ({ id, name: called, address })),
    takeovers,
    transactionBuilder,
  };
}

/**
 * Writes the kit of an organization from its sealed state: every network where it has an account, with the name of that.
 * Undefined where the admins' Safe is off.
 */
export async function buildRescueKit(
  head: SealedHead,
  nameOf: (networkId: number) => string,
  createdAt: Date,
): Promise<RescueKit | undefined> {
  const state: State = JSON.parse(head.state);
  return state.admins.onChain ? kitOf(head, state, nameOf, createdAt) : undefined;
}

async function kitOf(
  head: SealedHead,
  state: State,
  nameOf: (networkId: number) => string,
  createdAt: Date,
): Promise<RescueKit> {
  const networkIds = new Set(Object.values(state.accounts).flatMap((account) => account.networkIds));
  const networks: KitNetwork[] = [];
  for (const networkId of [...networkIds].sort((one, other) => one - other)) {
    networks.push(await networkOf(state, { networkId, name: nameOf(networkId) }, createdAt));
  }
  const { id, name, sequence, signingKey, sealKey, admins } = state;
  return {
    type: TYPE,
    version: 1,
    createdAt: createdAt.toISOString(),
    organization: { id, name },
    sequence,
    signingKey,
    sealKey,
    ...rescueSafes(signingKey, admins.id),
    admins: {
      threshold: admins.threshold,
      members: admins.memberIds.flatMap((memberId) => {
        const member = state.members[memberId];
        if (!member) return [];
        const { name: called, walletAddress, walletKind } = member;
        return [{ id: memberId, name: called, walletAddress, walletKind }];
      }),
    },
    networks,
    head: { state: head.state, sealHash: head.sealHash, signature: head.signature },
  };
}

/** What the seal key signs of a state. */
function headHash({ id, sequence }: State, { state, sealHash }: SealedHead): Hex {
  const stateHash = sha256(stringToHex(state)).slice(2);
  const head = canonicalJson({ type: 'head', organizationId: id, sequence, sealHash, stateHash });
  return keccak256(stringToHex(head));
}

async function checkSignature(state: State, head: SealedHead, sealKey: string): Promise<void> {
  const hash = headHash(state, head);
  const signedBy = await recoverAddress({ hash, signature: head.signature as Hex }).catch(() => undefined);
  if (isSameAddress(signedBy, sealKey)) return;
  throw new PayloadMismatch('head.signature', `the signature of ${sealKey}`, head.signature);
}

/** What a kit says with a state that its seal key has signed: everything else of it is made again from that. */
async function checkContent(kit: RescueKit, state: State): Promise<void> {
  for (const [id, { address }] of Object.entries(state.accounts)) {
    match(`head.state.accounts.${id}.address`, safeAddress(state.signingKey, id), address);
  }
  const nameOf = (id: number) => kit.networks.find(({ networkId }) => networkId === id)?.name ?? '';
  match('', await kitOf(kit.head, state, nameOf, new Date(kit.createdAt)), kit);
}

/**
 * Checks a kit: every address is derived again from the signing key, every call is made again, and the state of which it is has
 * been signed by the seal key. Both keys are known from the genesis (`verifyGenesis(…).state`). Throws PayloadMismatch with the
 * field that differs.
 */
export async function verifyRescueKit(kit: unknown, known: KnownOrganization): Promise<RescueKit> {
  const { type, version, createdAt, networks, head } = (kit ?? {}) as RescueKit;
  match('type', TYPE, type);
  match('version', 1, version);
  match('createdAt', validTime, createdAt);
  match('networks', networkList, networks);
  match('head', { state: anyText, sealHash: formOf({ type: 'bytes32' }), signature: anyText }, head);
  const state = objectIn<State>('head.state', head.state);
  if (known.id !== undefined) match('head.state.id', known.id, state.id);
  match('head.state.signingKey', known.signingKey, state.signingKey);
  match('head.state.sealKey', known.sealKey, state.sealKey);
  if (known.admins !== undefined) match('head.state.admins.id', known.admins.id, state.admins.id);
  await checkSignature(state, head, known.sealKey);
  match('head.state.admins.onChain', true, state.admins.onChain);
  if (known.sequence !== undefined && state.sequence < known.sequence) {
    throw new PayloadMismatch('sequence', `${known.sequence} or more`, state.sequence);
  }
  await checkContent(kit as RescueKit, state);
  return kit as RescueKit;
}

/**
 * Reads the kit of the organization, and believes nothing of it: see `verifyRescueKit`. Throws PayloadMismatch.
 *
 * @example
 * const kit = await rescueKit(orgwallet, verifyGenesis(payload, { hash }).state);
 */
export async function rescueKit(
  orgwallet: Pick<Api, 'getRescueKit'>,
  known: KnownOrganization,
  options?: CallOptions,
): Promise<RescueKit> {
  return verifyRescueKit(await orgwallet.getRescueKit(undefined, options), known);
}

/**
 * Checks a kit by its own keys alone: it is whole, and its calls are of its accounts. Whose it is, its addresses say, and the
 * chain. Throws PayloadMismatch.
 */
export function checkRescueKit(kit: unknown): Promise<RescueKit> {
  const { signingKey, sealKey } = (kit ?? {}) as RescueKit;
  return verifyRescueKit(kit, { signingKey, sealKey });
}

/**
 * The hash of a kit, by which admins compare that they have the same one. Kits of the same decisions have the same hash, whenever each
 * was saved: the time, which the files for the Transaction Builder have too, is left out. These say what `takeovers` says.
 */
export function kitHash({ createdAt: _, networks, ...kit }: RescueKit): Hex {
  const timeless = networks.map(({ transactionBuilder: _files, ...network }) => network);
  return keccak256(stringToHex(canonicalJson({ ...kit, networks: timeless })));
}
