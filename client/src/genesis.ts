import type { Hex } from 'viem';
import { canonicalJson } from './canonicalJson.ts';
import { linesOf } from './describe.ts';
import { PayloadMismatch } from './errors.ts';
import { isSameAddress, match } from './expectation.ts';
import { type Hashes, hashesOf, type TypedData } from './payload.ts';
import { nameInSummary } from './summary.ts';

/** A member of an organization that is founded. */
export interface Founder {
  readonly id: string;
  readonly name: string;
  readonly walletAddress: string;
  readonly walletKind: 'key' | 'contract';
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
  readonly typedData: object;
  readonly organization: string;
  readonly name: string;
  readonly threshold: number;
  readonly admins: readonly Founder[];
  /** What it founds, made from the bytes alone, line by line. */
  readonly description: string;
}

/** The state that an organization begins with, as far as it is read here. */
interface State {
  readonly id: string;
  readonly name: string;
  readonly sequence: number;
  readonly domainSalt: string;
  readonly signingKey: string;
  readonly sealKey: string;
  readonly members: { readonly [id: string]: Founder };
  readonly admins: { readonly memberIds: readonly string[]; readonly threshold: number };
}

/** The types of the payload. Source: docs/signatures.md. */
const TYPES = {
  EIP712Domain: [
    { name: 'name', type: 'string' },
    { name: 'version', type: 'string' },
    { name: 'salt', type: 'bytes32' },
  ],
  FoundOrganization: [
    { name: 'organization', type: 'string' },
    { name: 'summary', type: 'string[]' },
    { name: 'signingKey', type: 'address' },
    { name: 'sealKey', type: 'address' },
    { name: 'state', type: 'string' },
  ],
};

function parsed<T>(field: string, text: unknown): T {
  try {
    const value = JSON.parse(String(text));
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // It is refused below.
  }
  throw new PayloadMismatch(field, 'JSON text of an object', text);
}

function adminsOf({ members, admins }: State): Founder[] {
  return admins.memberIds.map((id) => {
    const member = members[id];
    if (!member) throw new PayloadMismatch('message.state', `a member ${id}, who is an admin`, undefined);
    return member;
  });
}

/** The summary is what a wallet shows first: it names what the state has. */
function checkSummary(lines: readonly string[], state: State, admins: readonly Founder[]): void {
  const others = Object.keys(state.members).length - admins.length;
  const decides = `: ${state.admins.threshold} of ${admins.length} admins decide, other members: ${others}`;
  match('message.summary[0]', `Found ${nameInSummary(state.name)}${decides}`, lines[0]);
  const rest = lines.slice(1);
  const isWhole = !rest.at(-1)?.endsWith(' shown: state has all');
  const shown = isWhole ? rest : rest.slice(0, -1);
  if (isWhole) match('message.summary.length', admins.length + 1, lines.length);
  for (const [i, line] of shown.entries()) {
    const admin = admins[i];
    const wallet =
      admin && `${admin.walletKind === 'contract' ? 'contract wallet ' : ''}${admin.walletAddress}`;
    match(`message.summary[${i + 1}]`, admin && `Admin ${nameInSummary(admin.name)} (${wallet})`, line);
  }
}

function checkKnown(known: KnownGenesis, { digest }: Hashes, state: State, admins: readonly Founder[]): void {
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
  const typedData = parsed<TypedData & { message: Record<string, unknown> }>('payload', payload);
  match('payload', canonicalJson(typedData), payload);
  match('primaryType', 'FoundOrganization', typedData.primaryType);
  match('types', TYPES, typedData.types);
  const { message, domain } = typedData;
  const state = parsed<State>('message.state', message.state);
  match('message.state', canonicalJson(state), message.state);
  const { id, name, signingKey, sealKey, domainSalt } = state;
  match('domain', { name: 'orgwallet', version: '1', salt: domainSalt }, domain);
  match('message.state.sequence', 0, state.sequence);
  match(
    'message',
    { organization: id, signingKey, sealKey, summary: message.summary, state: message.state },
    message,
  );
  const admins = adminsOf(state);
  checkSummary(message.summary as readonly string[], state, admins);
  const hashes = hashesOf({ typedData } as Parameters<typeof hashesOf>[0]);
  checkKnown(known, hashes, state, admins);
  return {
    ...hashes,
    typedData,
    organization: id,
    name,
    threshold: state.admins.threshold,
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
