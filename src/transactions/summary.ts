import { readCall } from '../chain/decode';
import { isRestricted } from '../chain/functions';
import { hasNestedCalls } from '../chain/nestingFunctions';
import { SHIPPED_TOKENS } from '../chain/tokenList';
import type { Db, Tx } from '../db/database';
import { readOrganizationState } from '../db/seals';
import { isSameAddress } from '../domain/address';
import { contractRules, NATIVE_CURRENCY, type Policy, tokenOfPolicy } from '../domain/policy';
import type { NestedCalls, TransactionContent } from '../domain/transactionContent';
import {
  type SummarizedCalls,
  type TokenWords,
  type TransactionFacts,
  transactionSummary,
} from '../domain/transactionText';

/** Finds what the organization has signed about a token; null where it has signed nothing. */
export type SignedTokens = (tokenAddress: string) => TokenWords | null;

/**
 * The tokens of a transaction, of the transfers that it carries too, as the organization has signed them: as the transaction's own
 * policy names one, else the oldest policy that does; else as the token list of the service has it. Null for any other token:
 * what a chain reports about it is not part of a summary.
 */
export async function readSignedTokens(
  db: Db | Tx,
  organizationId: string,
  networkId: number,
  { content, calldata }: { readonly content: TransactionContent; readonly calldata: string },
  policy: Policy | undefined,
): Promise<SignedTokens> {
  const hasToken =
    content.type === 'TOKEN_TRANSFER' ? content.tokenAddress !== NATIVE_CURRENCY : hasNestedCalls(calldata);
  if (!hasToken) return () => null;
  const state = await readOrganizationState(db, organizationId);
  const sealed = Object.values(state?.policies ?? {}).sort((one, two) => (one.id < two.id ? -1 : 1));
  const policies = [
    ...(policy ? [policy] : []),
    ...sealed.map(({ id, definition }) => ({ id, ...definition })),
  ];
  return (tokenAddress) => {
    const [named] = policies.flatMap((one) => tokenOfPolicy(one, networkId, tokenAddress) ?? []);
    const listed = SHIPPED_TOKENS.find(
      (token) => token.networkId === networkId && isSameAddress(token.address, tokenAddress),
    );
    return named ?? listed ?? null;
  };
}

/** The token of a transfer; null for anything else, and for the native currency. */
function tokenOf(content: TransactionContent, tokens: SignedTokens): TokenWords | null {
  if (content.type !== 'TOKEN_TRANSFER' || content.tokenAddress === NATIVE_CURRENCY) return null;
  return tokens(content.tokenAddress);
}

/** The call of a contract, decoded by the function signatures that the policy names for it. Null for a transfer. */
export function callOf(
  policy: Policy,
  content: TransactionContent,
  calldata: string,
): TransactionFacts['call'] {
  if (content.type !== 'CONTRACT_INTERACTION') return null;
  const rule = contractRules(policy)?.find(({ contractAddress }) =>
    isSameAddress(contractAddress, content.contractAddress),
  );
  return readCall(calldata, [...(rule?.allowedFunctions ?? [])]);
}

/** What a call carries, decoded as the call itself is. */
function innerCalls(
  policy: Policy,
  calldata: string,
  { calls, mentions }: NestedCalls,
  tokens: SignedTokens,
): SummarizedCalls {
  return {
    calls: (calls ?? []).map(({ call: { data }, content, nested }) => ({
      content,
      calldata: data,
      call: callOf(policy, content, data),
      token: tokenOf(content, tokens),
      restricted:
        content.type === 'CONTRACT_INTERACTION' &&
        content.selector !== null &&
        isRestricted(content.selector),
      nested: innerCalls(policy, data, nested, tokens),
    })),
    unread: calls === null && hasNestedCalls(calldata),
    mentions,
  };
}

/** What a summary is made from. */
interface Summarized extends Omit<TransactionFacts, 'call' | 'nested' | 'token'> {
  readonly policy: Policy;
  readonly content: TransactionContent;
  /** What it carries: of a transfer nothing is said. */
  readonly nested: NestedCalls;
  readonly tokens: SignedTokens;
}

/**
 * The summary of a transaction, which is signed. Planning stores it, and the signer makes it again from the bytes: it
 * depends on nothing but these, the records, the configured network and the token list of the service. `call`: what `callOf`
 * answers, for a caller who has it already.
 */
export function summaryOf(
  { policy, content, nested, tokens, ...facts }: Summarized,
  call = callOf(policy, content, facts.calldata),
): string {
  const { calldata } = facts;
  const isCall = content.type === 'CONTRACT_INTERACTION';
  const inner = isCall ? { nested: innerCalls(policy, calldata, nested, tokens) } : {};
  return transactionSummary(content, { ...facts, call, token: tokenOf(content, tokens), ...inner });
}
