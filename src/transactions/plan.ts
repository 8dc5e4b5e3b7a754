import { checksumAddress } from '../chain/address';
import { adminsSafeAddresses } from '../chain/adminsSafe';
import { restrictedEncodingFault } from '../chain/decode';
import { isRestricted } from '../chain/functions';
import { nestedCallsOf } from '../chain/nestedCalls';
import { ACCOUNT_CONTRACTS } from '../chain/safeAccount';
import type { NetworkConfig } from '../config';
import type { TransactionRequest } from '../contract/transactionContract';
import type { Db, Tx } from '../db/database';
import {
  type ReferencedRecords,
  type ReplacementFamily,
  readReferencedRecords,
} from '../db/referencedRecords';
import type { NewTransaction } from '../db/transactions';
import type { JsonValue } from '../domain/canonicalJson';
import { networkNotConfigured } from '../domain/network';
import { NATIVE_CURRENCY, type Policy, policyPeople, tokenOfPolicy } from '../domain/policy';
import {
  type Evaluation,
  evaluate,
  type PolicyContext,
  type PolicyTransaction,
  policyFailureText,
} from '../domain/policyEngine';
import { quoted } from '../domain/quoted';
import { accept, type FieldIssue, type Result, refuse, refuseFields } from '../domain/refusal';
import { checkTarget, readContent } from '../domain/transactionContent';
import { transactionData } from '../domain/transactionData';
import type { TokenWords } from '../domain/transactionText';
import type { ExternalReads } from '../operations/kind';
import { callOf, readSignedTokens, summaryOf } from './summary';

/** What planning reads. */
interface PlanReads {
  readonly db: Db | Tx;
  readonly networks: readonly NetworkConfig[];
  readonly readToken: ExternalReads['readToken'];
}

/** A requested transaction; to evaluate one under every policy, it names none. */
type Request = Omit<TransactionRequest, 'policyId' | 'metadata' | 'tags'> & { readonly policyId?: string };

/** A requested transaction with the records of its organization that it names. */
interface RequestedTransaction extends Pick<ReferencedRecords, 'policy' | 'members' | 'groups' | 'family'> {
  readonly account: NonNullable<ReferencedRecords['account']>;
  readonly network: NetworkConfig;
  readonly initiator: NonNullable<ReferencedRecords['initiator']>;
  /** As policies see it. */
  readonly transaction: PolicyTransaction;
}

/** The admins' Safe of an organization and its keeper; `signingKey` owns its accounts. */
function safesOf(signingKey: string | undefined, adminsId: string): readonly string[] {
  return signingKey === undefined ? [] : adminsSafeAddresses({ signingKey, admins: { id: adminsId } });
}

/** Finds what a request names. Refuses with every bad field: what does not exist, and what every chain or account rejects. */
function resolve(
  networks: readonly NetworkConfig[],
  { account, initiator, isReplaceable, adminsId, ...records }: ReferencedRecords,
  request: Request,
): Result<RequestedTransaction> {
  const { to, data, replaces, policyId } = request;
  const call = { to, value: BigInt(request.value), data };
  const network = networks.find(({ id }) => id === request.networkId);
  const content = readContent(call, checksumAddress);
  const sent = content.ok ? { content: content.value, nested: nestedCallsOf(call) } : null;
  const target = checkTarget(to, sent, {
    address: account?.address ?? '',
    contracts: ACCOUNT_CONTRACTS,
    adminsSafe: safesOf(account?.ownerAddress, adminsId),
  });
  const encodingFault = restrictedEncodingFault(data);
  const issues: FieldIssue[] = [];
  const add = (field: string, message: string) => issues.push({ field, message });
  const addRefused = (outcome: Result<unknown>) => {
    if (!outcome.ok) add(outcome.refusal.field ?? 'body', outcome.refusal.message);
  };
  if (!account) add('accountId', 'account not found in this organization');
  if (!initiator) add('initiatorWalletAddress', 'is not the wallet of a member of this organization');
  if (!network) add('networkId', networkNotConfigured(networks, request.networkId));
  else if (account && !account.networkIds.includes(network.id)) {
    add('networkId', 'the account is not deployed on this network');
  }
  if (replaces !== undefined && !isReplaceable) {
    add(
      'replaces',
      'must be a failed transaction of the account that its initiator has signed, and that is closed',
    );
  }
  addRefused(target);
  addRefused(content);
  if (encodingFault !== null) add('data', encodingFault);
  if (policyId !== undefined && !records.policy) add('policyId', 'policy not found in this organization');
  const [first, ...others] = issues;
  if (first) return refuseFields([first, ...others]);
  if (!account || !initiator || !network || !sent) throw new Error('a bad transaction was not refused');
  const ids = { networkId: network.id, accountId: account.id, initiatorId: initiator.id };
  const transaction = { ...ids, ...sent };
  return accept({ ...records, account, network, initiator, transaction });
}

