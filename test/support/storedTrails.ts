import type { Db } from '../../src/db/database';
import { newId } from '../../src/db/ids';
import { insertPolicies } from '../../src/db/policies';
import { requireRow } from '../../src/db/rows';
import type { StoredTransaction } from '../../src/db/storedTransactions';
import { readTransaction } from '../../src/db/transactions';
import { NATIVE_CURRENCY } from '../../src/domain/policy';
import { aHash } from './builders';
import type { TestOrganization } from './service';
import { type StoredWith, storeAccount, storeTransaction } from './storedTransactions';
import { aPolicy, NETWORK_ID } from './transactions';

/**
 * Stores a transfer by Dave that nobody has signed, with an account and a policy of its own, and no workflow.
 * `columns` are of its row in `approvals`.
 */
export async function storeTransactionOf(
  db: Db,
  org: TestOrganization,
  change: StoredWith = {},
  columns: object = {},
): Promise<StoredTransaction> {
  const policy = aPolicy({ id: newId('pol') });
  await db.transaction((tx) => insertPolicies(tx, org.id, [policy]));
  const accountId = change.accountId ?? (await storeAccount(db, org.id)).id;
  const of = { organizationId: org.id, accountId, policyId: policy.id, initiatorId: org.dave.id };
  const { networkId = NETWORK_ID } = change;
  const mentions = [
    `account:${accountId}`,
    `policy:${policy.id}`,
    `member:${org.dave.id}`,
    `network:${networkId}`,
  ];
  const more = { id: newId('txn'), createdBy: org.adminKeyId, mentions };
  const transactionId = await storeTransaction(db, of, { ...more, ...change });
  if (Object.keys(columns).length > 0) await db('approvals').where({ id: transactionId }).update(columns);
  const found = await readTransaction(db, { organizationId: org.id, transactionId });
  if (!found) throw new Error(`${transactionId} was not stored`);
  return found.record;
}

/** Stores what was signed for a transaction; answers its id. */
export async function storeAttempt(db: Db, of: StoredTransaction, columns: object = {}): Promise<bigint> {
  const [attempt] = await db('chain_attempts')
    .insert({
      kind: 'transaction',
      organization_id: of.organizationId,
      transaction_id: of.id,
      account_id: of.accountId,
      network_id: of.networkId,
      to_address: of.to,
      data: of.calldata,
      value: String(of.value),
      safe_nonce: 0,
      safe_tx_gas: '21000',
      safe_tx_hash: aHash(),
      from_block: 1,
      ...columns,
    })
    .returning('id');
  return requireRow(attempt).id;
}

/** Stores an envelope of an attempt; answers its hash. */
export async function storeEnvelope(
  db: Db,
  of: { attemptId: bigint; relayerAddress: string },
  columns: object = {},
): Promise<string> {
  const transactionHash = aHash();
  await db('chain_envelopes').insert({
    attempt_id: of.attemptId,
    network_id: NETWORK_ID,
    relayer_address: of.relayerAddress,
    relayer_nonce: 0,
    gas: '100000',
    max_fee_per_gas: '2000000000',
    max_priority_fee_per_gas: '1000000000',
    transaction_hash: transactionHash,
    raw_transaction: '0x',
    ...columns,
  });
  return transactionHash;
}

/** Stores what a transaction takes of its policy's budget. */
export async function storeUsage(db: Db, of: StoredTransaction, columns: object = {}): Promise<void> {
  await db('policy_usage').insert({
    organization_id: of.organizationId,
    policy_id: of.policyId,
    transaction_id: of.id,
    network_id: of.networkId,
    token_address: NATIVE_CURRENCY,
    amount: String(of.value),
    initiator_id: of.initiator.id,
    account_id: of.accountId,
    destination: of.to,
    ...columns,
  });
}
