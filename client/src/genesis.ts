import type { Hex } from 'viem';
import { canonicalJson } from './canonicalJson.ts';
import { linesOf } from './describe.ts';
import { PayloadMismatch } from './errors.ts';
import {
  anyAddress,
  anyId,
  anyInteger,
  anyText,
  isSameAddress,
  Matcher,
  match,
  objectIn,
} from './expectation.ts';
import { listOf, member, object, optional } from './operationShape.ts';
import { fieldsOf, formOf, type Hashes, hashesOf, type TypedData } from './payload.ts';
import { adminsSafeLine, nameInSummary } from './summary.ts';

/** A member of an organization that is founded. */
export interface Founder {
  readonly id: string;
  readonly name: string;
  readonly type: 'user' | 'api';
  readonly walletAddress: string;
  readonly walletKind: 'key' | 'contract';
}

/** The state that an organization begins with: members and admins, and nothing else. */
export interface FoundingState {
  readonly id: string;
  readonly name: string;
  readonly domainSalt: string;
  readonly signingKey: string;
  readonly sealKey: string;
  readonly members: { readonly [id: string]: Founder };
  readonly admins: {
    readonly id: string;
    readonly memberIds: readonly string[];
    readonly threshold: number;
    readonly onChain?: true;
  };
}

/** What the founders sign. */
export interface GenesisMessage {
  readonly organization: string;
  readonly summary: readonly string[];
  readonly signingKey: string;
  readonly sealKey: string;
  /** The state as canonical JSON. */
  readonly state: string;
}

/** What is known of a genesis. What is given is compared. */
export interface KnownGenesis {
  /** The digest that the others have, compared by another channel. */
  readonly hash?: string | undefined;
  readonly organization?: string | undefined;
  /** Of the one who signs: it is that of an admin. */
  readonly wallet?: string | undefined;
}

/** A genesis that says one thing only. */
export interface VerifiedGenesis extends Hashes {
  readonly typedData: TypedData<GenesisMessage>;
  readonly state: FoundingState;
  /** The members who decide: each of them signs. */
  readonly admins: readonly Founder[];
  /** What it founds, made from the bytes alone, line by line. */
  readonly description: string;
}

const revision = 0;

/** The form of a state: what is not in it, such as a policy, nobody founds an organization with. */
const STATE = {
  id: anyId('org'),
  name: anyText,
  sequence: 0,
  domainSalt: formOf({ type: 'bytes32' }),
  signingKey: anyAddress,
  sealKey: anyAddress,
  members: object((got) =>
    Object.fromEntries(Object.keys(got).map((id) => [id, { ...member, id, revision }])),
  ),
  groups: {},
  policies: {},
  accounts: {},
  admins: {
    ...{ id: anyId('adm'), memberIds: listOf(anyId('mem')), threshold: anyInteger, revision },
    onChain: optional(true),
  },
};

/** The form of the payload. Source: docs/signatures.md. */
const PAYLOAD = {
  primaryType: 'FoundOrganization',
  types: {
    EIP712Domain: fieldsOf('string name,string version,bytes32 salt'),
    FoundOrganization: fieldsOf(
      'string organization,string[] summary,address signingKey,address sealKey,string state',
    ),
  },
  domain: { name: 'orgwallet', version: '1', salt: anyText },
  message: {
    organization: anyText,
    summary: formOf({ type: 'string[]' }),
    signingKey: anyText,
    sealKey: anyText,
    state: anyText,
  },
};

/** A name as its readers see it, whatever its case, its compatibility forms, its spaces and what in it is not seen. */
function foldedName(name: string): string {
  const seen = name.normalize('NFKC').replace(/\p{Default_Ignorable_Code_Point}/gu, '');
  const folded = seen.toLowerCase().toUpperCase().toLowerCase().normalize('NFKC');
  return folded.replace(/\s+/gu, ' ').trim();
}

/** Nobody is there twice: one wallet would be two of the threshold, and one name would stand for two. */
function checkMembers({ members }: FoundingState): void {
  const wallets = new Set<string>();
  const names = new Set<string>();
  for (const { id, name, walletAddress } of Object.values(members)) {
    const [wallet, folded] = [walletAddress.toLowerCase(), foldedName(name)];
    if (wallets.has(wallet)) {
      throw new PayloadMismatch(`message.state.members.${id}.walletAddress`, 'of one member', walletAddress);
    }
    if (names.has(folded))
      throw new PayloadMismatch(`message.state.members.${id}.name`, 'of one member', name);
    wallets.add(wallet);
    names.add(folded);
  }
}

