import { checksumAddress } from '../chain/address';
import { carriedCalls } from '../chain/carriedCalls';
import { restrictedEncodingFault } from '../chain/decode';
import { isRestricted } from '../chain/functions';
import { ACCOUNT_CONTRACTS } from '../chain/safeAccount';
import type { NetworkConfig } from '../config';
import type { NewTransaction as TransactionRequest } from '../contract/transactions';
import type { ReferencedRecords, ReplacementFamily } from '../db/referencedRecords';
import type { NewTransaction } from '../db/transactions';
import type { JsonValue } from '../domain/canonicalJson';
import { networkNotConfigured } from '../domain/network';
import { NATIVE_CURRENCY, type Policy, policyPeople, tokenOfPolicy } from '../domain/policy';
import { type ConditionFailure, evaluate, failureText, type PolicyTransaction } from '../domain/policyEngine';
import { accept, type Outcome, type Refusal, refuse } from '../domain/refusal';
import { checkTarget, readContent, type TransactionContent } from '../domain/transactionContent';
import { transactionData } from '../domain/transactionData';
import type { TokenWords } from '../domain/transactionText';
import type { Outside } from '../operations/kind';
import { callOf, type SignedTokens, summaryOf } from './summary';

/** An invalid field of a request, and why. */
interface RequestIssue {
  readonly field: string;
  readonly message: string;
}

/** The records of the organization that a request names. */
export interface ResolvedTransaction {
  readonly account: NonNullable<ReferencedRecords['account']>;
  readonly initiator: NonNullable<ReferencedRecords['initiator']>;
  readonly network: NetworkConfig;
  readonly content: TransactionContent;
}

/** A requested transaction, without the policy that permits it. */
export type TransactionContentRequest = Omit<TransactionRequest, 'policyId'>;

/**
 * Finds the records that a request names, or every issue: records that do not exist, and what every chain or
 * account rejects.
 */
export function resolveTransaction(
  networks: readonly NetworkConfig[],
  { account, initiator, isReplaceable }: Pick<ReferencedRecords, 'account' | 'initiator' | 'isReplaceable'>,
  request: TransactionContentRequest,
): { ok: true; value: ResolvedTransaction } | { ok: false; issues: [RequestIssue, ...RequestIssue[]] } {
  const network = networks.find(({ id }) => id === request.networkId);
  const content = readContent(
    { to: request.to, value: BigInt(request.value), data: request.data },
    checksumAddress,
  );
  const target = checkTarget(
    { to: request.to, content: content.ok ? content.value : null },
    { address: account?.address ?? '', contracts: ACCOUNT_CONTRACTS },
  );
  const encodingFault = restrictedEncodingFault(request.data);
  const issues: RequestIssue[] = [];
  const add = (field: string, message: string) => issues.push({ field, message });
  const addRefused = (outcome: Outcome<unknown>) => {
    if (!outcome.ok) add(outcome.refusal.field ?? 'body', outcome.refusal.message);
  };
  if (!account) add('accountId', 'account not found in this organization');
  if (!initiator) add('initiatorWalletAddress', 'is not the wallet of a member of this organization');
  if (!network) add('networkId', networkNotConfigured(networks, request.networkId));
  else if (account && !account.networkIds.includes(network.id)) {
    add('networkId', 'the account is not deployed on this network');
  }
  if (request.replaces !== undefined && !isReplaceable) {
    add(
      'replaces',
      'must be a failed transaction of the account that its initiator has signed, and that is closed',
    );
  }
  addRefused(target);
  addRefused(content);
  if (encodingFault !== null) add('data', encodingFault);
  const [first, ...others] = issues;
  if (first) return { ok: false, issues: [first, ...others] };
  if (!account || !initiator || !network || !content.ok) throw new Error('a bad transaction was not refused');
  return { ok: true, value: { account, initiator, network, content: content.value } };
}

/** Why a transaction cannot be replaced: another one of its family was executed or still can be. */
export function replacedText(replaced: string, live: NonNullable<ReplacementFamily['live']>): string {
  const state = live.isExecuted ? 'was executed' : 'can still be executed';
  return `transaction ${replaced} cannot be replaced: ${live.id}, which replaces or is replaced by it, ${state}`;
}

