import { genesisPayload } from '../../src/chain/genesisPayload';
import { isSealedHead, openSeal, type SignedSeal } from '../../src/chain/signedSeals';
import { hashTypedPayload } from '../../src/chain/typedData';
import type { Db } from '../../src/db/database';
import { findGenesis } from '../../src/db/genesis';
import { requireRow } from '../../src/db/rows';
import { findSealedState, listSeals } from '../../src/db/seals';
import {
  adminsOf,
  type OrganizationState,
  type ResourceChange,
  withResources,
} from '../../src/domain/governance';
import { type DecisionSeal, NO_SEAL, type Seal, type SealedVote } from '../../src/domain/seal';
import { proposalPayload } from '../../src/domain/signing';
import { operationKindOf } from '../../src/operations';
import { changeState } from '../../src/operations/change';
import { signerOf } from './operationKeys';

/** Every vote is the signature of one of these admins over exactly that payload; no admin has two. */
function expectSigned(
  { admins }: { admins: readonly { id: string; walletAddress: string }[] },
  payload: string,
  votes: readonly SealedVote[],
) {
  const hash = hashTypedPayload(payload);
  expect(new Set(votes.map(({ memberId }) => memberId)).size).toBe(votes.length);
  for (const { memberId, signerAddress, signature } of votes) {
    const { found } = signerOf(hash, signature);
    const wallet = admins.find(({ id }) => id === memberId)?.walletAddress;
    expect([wallet, signerAddress]).toEqual([found, found]);
  }
}

/** What a decision makes of a state: its data, run through its kind, comes to the changes that are sealed. */
function afterDecision(state: OrganizationState, seal: DecisionSeal): OrganizationState {
  const { resolution, votes, sequence, resourceType, action, data, changes } = seal;
  const { threshold, members } = adminsOf(state);
  const approved = resolution === 'approved';
  const record = { ...seal, id: seal.proposalId, expiresAt: new Date(seal.expiresAt) };
  const statement = approved ? 'ApproveProposal' : 'RejectProposal';
  expect(votes.length).toBeGreaterThanOrEqual(threshold);
  expectSigned({ admins: members }, proposalPayload(statement, state.domainSalt, record), votes);
  if (!approved) {
    expect(changes).toEqual([]);
    return { ...state, sequence };
  }
  const before = JSON.stringify(state);
  const changed = changeState(operationKindOf(resourceType, action), state, data);
  expect(JSON.stringify(state)).toBe(before);
  if (!changed.ok) throw new Error(`seal ${sequence} cannot be replayed: ${changed.refusal.message}`);
  expect(changed.value.changes).toEqual(changes);
  expect(withResources(state, sequence, changes)).toEqual(changed.value.state);
  // What has been decided once cannot be decided again, unless it was about nothing that was there.
  const again = changeState(operationKindOf(resourceType, action), changed.value.state, data);
  if (changes.some((change) => change.before !== null)) expect(again.ok).toBe(false);
  return changed.value.state;
}

/**
 * The seals of an organization, and nothing else, prove its state: each is signed by the seal key and follows on the
 * one before it, its votes are of the admins of its time, and replaying all of them from the genesis comes to the state
 * that is sealed now. `firstChanges` are what the test has put into the genesis without a signature.
 */
export async function expectProven(
  { db, sealKey }: { readonly db: Db; readonly sealKey: string },
  organizationId: string,
  firstChanges: readonly ResourceChange[],
): Promise<void> {
  const stored = await listSeals(db, organizationId, { after: -1 });
  const opened: Seal[] = [];
  for (const [sequence, seal] of stored.entries()) {
    expect(seal.sequence).toBe(sequence);
    const body = requireRow(await openSeal(sealKey, seal as SignedSeal));
    expect(body).toMatchObject({
      organizationId,
      sequence,
      previousHash: sequence === 0 ? NO_SEAL : stored[sequence - 1]?.hash,
    });
    opened.push(body);
  }
  const [genesis, ...decisions] = opened;
  if (genesis?.type !== 'genesis') throw new Error('the first seal is not of the genesis');
  expect(await findGenesis(db, organizationId)).toEqual(genesis.state);
  const founders = adminsOf(genesis.state).members;
  expect(genesis.votes).toHaveLength(founders.length);
  expectSigned({ admins: founders }, genesisPayload(genesis.state), genesis.votes);
  let state = withResources(genesis.state, 0, firstChanges);
  for (const seal of decisions) {
    if (seal.type !== 'decision') throw new Error(`seal ${seal.sequence} is not of a decision`);
    state = afterDecision(state, seal);
  }
  const now = requireRow(await findSealedState(db, organizationId));
  expect(JSON.parse(now.state)).toEqual(state);
  expect([now.sequence, now.sealHash]).toEqual([decisions.length, stored.at(-1)?.hash]);
  expect(await isSealedHead(sealKey, now, now.signature)).toBe(true);
}
