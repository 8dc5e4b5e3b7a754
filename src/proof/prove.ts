import type { Address, Hex } from 'viem';
import { deriveAdminsSafe, securing } from '../chain/adminsSafe';
import { checkFounded, genesisPayload } from '../chain/genesisPayload';
import { textHash } from '../chain/keccak';
import { deriveAccount } from '../chain/safeAccount';
import { safeTransactionHash } from '../chain/safeTransaction';
import { openSeal } from '../chain/signedSeals';
import type { IdentifyVoter } from '../chain/voter';
import { toMemberSummary } from '../domain/approval';
import { canonicalJson } from '../domain/canonicalJson';
import { adminsOf, findResource, type OrganizationState } from '../domain/governance';
import {
  type DecisionSeal,
  decisionOfSeal,
  type GenesisSeal,
  NO_SEAL,
  type SealedVote,
} from '../domain/seal';
import { proposalPayload, voteStatement } from '../domain/signing';
import { decidedState } from '../operations/change';
import {
  type AuthorizationLine,
  type HeadLine,
  isSignedBy,
  type SealLine,
  type SignedLine,
  type UpkeepLine,
} from './lines';

/** The line of a proof that is wrong, and why. */
export class ProofError extends Error {
  override readonly name = 'ProofError';
  constructor(
    readonly line: number,
    readonly reason: string,
  ) {
    super(`line ${line}: ${reason}`);
  }
}

/** A vote of a contract wallet: only the signer has asked its contract. */
interface Attested {
  readonly line: number;
  readonly memberId: string;
  readonly at: string;
}

/** What a proof proves, as of its head. */
export interface Proved {
  readonly state: OrganizationState;
  readonly seals: number;
  readonly authorizations: readonly AuthorizationLine[];
  /** What keeps the admins' Safe, in the order of the journal. */
  readonly upkeep: readonly UpkeepLine[];
  readonly attested: readonly Attested[];
  readonly head: HeadLine;
}

interface Progress {
  state: OrganizationState | undefined;
  sealHash: string;
  sealedAt: string;
  /** The text of the lines before this one: the head has its hash. */
  precedingLines: string;
  readonly proposals: Set<string>;
  readonly transactions: Set<string>;
  readonly authorizations: AuthorizationLine[];
  readonly upkeep: UpkeepLine[];
  /** Network, Safe and nonce. */
  readonly nonces: Set<string>;
  readonly attested: Attested[];
  head: HeadLine | undefined;
}

/**
 * Verifies votes by the members of the state of their time. A contract wallet is asked where endpoints are given; else its
 * vote is listed as attested.
 */
async function verifyVotes(
  progress: Progress,
  line: number,
  { votes, at }: { readonly votes: readonly SealedVote[]; readonly at: string },
  {
    payload,
    state,
    identifyVoter,
    asksContracts,
  }: {
    readonly payload: string;
    readonly state: OrganizationState;
    readonly identifyVoter: IdentifyVoter;
    readonly asksContracts: boolean;
  },
): Promise<Set<string>> {
  const voters = new Set<string>();
  for (const { memberId, signature } of votes) {
    const admin = state.admins.memberIds.includes(memberId)
      ? findResource(state, 'member', memberId)
      : undefined;
    if (!admin) throw new ProofError(line, `${memberId} is not an admin at that time`);
    if (admin.walletKind === 'contract' && !asksContracts) {
      progress.attested.push({ line, memberId, at });
    } else {
      const voter = await identifyVoter({ payload, signature, eligible: [toMemberSummary(admin)] });
      if (!voter.ok)
        throw new ProofError(line, `the signature of ${memberId} is wrong: ${voter.refusal.message}`);
    }
    voters.add(memberId);
  }
  return voters;
}

type Context = Pick<Parameters<typeof verifyVotes>[3], 'identifyVoter' | 'asksContracts'>;

