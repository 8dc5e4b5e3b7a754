import { projectUpTo } from '../../approvals/project';
import { storeSealedState } from '../../approvals/sealedState';
import { signatureHash } from '../../approvals/verifiedVotes';
import type { SigningKeys } from '../../chain/keys';
import { isSealedHead, openSeal } from '../../chain/signedSeals';
import { appendAudit } from '../../db/audit';
import type { Tx } from '../../db/database';
import { readProjected } from '../../db/decisions';
import { insertEvidence } from '../../db/evidence';
import { findGenesis, insertGenesisSignature, recordSigningKey } from '../../db/genesis';
import { setPositions } from '../../db/positions';
import { findSealedState, insertSeal } from '../../db/seals';
import { OPERATOR } from '../../domain/actor';
import type { Tally } from '../../domain/approval';
import { adminsOf, type OrganizationState } from '../../domain/governance';
import { type DecisionSeal, decisionOfSeal, type GenesisSeal, NO_SEAL, type Seal } from '../../domain/seal';
import { proposalPayload, voteStatement } from '../../domain/signing';
import { decidedState } from '../../operations/change';
import { storeOrganization } from '../../organizations/organization';
import { JournalError, type SealEntry } from '../journal/entries';
import { findProposal } from '../store/proposalsToSeal';
import { writeSealedProposal, writeSealedVotes } from '../store/writtenBack';
import { recoveredEntry } from './recoveredEntry';

/** The state before the next decision, and the hash of the seal before it. */
interface Reached {
  readonly state: OrganizationState;
  readonly hash: string;
}

/** A decision that is written back, and the admins of its time. */
interface Written {
  readonly seal: DecisionSeal;
  readonly admins: ReturnType<typeof adminsOf>;
}

/** The seal in an entry. Throws JournalError unless the seal key has signed it, right after the one before it. */
async function openEntry(entry: SealEntry, sealKey: string, previousHash: string): Promise<Seal> {
  const { organizationId, sequence } = entry;
  const seal = await openSeal(sealKey, entry);
  if (seal?.organizationId !== organizationId || seal.sequence !== sequence) {
    throw new JournalError(
      `decision ${sequence} of organization ${organizationId} in the journal is not of the seal key in this keystore`,
    );
  }
  if (seal.previousHash !== previousHash) {
    throw new JournalError(
      `decision ${sequence} of organization ${organizationId} does not follow the one before it`,
    );
  }
  return seal;
}

/** What the database has sealed last of an organization; undefined where it has nothing. Throws JournalError. */
async function readReached(tx: Tx, organizationId: string, sealKey: string): Promise<Reached | undefined> {
  const stored = await findSealedState(tx, organizationId, { lock: 'update' });
  if (!stored) return undefined;
  if (!(await isSealedHead(sealKey, stored, stored.signature))) {
    throw new JournalError(
      `the state of organization ${organizationId} in sealed_states is not of the seal key in this keystore`,
    );
  }
  return { state: JSON.parse(stored.state), hash: stored.sealHash };
}

/** Writes an organization back that the database does not know, or has not admitted. */
async function writeGenesis(tx: Tx, { state, votes }: GenesisSeal): Promise<void> {
  const { id, signingKey } = state;
  if (!(await findGenesis(tx, id))) await storeOrganization(tx, state);
  for (const { memberId, signature } of votes) await insertGenesisSignature(tx, id, { memberId, signature });
  await recordSigningKey(tx, id, signingKey);
}

function tallyOf({ seal, admins }: Written): Tally {
  const voters = admins.members.filter(({ id }) => seal.votes.some(({ memberId }) => memberId === id));
  const approved = seal.resolution === 'approved';
  return {
    signatureStatus: approved ? 'approvalReady' : 'rejectionReady',
    threshold: admins.threshold,
    approvals: approved ? voters : [],
    rejections: approved ? [] : voters,
  };
}

/** Stores the proof of a decision, as its execution did before the database lost it. */
async function writeEvidence(tx: Tx, { seal, admins }: Written, domainSalt: string): Promise<void> {
  const { organizationId, proposalId: id, resolution } = seal;
  const decision = decisionOfSeal(seal);
  const record = await findProposal(tx, organizationId, id);
  if (!record) throw new Error(`proposal ${id} not found`);
  await insertEvidence(
    tx,
    { organizationId, id },
    {
      resolution,
      payload: proposalPayload(voteStatement(decision), domainSalt, record),
      votes: record.votes.filter(({ type }) => type === decision),
      threshold: admins.threshold,
      electorate: { admins: admins.members.map((member) => ({ ...member })) },
    },
  );
}

/**
 * Writes the decisions of an organization back: the seals, the state that they come to, the tables that show it, and the
 * records of their proposals, whose executions continue from the seals. Throws JournalError for a seal that does not fit.
 */
export async function writeSeals(
  tx: Tx,
  { keystore }: { readonly keystore: Pick<SigningKeys, 'sealKey'> },
  organizationId: string,
  entries: readonly SealEntry[],
): Promise<void> {
  const sealKey = keystore.sealKey(organizationId);
  let reached = await readReached(tx, organizationId, sealKey.address);
  const written: Written[] = [];
  for (const entry of entries) {
    const { sequence, body, hash, signature } = entry;
    const seal = await openEntry(entry, sealKey.address, reached?.hash ?? NO_SEAL);
    let state: OrganizationState;
    if (seal.type === 'genesis') {
      await writeGenesis(tx, seal);
      state = seal.state;
    } else {
      if (!reached) throw new JournalError(`the journal lacks the genesis of organization ${organizationId}`);
      const decided = decidedState(reached.state, seal);
      if (!decided.ok) throw new JournalError(`decision ${sequence}: ${decided.refusal.message}`);
      const one = { seal, admins: adminsOf(reached.state) };
      written.push(one);
      await writeSealedProposal(tx, seal, {
        decision: decisionOfSeal(seal),
        by: OPERATOR,
        with: tallyOf(one),
      });
      state = decided.value.state;
    }
    const proposalId = seal.type === 'decision' ? seal.proposalId : null;
    await insertSeal(tx, {
      organizationId,
      sequence,
      proposalId,
      body,
      hash,
      signature,
      sealedAt: new Date(seal.at),
    });
    reached = { state, hash };
  }
  if (!reached) return;
  const { state, hash } = reached;
  await storeSealedState(tx, sealKey, state, hash);
  const last = written.at(-1);
  if (!last) return;
  const { seal } = last;
  await projectUpTo(tx, await readProjected(tx, seal.organizationId), seal, OPERATOR);
  // Their members are in the tables now.
  for (const one of written) {
    await writeSealedVotes(tx, one.seal, decisionOfSeal(one.seal), signatureHash);
    await writeEvidence(tx, one, state.domainSalt);
  }
  await auditSeals(tx, organizationId, entries, written);
}

async function auditSeals(
  tx: Tx,
  organizationId: string,
  entries: readonly SealEntry[],
  written: readonly Written[],
): Promise<void> {
  const [first] = entries;
  const positions = await appendAudit(tx, organizationId, [
    ...written.map(({ seal: { proposalId, sequence, resolution } }) =>
      recoveredEntry('proposal', proposalId, { sequence, resolution }),
    ),
    ...(first?.sequence === 0 ? [recoveredEntry('organization', organizationId, { hash: first.hash })] : []),
  ]);
  const ids = written.map(({ seal }) => seal.proposalId);
  await setPositions(tx, 'approvals', ids, positions.slice(0, ids.length));
}