/** Why a transaction cannot be replaced: another one of its family was executed or still can be. */
export function replacedText(replaced: string, live: NonNullable<ReplacementFamily['live']>): string {
  const state = live.isExecuted ? 'was executed' : 'can still be executed';
  return `transaction ${replaced} cannot be replaced: ${live.id}, which replaces or is replaced by it, ${state}`;
}

function refuseTaken(externalId: string, transactionId: string): Result<never> {
  const message = `transaction ${transactionId} has the external id ${quoted(externalId)}`;
  return { ok: false, refusal: { code: 'conflict', message, field: 'externalId', transactionId } };
}

/**
 * Reads what a request names. Refuses with validationError (every bad field), or with conflict where the transaction to
 * replace has a live replacement (both would be executed), or another transaction has its external id.
 */
export async function readRequested(
  { db, networks }: Pick<PlanReads, 'db' | 'networks'>,
  organizationId: string,
  request: Request,
): Promise<Result<RequestedTransaction>> {
  const { accountId, initiatorWalletAddress: walletAddress, policyId = '', replaces, externalId } = request;
  const named = { organizationId, accountId, walletAddress, policyId, replaces, externalId };
  const records = await readReferencedRecords(db, named);
  const requested = resolve(networks, records, request);
  if (requested.ok && externalId !== undefined && records.externalIdHolder !== null) {
    return refuseTaken(externalId, records.externalIdHolder);
  }
  const live = requested.ok ? requested.value.family?.live : undefined;
  return replaces !== undefined && live ? refuse('conflict', replacedText(replaces, live)) : requested;
}

/** The token of a transfer, or why it cannot be read. Null where no token is transferred. */
type TransactionTokenFacts =
  | null
  | { readonly ok: true; readonly token: TokenWords }
  | { readonly ok: false; readonly reason: string; readonly unavailable?: true };

/** The token of a transfer as a policy names it; null where none is transferred, undefined where its chain has to be read. */
function namedToken(
  { networkId, content }: PolicyTransaction,
  policy: Policy,
): TransactionTokenFacts | undefined {
  if (content.type !== 'TOKEN_TRANSFER' || content.tokenAddress === NATIVE_CURRENCY) return null;
  const named = tokenOfPolicy(policy, networkId, content.tokenAddress);
  return named ? { ok: true, token: named } : undefined;
}

/** The token of a transfer as its chain reports it. */
export async function readTransferredToken(
  { readToken }: Pick<PlanReads, 'readToken'>,
  { networkId, content }: PolicyTransaction,
): Promise<TransactionTokenFacts> {
  if (content.type !== 'TOKEN_TRANSFER' || content.tokenAddress === NATIVE_CURRENCY) return null;
  return readToken(networkId, content.tokenAddress);
}

/**
 * Whether a policy permits a requested transaction. `read`: its token as its chain reports it, which counts where the policy does
 * not name it. `usage` null: its budget is not checked.
 */