async function begin(progress: Progress, line: number, seal: GenesisSeal, context: Context): Promise<void> {
  const { state, votes } = seal;
  if (seal.sequence !== 0 || state.sequence !== 0 || seal.previousHash !== NO_SEAL) {
    throw new ProofError(line, 'it is not a genesis');
  }
  const checked = checkFounded(state);
  if (!checked.ok) throw new ProofError(line, checked.refusal.message);
  const payload = genesisPayload(state);
  const voters = await verifyVotes(progress, line, { votes, at: seal.at }, { payload, state, ...context });
  const missing = state.admins.memberIds.find((id) => !voters.has(id));
  if (missing !== undefined) throw new ProofError(line, `admin ${missing} has not signed the genesis`);
  progress.state = state;
}

async function proveDecision(
  progress: Progress,
  line: number,
  state: OrganizationState,
  seal: DecisionSeal,
  context: Context,
): Promise<void> {
  if (seal.organizationId !== state.id) throw new ProofError(line, `it is of ${seal.organizationId}`);
  if (seal.sequence !== state.sequence + 1 || seal.previousHash !== progress.sealHash) {
    throw new ProofError(line, `it does not follow the decision ${state.sequence}`);
  }
  if (progress.proposals.has(seal.proposalId))
    throw new ProofError(line, `${seal.proposalId} is sealed twice`);
  progress.proposals.add(seal.proposalId);
  if (seal.at < progress.sealedAt)
    throw new ProofError(line, 'it was sealed before the decision that it follows');
  if (Date.parse(seal.at) > Date.parse(seal.expiresAt))
    throw new ProofError(line, 'it was sealed after its expiry');
  const { proposalId: id, organizationId, resourceType, action, summary, data } = seal;
  const payload = proposalPayload(voteStatement(decisionOfSeal(seal)), state.domainSalt, {
    id,
    organizationId,
    resourceType,
    action,
    summary,
    data,
    expiresAt: new Date(seal.expiresAt),
  });
  const voters = await verifyVotes(progress, line, seal, { payload, state, ...context });
  const { threshold } = adminsOf(state);
  if (voters.size < threshold)
    throw new ProofError(line, `${voters.size} of ${threshold} admins have signed it`);
  const decided = decidedState(state, seal);
  if (!decided.ok) throw new ProofError(line, decided.refusal.message);
  const next = decided.value;
  if (canonicalJson(next.changes) !== canonicalJson(seal.changes)) {
    throw new ProofError(line, 'it changed something else than what was signed');
  }
  progress.state = next.state;
}

async function readSeal(progress: Progress, line: number, stored: SealLine, context: Context): Promise<void> {
  const { body, hash } = stored;
  const claimed = JSON.parse(body) as { readonly state?: OrganizationState };
  const sealKey = progress.state?.sealKey ?? claimed.state?.sealKey ?? '';
  const seal = await openSeal(sealKey, stored);
  if (!seal || canonicalJson(seal) !== body) throw new ProofError(line, 'the seal key has not signed it');
  if (seal.type === 'genesis') {
    if (progress.state) throw new ProofError(line, 'it is a second genesis');
    await begin(progress, line, seal, context);
  } else if (progress.state) {
    await proveDecision(progress, line, progress.state, seal, context);
  } else {
    throw new ProofError(line, 'it precedes the genesis');
  }
  progress.sealHash = hash;
  progress.sealedAt = seal.at;
}

/**
 * What keeps the admins' Safe is of its keeper, or makes it the module of an account, as its hash says; each nonce once. Throws
 * ProofError.
 */