function adminsOf({ members, admins }: FoundingState): Founder[] {
  const { length } = admins.memberIds;
  const reachable = new Matcher(`from 1 to ${length}`, (got) => Number(got) >= 1 && Number(got) <= length);
  match('message.state.admins.threshold', reachable, admins.threshold);
  return admins.memberIds.map((id, i) => {
    const member = members[id];
    // One person twice would be two of the threshold.
    if (member && admins.memberIds.indexOf(id) === i) return member;
    throw new PayloadMismatch(`message.state.admins.memberIds[${i}]`, 'a member, once', id);
  });
}

/** The summary is what a wallet shows first: it names what the state has. */
function checkSummary(lines: readonly string[], state: FoundingState, admins: readonly Founder[]): void {
  const others = Object.keys(state.members).length - admins.length;
  const decides = `: ${state.admins.threshold} of ${admins.length} admins decide, other members: ${others}`;
  match('message.summary[0]', `Found ${nameInSummary(state.name)}${decides}`, lines[0]);
  if (state.admins.onChain) match('message.summary[1]', adminsSafeLine(state.admins.threshold), lines[1]);
  const always = state.admins.onChain ? 2 : 1;
  const rest = lines.slice(always);
  const isWhole = !rest.at(-1)?.endsWith(' shown: state has all');
  const shown = isWhole ? rest : rest.slice(0, -1);
  if (isWhole) match('message.summary.length', admins.length + always, lines.length);
  else {
    const left = `${shown.length} of ${admins.length} shown: state has all`;
    match(`message.summary[${lines.length - 1}]`, left, lines.at(-1));
  }
  for (const [i, line] of shown.entries()) {
    const admin = admins[i];
    const wallet =
      admin && `${admin.walletKind === 'contract' ? 'contract wallet ' : ''}${admin.walletAddress}`;
    match(`message.summary[${i + always}]`, admin && `Admin ${nameInSummary(admin.name)} (${wallet})`, line);
  }
}

function checkKnown(
  known: KnownGenesis,
  { digest }: Hashes,
  state: FoundingState,
  admins: readonly Founder[],
): void {
  if (known.organization !== undefined) match('message.organization', known.organization, state.id);
  if (known.hash !== undefined) match('digest', known.hash.toLowerCase(), digest);
  const { wallet } = known;
  if (wallet === undefined || admins.some(({ walletAddress }) => isSameAddress(walletAddress, wallet)))
    return;
  const all = admins.map(({ name, walletAddress }) => `${name} (${walletAddress})`).join(', ');
  throw new PayloadMismatch('message.state', `an admin with the wallet ${wallet}`, all);
}

/**
 * Shows the genesis of an organization from its bytes alone, before a founder signs it: the text of typed data, whose summary and
 * fields say what the state has. Throws PayloadMismatch with the field, what was expected and what is there; for a hash, an
 * organization or a wallet that is given, where it has another.
 *
 * @example
 * const { description, digest } = verifyGenesis(payload, { wallet: '0x…', hash: '0x…' });
 */
export function verifyGenesis(payload: string, known: KnownGenesis = {}): VerifiedGenesis {
  const typedData = objectIn<TypedData<GenesisMessage>>('payload', payload);
  match('', PAYLOAD, typedData);
  match('payload', canonicalJson(typedData), payload);
  const { message, domain } = typedData;
  const state = objectIn<FoundingState>('message.state', message.state);
  match('message.state', STATE, state);
  match('message.state', canonicalJson(state), message.state);
  const { id, name, signingKey, sealKey, domainSalt } = state;
  match('domain.salt', domainSalt, domain.salt);
  match('message', { ...message, organization: id, signingKey, sealKey }, message);
  checkMembers(state);
  const admins = adminsOf(state);
  checkSummary(message.summary, state, admins);
  const hashes = hashesOf({ typedData });
  checkKnown(known, hashes, state, admins);
  return {
    ...hashes,
    typedData,
    state,
    admins,
    description: [
      `Found the organization "${id}"`,
      ...linesOf({ name, threshold: state.admins.threshold, admins }, ''),
      ...linesOf(state, 'state'),
    ].join('\n'),
  };
}

/** The digest in hex, in groups of eight: to be read to each other. */
export function spokenHash(digest: Hex): string {
  return (digest.slice(2).match(/.{1,8}/g) ?? []).join(' ');
}
