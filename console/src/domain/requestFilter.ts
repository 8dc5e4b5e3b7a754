import type { Schema } from '@orgwallet/client';
import { startOfDay } from './auditFilter.ts';
import { networkFilter, type RequestsSearch } from './search.ts';

type TransactionType = Schema['TransactionType'];
type ProposalType = Schema['ProposalResourceType'];

/** What requests can be of. */
export const KINDS: readonly (readonly [kind: TransactionType | ProposalType, name: string])[] = [
  ['TOKEN_TRANSFER', 'Transfer'],
  ['CONTRACT_INTERACTION', 'Contract call'],
  ['members', 'Members'],
  ['groups', 'Groups'],
  ['policies', 'Policies'],
  ['accounts', 'Accounts'],
  ['admins', 'Admins'],
];

const isTransactionType = (kind: string): kind is TransactionType => kind === kind.toUpperCase();

interface Common {
  readonly text?: string;
  readonly from?: string;
  readonly to?: string;
  readonly networkId?: number;
  readonly missingMemberId?: string;
}

/** What the two lists of the service are asked for; undefined: nothing of that list is looked for. */
export interface RequestFilter {
  readonly transactions:
    | (Common & {
        readonly type?: TransactionType;
        readonly accountId?: string;
        readonly assetId?: string;
        readonly initiatorId?: string;
        readonly policyId?: string;
        readonly tag?: string;
        readonly externalId?: string;
      })
    | undefined;
  readonly proposals: (Common & { readonly resourceType?: ProposalType }) | undefined;
}

/** Without letters and digits there is nothing to look for. */
const searched = (text: string | undefined) => (text && /[\p{L}\p{N}]/u.test(text) ? { text } : {});

/** The filter of what somebody looks for. Accounts, assets, initiators, policies and references are of transactions alone. */
export function requestFilter(search: RequestsSearch): RequestFilter {
  const { text, from, to, kind, accountId, assetId, initiatorId, policyId } = search;
  const { networkId, missingMemberId, tag, externalId } = search;
  const [begin, end] = [startOfDay(from, 0), startOfDay(to, 1)];
  const common = {
    ...searched(text),
    ...(begin ? { from: begin } : {}),
    ...(end ? { to: end } : {}),
    ...networkFilter(networkId),
    ...(missingMemberId ? { missingMemberId } : {}),
  };
  const own = Object.fromEntries(
    Object.entries({ accountId, assetId, initiatorId, policyId, tag, externalId }).filter(
      ([, value]) => value,
    ),
  );
  const known = KINDS.find(([name]) => name === kind)?.[0];
  const type = known && isTransactionType(known) ? known : undefined;
  const resourceType = known && !isTransactionType(known) ? known : undefined;
  return {
    transactions: resourceType ? undefined : { ...common, ...own, ...(type ? { type } : {}) },
    proposals:
      type || Object.keys(own).length > 0
        ? undefined
        : { ...common, ...(resourceType ? { resourceType } : {}) },
  };
}

/** How many filters are set, the search apart. */
export const countFilters = ({ tab, after, text, ...filters }: RequestsSearch): number =>
  Object.keys(filters).length;
