import type { Refusal } from './refusal';

/**
 * What an API key can be for. `request`: transactions and registrations; `propose`: organization operations, and the address book;
 * `webhooks`: where events are sent to.
 */
export const SCOPES = ['read', 'request', 'propose', 'webhooks'] as const;

/** What an endpoint needs of an API key. */
export type Scope = (typeof SCOPES)[number];

/** What an API key may do. Null: without that limit. */
export interface KeyRights {
  readonly scopes: readonly Scope[];
  /** Chain ids of the networks whose transactions it may request, sign and execute. */
  readonly networkIds: readonly number[] | null;
  /** The accounts whose transactions it may request, sign and execute. */
  readonly accountIds: readonly string[] | null;
  /** Where its requests may come from (CIDR). */
  readonly addressRanges: readonly string[] | null;
}

/** What a key may do that an operator has issued. */
export const ALL_RIGHTS: KeyRights = {
  scopes: SCOPES,
  networkIds: null,
  accountIds: null,
  addressRanges: null,
};

/** The refusal of what a key lacks the scope for. */
export function lacksScope(scope: Scope): Refusal {
  return { code: 'forbidden', message: `the API key lacks the scope "${scope}"` };
}

/** Why a key may not request, sign or execute a transaction; undefined where it may. */
export function beyondLimits(
  { accountIds, networkIds }: KeyRights,
  { accountId, networkId }: { readonly accountId: string; readonly networkId: number },
): Refusal | undefined {
  if (accountIds && !accountIds.includes(accountId)) {
    return { code: 'forbidden', message: `the API key is not for account ${accountId}` };
  }
  if (networkIds && !networkIds.includes(networkId)) {
    return { code: 'forbidden', message: `the API key is not for network ${networkId}` };
  }
  return undefined;
}
