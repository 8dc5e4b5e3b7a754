import { randomUUID } from 'node:crypto';
import { signatureHash } from '../../src/approvals/verifiedVotes';
import { insertApproval, type NewApproval, updateApproval } from '../../src/db/approvals';
import type { Db, Tx } from '../../src/db/database';
import { insertMessage } from '../../src/db/receivedMessages';
import { insertTransaction, type NewTransaction } from '../../src/db/transactions';
import { insertVote, type NewVote } from '../../src/db/votes';
import type { MemberSummary, VoteType } from '../../src/domain/approval';
import { aHash, anAddress, anId } from './builders';
import { aTransaction } from './transactionRecords';
import { NETWORK_ID } from './transactions';

/** Stores an account that is on these networks, past the proposal that would make it. */
export async function storeAccount(
  owner: Db,
  organizationId: string,
  change: { id?: string; name?: string; networkIds?: readonly number[] } = {},
): Promise<{ id: string; address: string }> {
  const { id = anId('acc'), name = 'Treasury', networkIds = [NETWORK_ID] } = change;
  const address = anAddress();
  await owner('accounts').insert({
    id,
    organization_id: organizationId,
    name,
    address,
    owner_address: anAddress(),
    singleton: anAddress(),
    factory: anAddress(),
    fallback_handler: anAddress(),
    initializer: '0x',
    salt_nonce: '1',
    position: 0,
  });
  if (networkIds.length > 0) {
    await owner('account_networks').insert(
      networkIds.map((network_id) => ({ account_id: id, network_id, deployed_at: new Date() })),
    );
  }
  return { id, address };
}

/** What a transaction cannot be stored without. */
type TransactionOf = Pick<NewTransaction, 'accountId' | 'policyId' | 'initiatorId'> & {
  readonly organizationId: string;
};

/** What a stored transaction can be given. */
export type StoredWith = Partial<NewTransaction & NewApproval>;

/** Stores a transfer of 1 wei that nobody has signed and that expires in an hour. Returns its id. */
export async function storeTransaction(db: Db, of: TransactionOf, change: StoredWith = {}): Promise<string> {
  const { id, networkId, description, type, to, value, calldata, content, replaces, summary } =
    aTransaction().build();
  const call = { description, type, to, value, calldata, content, replaces };
  const made = { id, networkId, ...call, summary, ...of };
  await db.transaction(async (tx) => {
    const { rows } = await tx.raw(`SELECT date_trunc('second', now() + interval '1 hour') AS ends`);
    const approval = {
      mentions: [],
      createdBy: null,
      expiresAt: rows[0].ends,
      position: 0n,
      ...made,
      ...change,
    };
    await insertApproval(tx, 'transaction', approval);
    await insertTransaction(tx, { ...made, position: 0n, ...change });
  });
  return change.id ?? made.id;
}

/** Stores a vote with a message that brought it, as its activity does. */
export async function insertSigned(tx: Tx, id: string, vote: NewVote): Promise<void> {
  await updateApproval(tx, id, {}, [insertMessage(tx, id, randomUUID(), 'sign'), insertVote(tx, id, vote)]);
}

/** Stores a signature on a transaction, as if it had been verified. Returns its hash. */
export async function storeVote(
  tx: Db | Tx,
  transactionId: string,
  member: Pick<MemberSummary, 'id' | 'walletAddress'>,
  type: VoteType,
  initiatorSignatureHash: string | null = null,
  signature: string = aHash(),
): Promise<string> {
  await insertSigned(tx as Tx, transactionId, {
    memberId: member.id,
    type,
    signerAddress: member.walletAddress,
    scheme: 'eoa',
    signature,
    signatureHash: signatureHash(signature),
    initiatorSignatureHash,
    reason: null,
    credentialId: null,
  });
  return signatureHash(signature);
}
