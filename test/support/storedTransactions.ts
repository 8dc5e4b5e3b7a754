import type { Db, Tx } from '../../src/db/database';
import {
  insertTransaction,
  insertTransactionVote,
  type NewTransaction,
  placeTransaction,
} from '../../src/db/transactions';
import type { MemberSummary } from '../../src/domain/proposal';
import type { TransactionVoteType } from '../../src/domain/transaction';
import { signatureHash } from '../../src/transactions/voter';
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
export type TransactionOf = Pick<NewTransaction, 'organizationId' | 'accountId' | 'policyId' | 'initiatorId'>;

/** Stores a transfer of 1 wei that nobody has signed and that ends in an hour; answers its id. */
export async function storeTransaction(
  db: Db,
  of: TransactionOf,
  change: Partial<NewTransaction> & { position?: bigint } = {},
): Promise<string> {
  const { position = 0n, ...fields } = change;
  const { id, networkId, description, type, to, value, calldata, content, summary } = aTransaction().build();
  const made = { id, networkId, description, type, to, value, calldata, content, summary, ...of, ...fields };
  await db.transaction(async (tx) => {
    const { rows } = await tx.raw(`SELECT date_trunc('second', now() + interval '1 hour') AS ends`);
    await insertTransaction(tx, { names: [], createdByKey: null, expiresAt: rows[0].ends, ...made });
    await placeTransaction(tx, made.id, position);
  });
  return made.id;
}

/** Stores a signature on a transaction, as if it had been verified; answers its hash. */
export async function storeVote(
  tx: Db | Tx,
  transactionId: string,
  member: Pick<MemberSummary, 'id' | 'walletAddress'>,
  type: TransactionVoteType,
  initiatorSignatureHash: string | null = null,
): Promise<string> {
  const signature = aHash();
  await insertTransactionVote(tx as Tx, {
    transactionId,
    memberId: member.id,
    type,
    signerAddress: member.walletAddress,
    scheme: 'eoa',
    signature,
    signatureHash: signatureHash(signature),
    initiatorSignatureHash,
    reason: null,
    apiKeyId: null,
  });
  return signatureHash(signature);
}