/** Refuses to replace a transaction twice: both replacements would be executed. */
export function checkReplacement(
  { family }: Pick<ReferencedRecords, 'family'>,
  { replaces }: Pick<TransactionRequest, 'replaces'>,
): Outcome<null> {
  if (replaces === undefined || !family?.live) return accept(null);
  return refuse('conflict', replacedText(replaces, family.live));
}

/** The token of a transfer, or why it cannot be read. Null where no token is transferred. */
type TokenFacts =
  | null
  | { readonly ok: true; readonly token: TokenWords }
  | { readonly ok: false; readonly reason: string; readonly unavailable?: true };

/** The token of a transfer, as the policy that names it has read it, else as its chain reports it. */
export async function readTransferredToken(
  readToken: Outside['readToken'],
  networkId: number,
  content: TransactionContent,
  policy: Policy | undefined,
): Promise<TokenFacts> {
  const named = namedToken(networkId, content, policy);
  if (named !== undefined || content.type !== 'TOKEN_TRANSFER') return named ?? null;
  return readToken(networkId, content.tokenAddress);
}

/** The same without a chain; undefined where one has to be read. */
export function namedToken(
  networkId: number,
  content: TransactionContent,
  policy: Policy | undefined,
): TokenFacts | undefined {
  if (content.type !== 'TOKEN_TRANSFER' || content.tokenAddress === NATIVE_CURRENCY) return null;
  const named = policy && tokenOfPolicy(policy, networkId, content.tokenAddress);
  return named ? { ok: true, token: named } : undefined;
}

function notCovered(failures: readonly ConditionFailure[]): Refusal {
  return {
    code: 'forbidden',
    message: `not permitted by policy: ${failureText(failures)}`,
    failures,
  };
}

/** The transaction that a request becomes, without its id, its expiry and its sender. */
export interface PlannedTransaction extends Omit<NewTransaction, 'id'> {
  /** Lines in plain words. They are signed. */
  readonly summary: string;
  /** Its subjects; their changes are noted on it. */
  readonly names: readonly string[];
}

/** The token of a transfer as it was read, which is shown, and the tokens that the organization has signed. */
interface PlannedTokens {
  readonly read: TokenFacts;
  readonly signed: SignedTokens;
}

/**
 * Checks a request against its policy and the current state, and describes it. The budget is not checked: only
 * execution spends it. Refuses with validationError (an unknown policy), conflict (the transaction to replace has a live
 * replacement) or forbidden, with every condition not met.
 */
export function planTransaction(
  records: ReferencedRecords,
  { account, initiator, network, content }: ResolvedTransaction,
  request: TransactionRequest,
  tokens: PlannedTokens,
): Outcome<PlannedTransaction> {
  const { policy, members, groups } = records;
  if (!policy) return refuse('validationError', 'policy not found in this organization', 'policyId');
  const replacement = checkReplacement(records, request);
  if (!replacement.ok) return replacement;
  const transaction: PolicyTransaction = {
    networkId: network.id,
    accountId: account.id,
    initiatorId: initiator.id,
    content,
    carried: carriedCalls({ to: request.to, value: BigInt(request.value), data: request.data }),
  };
  const { read: token, signed } = tokens;
  const tokenFault = token && !token.ok ? token.reason : null;
  const { nativeAsset } = network;
  const context = { account, members, groups, isRestricted, nativeAsset, tokenFault, usage: null };
  const { allowed, failures } = evaluate(policy, transaction, context);
  if (!allowed) return { ok: false, refusal: notCovered(failures) };
  const facts = { network, account, calldata: request.data, replaces: request.replaces ?? null };
  const shown = {
    ...facts,
    token: token?.ok ? token.token : null,
    call: callOf(policy, content, request.data),
  };
  const people = policyPeople([policy]);
  return accept({
    accountId: account.id,
    networkId: network.id,
    policyId: policy.id,
    initiatorId: initiator.id,
    description: request.description,
    type: content.type,
    to: request.to,
    value: BigInt(request.value),
    calldata: request.data,
    replaces: facts.replaces,
    content: transactionData(content, shown) as unknown as JsonValue,
    summary: summaryOf(
      { ...facts, policy, content, carried: transaction.carried, tokens: signed },
      shown.call,
    ),
    names: [
      ...new Set([
        `account:${account.id}`,
        `policy:${policy.id}`,
        `member:${initiator.id}`,
        `network:${network.id}`,
        ...people.memberIds.map((id) => `member:${id}`),
        ...people.groupIds.map((id) => `group:${id}`),
      ]),
    ],
  });
}