export function evaluateRequested(
  { account, network, transaction }: Omit<RequestedTransaction, 'members' | 'groups'>,
  policy: Policy,
  {
    read,
    ...now
  }: Pick<PolicyContext, 'members' | 'groups' | 'usage'> & { readonly read: TransactionTokenFacts },
): Evaluation {
  const { nativeAsset } = network;
  const token = namedToken(transaction, policy) ?? read;
  const tokenFault = token && !token.ok ? token.reason : null;
  return evaluate(policy, transaction, { ...now, account, isRestricted, nativeAsset, tokenFault });
}

/** A requested transaction that its policy permits. */
interface PermittedTransaction extends RequestedTransaction {
  readonly policy: Policy;
  /** The token that it transfers; null where it transfers none. */
  readonly token: TokenWords | null;
}

/**
 * Checks a request against its policy and the current state. The budget is not checked: only execution spends it. A chain is
 * read only for a token that the policy does not name. Refuses as `readRequested` does, with forbidden and every condition that
 * is not met, and with internalError while that chain is unavailable.
 */
export async function permitTransaction(
  reads: PlanReads,
  organizationId: string,
  request: TransactionRequest,
): Promise<Result<PermittedTransaction>> {
  const requested = await readRequested(reads, organizationId, request);
  if (!requested.ok) return requested;
  const { policy, members, groups, transaction } = requested.value;
  if (!policy) throw new Error('an unknown policy was not refused');
  const known = namedToken(transaction, policy);
  const token = known === undefined ? await readTransferredToken(reads, transaction) : known;
  if (token && !token.ok && token.unavailable) {
    return refuse('internalError', `the token is unavailable: ${token.reason}; send the same request again`);
  }
  const now = { members, groups, read: token, usage: null };
  const { allowed, failures } = evaluateRequested(requested.value, policy, now);
  if (allowed) return accept({ ...requested.value, policy, token: token?.ok ? token.token : null });
  const message = `not permitted by policy: ${policyFailureText(failures)}`;
  return { ok: false, refusal: { code: 'forbidden', message, failures } };
}

/** The transaction that a request becomes, without its id, its expiry and its sender. */
export interface PlannedTransaction {
  readonly record: Omit<NewTransaction, 'id'>;
  /** Lines in plain words. They are signed. */
  readonly summary: string;
  /** Its subjects; their changes are noted on it. */
  readonly mentions: readonly string[];
  readonly permitted: PermittedTransaction;
}

/** Plans a transaction that its policy permits: with the words that are signed. Refuses as `permitTransaction` does. */
export async function planTransaction(
  reads: PlanReads,
  organizationId: string,
  request: TransactionRequest,
): Promise<Result<PlannedTransaction>> {
  const permitted = await permitTransaction(reads, organizationId, request);
  if (!permitted.ok) return permitted;
  const { account, network, initiator, policy, token, transaction } = permitted.value;
  const { content, nested } = transaction;
  const { data: calldata, to, description, externalId = null, metadata, tags } = request;
  const facts = { network, account, calldata, replaces: request.replaces ?? null };
  const call = callOf(policy, content, calldata);
  const said = { content, calldata };
  const tokens = await readSignedTokens(reads.db, organizationId, network.id, said, policy);
  const people = policyPeople([policy]);
  return accept({
    record: {
      accountId: account.id,
      networkId: network.id,
      policyId: policy.id,
      initiatorId: initiator.id,
      description,
      type: content.type,
      to,
      value: BigInt(request.value),
      calldata,
      replaces: facts.replaces,
      references: { externalId, metadata, tags },
      content: transactionData(content, { ...facts, token, call }) as unknown as JsonValue,
    },
    summary: summaryOf({ ...facts, policy, content, nested, tokens }, call),
    mentions: [
      ...new Set([
        `account:${account.id}`,
        `policy:${policy.id}`,
        `member:${initiator.id}`,
        `network:${network.id}`,
        ...people.memberIds.map((id) => `member:${id}`),
        ...people.groupIds.map((id) => `group:${id}`),
      ]),
    ],
    permitted: permitted.value,
  });
}
