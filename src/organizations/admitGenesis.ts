import { storeSealedState } from '../approvals/sealedState';
import { operationDomainSalt } from '../chain/domainSalt';
import { checkFounded, genesisPayload } from '../chain/genesisPayload';
import type { Keystore } from '../chain/keys';
import { decodeSignature } from '../chain/signatures';
import { signSeal } from '../chain/signedSeals';
import { hashTypedPayload } from '../chain/typedData';
import type { IdentifyVoter } from '../chain/voter';
import { appendAudit } from '../db/audit';
import type { Db, Tx } from '../db/database';
import {
  findGenesis,
  insertGenesisSignature,
  isAdmitted,
  readGenesisSignatures,
  recordSigningKey,
} from '../db/genesis';
import { readInstallationId } from '../db/installation';
import { insertSeal } from '../db/seals';
import { OPERATOR } from '../domain/actor';
import { isSameAddress } from '../domain/address';
import type { MemberSummary } from '../domain/approval';
import { adminsOf, type OrganizationState } from '../domain/governance';
import { quoted } from '../domain/quoted';
import { accept, type Result, refuse } from '../domain/refusal';
import { type GenesisSeal, NO_SEAL, type SealedVote } from '../domain/seal';
import { walletText } from '../domain/wallet';
import { refuseWellKnownKey } from '../domain/wellKnownKeys';

/** What the founders sign, its EIP-712 digest, and who has signed. */
export interface Genesis {
  readonly state: OrganizationState;
  /** EIP-712 typed data as JSON text. */
  readonly payload: string;
  /** The digest of the payload (bytes32 as 0x hex): what is compared before it is admitted. */
  readonly hash: string;
  readonly missing: readonly MemberSummary[];
  readonly admitted: boolean;
}

/** Reads the genesis of an organization; undefined where there is none. */
export async function readGenesis(db: Db | Tx, organizationId: string): Promise<Genesis | undefined> {
  const state = await findGenesis(db, organizationId);
  if (!state) return undefined;
  const payload = genesisPayload(state);
  const signatures = await readGenesisSignatures(db, organizationId);
  return {
    state,
    payload,
    hash: hashTypedPayload(payload),
    missing: adminsOf(state).members.filter(({ id }) => !signatures.has(id)),
    admitted: await isAdmitted(db, organizationId),
  };
}

const nameOf = ({ id, name }: MemberSummary) => `${quoted(name)} (${id})`;

/** A refusal of a signature, with whose it would be, and who has not signed yet. */
function withNames(
  { refusal }: Extract<Result<never>, { ok: false }>,
  { state, missing }: Genesis,
  signature: string,
): Result<never> {
  const { members } = adminsOf(state);
  const signer = members.find(({ walletAddress }) => isSameAddress(walletAddress, signerIn(signature)));
  const whose = signer ? `the signature of ${nameOf(signer)} is wrong: ` : '';
  const wallets = members.map((member) => `${nameOf(member)} ${walletText(member)}`).join(', ');
  const waiting = missing.length > 0 ? missing.map(nameOf).join(', ') : 'nobody';
  const message = `${whose}${refusal.message}; the admins are ${wallets}; not signed yet: ${waiting}`;
  return refuse(refusal.code, message, refusal.field);
}

/** The address that a signature says it is of; empty where it says none. */
function signerIn(signature: string): string {
  try {
    return decodeSignature(signature).signer;
  } catch {
    return '';
  }
}

/**
 * Stores an admin's signature of the genesis, audited once. Refuses with notFound, invalidSignature, or forbidden: not of an
 * admin; names the admins. With conflict where another signature of the admin is kept, which does not verify (any more).
 */
export async function signGenesis(
  { db, identifyVoter }: { readonly db: Db; readonly identifyVoter: IdentifyVoter },
  { organizationId, signature }: { readonly organizationId: string; readonly signature: string },
): Promise<Result<MemberSummary>> {
  const genesis = await readGenesis(db, organizationId);
  if (!genesis) return refuse('notFound', `organization ${organizationId} not found`);
  const eligible = adminsOf(genesis.state).members;
  const voter = await identifyVoter({ payload: genesis.payload, signature, eligible });
  if (!voter.ok) return withNames(voter, genesis, signature);
  const { member } = voter.value;
  const memberId = member.id;
  const kept = (await readGenesisSignatures(db, organizationId)).get(memberId);
  if (kept !== undefined && kept !== signature) {
    const { payload } = genesis;
    const again = await identifyVoter({ payload, signature: kept, eligible: [member] });
    if (!again.ok) {
      const why = `the signature of ${nameOf(member)} that is stored is wrong: ${again.refusal.message}`;
      return refuse('conflict', `${why}; none can take its place: create the organization again`);
    }
  }
  await db.transaction(async (tx) => {
    if (!(await insertGenesisSignature(tx, organizationId, { memberId, signature }))) return;
    const details = { memberId, hash: genesis.hash };
    await appendAudit(tx, organizationId, [
      {
        ...{ action: 'organization.signed', actor: OPERATOR, details },
        ...{ resourceType: 'organization', resourceId: organizationId },
      },
    ]);
  });
  return accept(member);
}

