import type { Address } from 'viem';
import { deriveAdminsSafe } from '../../chain/adminsSafe';
import type { ChainClient } from '../../chain/clients';
import { executionsFrom } from '../../chain/executionsFrom';
import type { SigningKeys } from '../../chain/keys';
import { accountNonce } from '../../chain/safe';
import { deriveAccount } from '../../chain/safeAccount';
import { isSealedHead } from '../../chain/signedSeals';
import type { Db } from '../../db/database';
import { findSealedState } from '../../db/seals';
import type { OrganizationState } from '../../domain/governance';
import { JournalError, type UnknownExecutionEntry, type UpkeepEntry } from '../journal/entries';
import type { JournalReader } from '../journal/journalReader';
import { sealedSequences } from '../store/compared';
import { storedHashes } from '../store/signedAttempts';
import { securingEntry } from '../upkeep/accounts';

/** An account that the admins of an organization have decided on. */
interface SealedAccount {
  readonly organizationId: string;
  readonly state: OrganizationState;
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
  const state: OrganizationState = JSON.parse(head.state);
  const owner = keystore.organizationKey(organizationId).address;
  return Object.values(state.accounts).map(({ id: accountId, networkIds }) => {
    const address = deriveAccount(owner, accountId).address as Address;
    return { organizationId, state, accountId, address, networkIds };
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

/** What accounts have executed on a network and the journal does not know. */
interface Found {
  readonly unknown: readonly UnknownExecutionEntry[];
  /** What made the admins' Safe the module of an account: what is signed for that is known without a record of it. */
  readonly upkeep: readonly UpkeepEntry[];
}

async function unknownOf(journal: JournalReader, chain: ChainClient, account: SealedAccount): Promise<Found> {
  const { organizationId, accountId, address } = account;
  const networkId = chain.network.id;
  const onChain = await accountNonce(chain, address);
  const missing = missingNonces(journal, networkId, account, onChain ?? 0n);
  const [from] = missing;
  if (onChain === null || from === undefined) return { unknown: [], upkeep: [] };
  const unknown: UnknownExecutionEntry[] = [];
  const upkeep: UpkeepEntry[] = [];
  for (const one of await executionsFrom(chain, { account: address, from, next: onChain })) {
    const { nonce, safeTxHash, transactionHash } = one;
    if (!missing.has(nonce)) continue;
    const securing = securingEntry({ ...account, networkId }, nonce);
    if (securing.safeTxHash === safeTxHash) upkeep.push(securing);
    else {
      const at = { organizationId, accountId, networkId, safeNonce: String(nonce) };
      unknown.push({ type: 'unknownExecution', ...at, safeTxHash, transactionHash });
    }
  }
  return { unknown, upkeep };
}

/** Throws JournalError unless endpoints of a network have given the same answer; returns it. */
function sameOf<T>(answers: readonly T[], network: string, about: string): T | undefined {
  if (new Set(answers.map((answer) => JSON.stringify(answer))).size > 1) {
    throw new JournalError(`the signerRpcUrls of network ${network} disagree about ${about}`);
  }
  return answers[0];
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
): Promise<Found> {
  const { db, journal } = compared;
  const unknown: UnknownExecutionEntry[] = [];
  const upkeep: UpkeepEntry[] = [];
  for (const account of await allAccounts(compared)) {
    if (!account.networkIds.includes(id)) continue;
    const answers = await Promise.all(endpoints.map((chain) => unknownOf(journal, chain, account)));
    const found = sameOf(answers, name, `account ${account.accountId}`);
    unknown.push(...(found?.unknown ?? []));
    upkeep.push(...(found?.upkeep ?? []));
  }
  if (isCompleted) return { unknown, upkeep };
  const stored = await storedHashes(
    db,
    unknown.map(({ safeTxHash }) => safeTxHash),
  );
  return { unknown: unknown.filter(({ safeTxHash }) => !stored.has(safeTxHash)), upkeep: [] };
}

/**
 * Whether the keeper of an admins' Safe has executed more on a network than the journal has: then lines of it are missing. Throws
 * ChainUnavailable, and JournalError where the endpoints do not agree.
 */
export async function isKeeperAhead(
  compared: Compared,
  { id, name }: { readonly id: number; readonly name: string },
  endpoints: readonly ChainClient[],
): Promise<boolean> {
  const states = new Map((await allAccounts(compared)).map(({ state }) => [state.id, state]));
  for (const state of states.values()) {
    const safe = deriveAdminsSafe(state).keeper.address;
    const answers = await Promise.all(
      endpoints.map(async (chain) => String((await accountNonce(chain, safe as Address)) ?? 0n)),
    );
    const nonce = BigInt(sameOf(answers, name, `the keeper ${safe}`) ?? 0n);
    const known = compared.journal.upkeepsOf({ networkId: id, safe }).at(-1);
    if (nonce > (known ? BigInt(known.safeNonce) + 1n : 0n)) return true;
  }
  return false;
}