function proveUpkeep(progress: Progress, line: number, state: OrganizationState, upkeep: UpkeepLine): void {
  const { networkId, accountId, safe, safeNonce, to, data, safeTxGas, sequence } = upkeep;
  const admins = deriveAdminsSafe(state);
  const account = accountId === null ? undefined : deriveAccount(state.signingKey, accountId).address;
  if (accountId !== null && !findResource(state, 'account', accountId)) {
    throw new ProofError(line, `${accountId} is not an account at that time`);
  }
  if (safe !== (account ?? admins.keeper.address)) throw new ProofError(line, `${safe} is another Safe`);
  const content = {
    ...{ networkId, account: safe as Address, to: to as Address, value: 0n, data: data as Hex },
    ...{ safeTxGas: BigInt(safeTxGas), nonce: BigInt(safeNonce) },
  };
  const enabling = account && { ...content, ...securing(account as Address, admins) };
  if (safeTransactionHash(enabling || content) !== upkeep.safeTxHash || sequence > state.sequence) {
    throw new ProofError(line, 'its hash or its decision is of something else');
  }
  const nonce = `${networkId}/${safe}/${safeNonce}`;
  if (progress.nonces.has(nonce)) throw new ProofError(line, `nonce ${safeNonce} of ${safe} is signed twice`);
  progress.nonces.add(nonce);
  progress.upkeep.push(upkeep);
}

async function readSigned(progress: Progress, line: number, signed: SignedLine): Promise<void> {
  const { state } = progress;
  if (!state) throw new ProofError(line, 'it precedes the genesis');
  if (!(await isSignedBy(state.sealKey, signed)))
    throw new ProofError(line, 'the seal key has not signed it');
  const { signature: _, ...content } = signed;
  if (content.type === 'head') {
    const isWhole =
      content.lines === line - 1 &&
      content.hash === textHash(progress.precedingLines) &&
      content.sequence === state.sequence &&
      content.organizationId === state.id;
    if (!isWhole) throw new ProofError(line, 'it is the head of other lines');
    progress.head = content;
    return;
  }
  if (content.type === 'upkeep') {
    proveUpkeep(progress, line, state, content);
    return;
  }
  if (progress.transactions.has(content.transactionId)) {
    throw new ProofError(line, `${content.transactionId} is authorized twice`);
  }
  progress.transactions.add(content.transactionId);
  progress.authorizations.push(content);
}

async function readLine(progress: Progress, line: number, text: string, context: Context): Promise<void> {
  if (progress.head) throw new ProofError(line, 'it follows the head');
  let parsed: (SealLine | SignedLine) & { readonly type: string };
  try {
    parsed = JSON.parse(text);
    if (canonicalJson(parsed) !== text) throw new Error('it is not canonical');
  } catch {
    throw new ProofError(line, 'it is not canonical JSON');
  }
  if (parsed.type === 'seal') await readSeal(progress, line, parsed as SealLine, context);
  else if (parsed.type === 'authorization' || parsed.type === 'upkeep' || parsed.type === 'head') {
    await readSigned(progress, line, parsed as SignedLine);
  } else throw new ProofError(line, 'it has an unknown type');
  progress.precedingLines += `${text}\n`;
}

/**
 * Verifies a proof, line by line, from the signatures of the founders on: every signature against the state of its time,
 * every change by replaying it, and its head. It needs no database, no network and no secret. Throws ProofError that
 * names the line.
 */
export async function prove(
  text: string,
  context: { readonly identifyVoter: IdentifyVoter; readonly asksContracts: boolean },
): Promise<Proved> {
  const progress: Progress = {
    state: undefined,
    sealHash: NO_SEAL,
    sealedAt: '',
    precedingLines: '',
    proposals: new Set(),
    transactions: new Set(),
    authorizations: [],
    upkeep: [],
    nonces: new Set(),
    attested: [],
    head: undefined,
  };
  const lines = text.split('\n');
  if (lines.pop() !== '') throw new ProofError(lines.length + 1, 'the last line is torn');
  for (const [i, line] of lines.entries()) {
    try {
      await readLine(progress, i + 1, line, context);
    } catch (error) {
      throw error instanceof ProofError
        ? error
        : new ProofError(i + 1, `it is unreadable: ${(error as Error).message}`);
    }
  }
  const { state, authorizations, upkeep, attested, head } = progress;
  if (!state || !head) throw new ProofError(lines.length + 1, 'there is no head: the proof is not whole');
  return { state, seals: state.sequence + 1, authorizations, upkeep, attested, head };
}