/** The addresses of the keys that a keystore has for an organization: its genesis names them. */
export function keyAddresses(
  keystore: Pick<Keystore, 'organizationKey' | 'sealKey'>,
  organizationId: string,
): Pick<OrganizationState, 'signingKey' | 'sealKey'> {
  return {
    signingKey: keystore.organizationKey(organizationId).address,
    sealKey: keystore.sealKey(organizationId).address,
  };
}

/** What admitting needs: the login of the signer and its keys. */
export interface AdmitDeps {
  /** True in production: well-known keys are refused. */
  readonly production: boolean;
  readonly db: Db;
  readonly keystore: Pick<Keystore, 'organizationKey' | 'sealKey'>;
  readonly identifyVoter: IdentifyVoter;
}

/** Every admin's signature. Refuses where one is missing or wrong, and names the admin. */
async function verifiedSignatures(
  { db, identifyVoter }: AdmitDeps,
  { state, payload, missing }: Genesis,
): Promise<Result<SealedVote[]>> {
  if (missing.length > 0) {
    return refuse('conflict', `the genesis lacks the signatures of ${missing.map(nameOf).join(', ')}`);
  }
  const signatures = await readGenesisSignatures(db, state.id);
  const votes: SealedVote[] = [];
  for (const member of adminsOf(state).members) {
    const signature = signatures.get(member.id) ?? '0x';
    const voter = await identifyVoter({ payload, signature, eligible: [member] });
    if (!voter.ok) {
      return refuse('conflict', `the signature of ${nameOf(member)} is wrong: ${voter.refusal.message}`);
    }
    const { signerAddress, scheme } = voter.value;
    votes.push({ memberId: member.id, signerAddress, scheme, signature });
  }
  return accept(votes);
}

/** Refuses a genesis that another installation or keystore was meant for, or that could decide nothing. */
async function checkGenesis(
  { db, keystore, production }: AdmitDeps,
  state: OrganizationState,
): Promise<Result<null>> {
  const { id, signingKey, sealKey, domainSalt, sequence } = state;
  const own = keyAddresses(keystore, id);
  if (signingKey !== own.signingKey || sealKey !== own.sealKey) {
    return refuse('conflict', `the genesis of ${id} names keys that are not in this keystore`);
  }
  if (domainSalt !== operationDomainSalt(await readInstallationId(db), id) || sequence !== 0) {
    return refuse('conflict', `the genesis of ${id} is not of this installation`);
  }
  const beside = (['groups', 'policies', 'accounts'] as const).find(
    (kind) => Object.keys(state[kind]).length > 0,
  );
  if (beside !== undefined) {
    return refuse('conflict', `the genesis of ${id} has ${beside}: an organization begins without any`);
  }
  const members = Object.values(state.members);
  const demo = production && refuseWellKnownKey(members, (i) => `members[${i}].walletAddress`);
  return demo || checkFounded(state);
}

/**
 * Admits the genesis of an organization: from then on the signer seals its decisions. `hash` is the digest that was
 * compared with its admins. Refuses with notFound, or with conflict: another hash, a missing or wrong signature, keys of
 * another keystore, admitted already.
 */
export async function admitGenesis(
  deps: AdmitDeps,
  { organizationId, hash }: { readonly organizationId: string; readonly hash: string },
): Promise<Result<Genesis>> {
  const { db, keystore } = deps;
  const genesis = await readGenesis(db, organizationId);
  if (!genesis) return refuse('notFound', `organization ${organizationId} not found`);
  if (genesis.hash !== hash.toLowerCase()) {
    return refuse('conflict', `the genesis of ${organizationId} has the hash ${genesis.hash}, not ${hash}`);
  }
  if (genesis.admitted) return refuse('conflict', `the genesis of ${organizationId} is admitted already`);
  const { state } = genesis;
  if (state.id !== organizationId) {
    return refuse('conflict', `the genesis of ${organizationId} is of ${state.id}`);
  }
  const checked = await checkGenesis(deps, state);
  if (!checked.ok) return checked;
  const votes = await verifiedSignatures(deps, genesis);
  if (!votes.ok) return votes;
  const at = new Date();
  const seal: GenesisSeal = {
    type: 'genesis',
    organizationId,
    sequence: 0,
    previousHash: NO_SEAL,
    at: at.toISOString(),
    state,
    votes: votes.value,
  };
  const sealKey = keystore.sealKey(organizationId);
  const signed = await signSeal(sealKey, seal);
  await db.transaction(async (tx) => {
    await insertSeal(tx, { organizationId, sequence: 0, proposalId: null, sealedAt: at, ...signed });
    await storeSealedState(tx, sealKey, state, signed.hash);
    await recordSigningKey(tx, organizationId, state.signingKey);
  });
  return accept({ ...genesis, admitted: true });
}
