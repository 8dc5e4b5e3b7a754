import type { Address } from 'viem';
import type { ChainClient } from '../../chain/clients';
import { executionsFrom } from '../../chain/executionsFrom';
import type { SigningKeys } from '../../chain/keys';
import { accountNonce } from '../../chain/safe';
import { deriveAccount } from '../../chain/safeAccount';
import { isSealedHead } from '../../chain/signedSeals';
import type { Db } from '../../db/database';
import { findSealedState } from '../../db/seals';
import type { OrganizationState } from '../../domain/governance';
import { JournalError, type UnknownExecutionEntry } from '../journal/entries';
import type { JournalReader } from '../journal/journalReader';
import { sealedSequences } from '../store/compared';
import { storedHashes } from '../store/signedAttempts';

/** An account that the admins of an organization have decided on. */
interface SealedAccount {
  readonly organizationId: string;
  readonly accountId: string;
  readonly address: Address;
  readonly networkIds: readonly number[];
}

/** What is compared. */
interface Compared {
  readonly db: Db;
  readonly journal: JournalReader;
  readonly keystore: Pick<SigningKeys, 'organizationKey' | 'sealKey'>;
}

/**
 * The accounts of an organization by its sealed state: a table without one of them hides nothing. Throws JournalError for a
 * state that the seal key has not signed.
 */
async function sealedAccounts({ db, keystore }: Compared, organizationId: string): Promise<SealedAccount[]> {
  const head = await findSealedState(db, organizationId);
  if (!head || !(await isSealedHead(keystore.sealKey(organizationId).address, head, head.signature))) {
    throw new JournalError(
      `the state of organization ${organizationId} in sealed_states is not of the seal key in this keystore`,
    );
  }
  const { accounts }: OrganizationState = JSON.parse(head.state);
  const owner = keystore.organizationKey(organizationId).address;
  return Object.values(accounts).map(({ id: accountId, networkIds }) => {
    const address = deriveAccount(owner, accountId).address as Address;
    return { organizationId, accountId, address, networkIds };
  });
}

async function allAccounts(compared: Compared): Promise<SealedAccount[]> {
  const accounts: SealedAccount[] = [];
  for (const organizationId of (await sealedSequences(compared.db)).keys()) {
    accounts.push(...(await sealedAccounts(compared, organizationId)));
  }
  return accounts;
}

/** The networks that accounts are on. Throws JournalError. */
export async function networksOfAccounts(compared: Compared): Promise<ReadonlySet<number>> {
  return new Set((await allAccounts(compared)).flatMap(({ networkIds }) => networkIds));
}

/** The nonces of an account, from 0 to before `next`, that the journal does not have. */
function missingNonces(
  journal: JournalReader,
  networkId: number,
  { accountId }: SealedAccount,
  next: bigint,
): ReadonlySet<bigint> {
  const missing = new Set<bigint>();
  for (let safeNonce = 0n; safeNonce < next; safeNonce += 1n) {
    if (!journal.takenAt({ accountId, networkId, safeNonce })) missing.add(safeNonce);
  }
  return missing;
}

async function unknownOf(
  journal: JournalReader,
  chain: ChainClient,
  account: SealedAccount,
): Promise<UnknownExecutionEntry[]> {
  const { organizationId, accountId, address } = account;
  const networkId = chain.network.id;
  const onChain = await accountNonce(chain, address);
  const missing = missingNonces(journal, networkId, account, onChain ?? 0n);
  const [from] = missing;
  if (onChain === null || from === undefined) return [];
  const found = await executionsFrom(chain, { account: address, from, next: onChain });
  return found
    .filter(({ nonce }) => missing.has(nonce))
    .map(({ nonce, safeTxHash, transactionHash }) => ({
      type: 'unknownExecution',
      organizationId,
      accountId,
      networkId,
      safeNonce: String(nonce),
      safeTxHash,
      transactionHash,
    }));
}

/**
 * Finds the nonces of accounts that were used on a network by executions that the journal does not know. Where it is
 * completed, they are of nobody, whatever the database says of them; else not those that the database has. Throws
 * ChainUnavailable, and JournalError where the endpoints do not agree.
 */
export async function findUnknownExecutions(
  compared: Compared,
  { id, name }: { readonly id: number; readonly name: string },
  endpoints: readonly ChainClient[],
  { isCompleted }: { readonly isCompleted: boolean },
): Promise<readonly UnknownExecutionEntry[]> {
  const { db, journal } = compared;
  const found: UnknownExecutionEntry[] = [];
  for (const account of await allAccounts(compared)) {
    if (!account.networkIds.includes(id)) continue;
    const answers = await Promise.all(endpoints.map((chain) => unknownOf(journal, chain, account)));
    const [first] = answers;
    if (new Set(answers.map((answer) => JSON.stringify(answer))).size > 1) {
      throw new JournalError(
        `the signerRpcUrls of network ${name} disagree about account ${account.accountId}`,
      );
    }
    found.push(...(first ?? []));
  }
  if (isCompleted || found.length === 0) return found;
  const stored = await storedHashes(
    db,
    found.map(({ safeTxHash }) => safeTxHash),
  );
  return found.filter(({ safeTxHash }) => !stored.has(safeTxHash));
}
