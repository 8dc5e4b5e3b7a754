import type { Approval, Schema, Transaction } from '@orgwallet/client';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { withNativeDecimals } from '../domain/assets.ts';
import { type AuditEntries, withNewest, withOlder } from '../domain/auditEntries.ts';
import type { AuditFilter } from '../domain/auditFilter.ts';
import { keepDraftsOf } from '../state/drafts.ts';
import { orgwallet, queryClient, READ_TIMEOUT_MS } from './client.ts';
import { sessionEnded } from './connection.ts';
import { personOf, type Session, sessions } from './sessions.ts';

const timed = (signal: AbortSignal) => ({ signal, timeoutMs: READ_TIMEOUT_MS });

const SESSION_KEY = ['session'] as const;

/** Who is signed in; null: nobody yet. A session that has ended stays what the page is shown with. */
export const sessionQuery = queryOptions({
  queryKey: SESSION_KEY,
  queryFn: async (): Promise<Session | null> => {
    const found = await sessions.current();
    if (found) keepDraftsOf(personOf(found));
    const before = queryClient.getQueryData<Session>(SESSION_KEY) ?? null;
    if (!found && before) sessionEnded.set(true);
    return found ?? before;
  },
  staleTime: Number.POSITIVE_INFINITY,
  // Another tab may have signed out, or in as somebody else.
  refetchOnWindowFocus: 'always',
});
export const sessionsQuery = queryOptions({ queryKey: ['sessions'], queryFn: sessions.list });

export const membersQuery = queryOptions({
  queryKey: ['members'],
  queryFn: ({ signal }) => orgwallet.listMembers({}, timed(signal)),
});
export const groupsQuery = queryOptions({
  queryKey: ['groups'],
  queryFn: ({ signal }) => orgwallet.listGroups({}, timed(signal)),
});
export const policiesQuery = queryOptions({
  queryKey: ['policies'],
  queryFn: ({ signal }) => orgwallet.listPolicies({}, timed(signal)),
});
export const accountsQuery = queryOptions({
  queryKey: ['accounts'],
  queryFn: ({ signal }) => orgwallet.listAccounts({}, timed(signal)),
});
export const adminsQuery = queryOptions({
  queryKey: ['admins'],
  queryFn: ({ signal }) => orgwallet.listAdmins(undefined, timed(signal)),
});
export const networksQuery = queryOptions({
  queryKey: ['networks'],
  queryFn: async ({ signal }) => withNativeDecimals(await orgwallet.listNetworks(undefined, timed(signal))),
  staleTime: Number.POSITIVE_INFINITY,
});
/** The parts of the service: read again from time to time, with the balances. */
export const partsQuery = queryOptions({
  queryKey: ['parts'],
  queryFn: ({ signal }) => orgwallet.listParts(undefined, timed(signal)),
});
/** The names of addresses, all of them: pages show them beside every address. */
export const addressBookQuery = queryOptions({
  queryKey: ['addressBook'],
  queryFn: ({ signal }) => orgwallet.listAddressBook({}, timed(signal)),
});
/** The balances of an account on its networks. */
export const balancesQuery = (accountId: string) =>
  queryOptions({
    queryKey: ['balances', accountId],
    queryFn: ({ signal }) => orgwallet.getAccountBalances(accountId, timed(signal)),
  });

/** What all accounts hold together. */
export const totalsQuery = queryOptions({
  queryKey: ['balances', 'all'],
  queryFn: ({ signal }) => orgwallet.getTotals(undefined, timed(signal)),
});

/** The newest open requests: what waits for somebody is counted in them. */
const NEWEST_OPEN = 100;
const LATEST = 12;

export const newestOpenProposalsQuery = queryOptions({
  queryKey: ['proposals', 'newestOpen'],
  queryFn: ({ signal }) =>
    orgwallet.page('listProposals', { status: 'open', limit: NEWEST_OPEN }, timed(signal)),
});
export const newestOpenTransactionsQuery = queryOptions({
  queryKey: ['transactions', 'newestOpen'],
  queryFn: ({ signal }) =>
    orgwallet.page('listTransactions', { status: 'queued', limit: NEWEST_OPEN }, timed(signal)),
});

/** The newest proposals that lack the signature of a member. */
export const waitingProposalsQuery = (missingMemberId: string) =>
  queryOptions({
    queryKey: ['proposals', 'waiting', missingMemberId],
    queryFn: ({ signal }) =>
      orgwallet.page('listProposals', { missingMemberId, limit: NEWEST_OPEN }, timed(signal)),
  });

/** The newest transactions that lack the signature of a member. */
export const waitingTransactionsQuery = (missingMemberId: string) =>
  queryOptions({
    queryKey: ['transactions', 'waiting', missingMemberId],
    queryFn: ({ signal }) =>
      orgwallet.page('listTransactions', { missingMemberId, limit: NEWEST_OPEN }, timed(signal)),
  });

/** The last requests of both kinds, in whatever state. */
export const latestProposalsQuery = queryOptions({
  queryKey: ['proposals', 'latest'],
  queryFn: async ({ signal }) =>
    (await orgwallet.page('listProposals', { limit: LATEST }, timed(signal))).data,
});
export const latestTransactionsQuery = queryOptions({
  queryKey: ['transactions', 'latest'],
  queryFn: async ({ signal }) =>
    (await orgwallet.page('listTransactions', { limit: LATEST }, timed(signal))).data,
});

/** What is read of the last payments at most, for a chart. */
const CHARTED = 500;

/** The newest executed transactions that were asked for since then (ISO 8601), newest first; the first `CHARTED` of them. */
export const paidSinceQuery = (from: string) =>
  queryOptions({
    queryKey: ['transactions', 'paidSince', from],
    queryFn: async ({ signal }) => {
      const paid: Transaction[] = [];
      for await (const one of orgwallet.each(
        'listTransactions',
        { status: 'executed', from, limit: 100 },
        { signal },
      )) {
        paid.push(one);
        if (paid.length === CHARTED) break;
      }
      return { paid, isWhole: paid.length < CHARTED };
    },
  });

/** Whether one of the last decided transactions was executed. */
export const hasPaidQuery = queryOptions({
  queryKey: ['transactions', 'hasPaid'],
  queryFn: async ({ signal }) => {
    const { data } = await orgwallet.page(
      'listTransactions',
      { status: 'executed', limit: LATEST },
      timed(signal),
    );
    return data.some(({ executionStatus }) => executionStatus === 'completed');
  },
});

/** What the organization knows of an address, with what was executed before a time, or until now. */
export const recipientQuery = (address: string, before?: string) =>
  queryOptions({
    queryKey: ['recipient', address.toLowerCase(), before ?? null],
    queryFn: ({ signal }) =>
      orgwallet.getRecipient(address, before === undefined ? {} : { before }, timed(signal)),
  });

/** What has happened to a request, newest first. */
export const eventsQuery = (id: string) =>
  queryOptions({
    queryKey: ['audit', 'of', id],
    queryFn: async ({ signal }) =>
      (await orgwallet.page('listAuditLogs', { resourceId: id, limit: 100 }, timed(signal))).data,
  });

/** The transactions of the organization or of an account, 50 at a time. */
export const transactionPagesQuery = (filter: {
  accountId?: string;
  networkId?: number;
  status?: Schema['TransactionFilter'];
  type?: Schema['TransactionType'];
}) =>
  infiniteQueryOptions({
    queryKey: ['transactions', 'pages', filter],
    queryFn: ({ signal, pageParam }) =>
      orgwallet.page(
        'listTransactions',
        pageParam ? { cursor: pageParam, limit: 50 } : { ...filter, limit: 50 },
        timed(signal),
      ),
    initialPageParam: '',
    getNextPageParam: ({ pagination }) => (pagination?.hasMore ? pagination.cursor : undefined),
  });

/** What relayers have paid, 50 rows at a time. */
export const feesQuery = (filter: { accountId?: string; policyId?: string; networkId?: number }) =>
  infiniteQueryOptions({
    queryKey: ['fees', filter],
    queryFn: ({ signal, pageParam }) =>
      orgwallet.page(
        'listFees',
        pageParam ? { cursor: pageParam, limit: 50 } : { ...filter, limit: 50 },
        timed(signal),
      ),
    initialPageParam: '',
    getNextPageParam: ({ pagination }) => (pagination?.hasMore ? pagination.cursor : undefined),
  });

const AUDIT_PAGE = 50;

async function auditPage(
  asked: AuditFilter | { readonly cursor: string },
  options: { readonly signal?: AbortSignal; readonly timeoutMs: number },
): Promise<AuditEntries<Schema['AuditLogEntry']>> {
  const { data, pagination } = await orgwallet.page(
    'listAuditLogs',
    { ...asked, limit: AUDIT_PAGE },
    options,
  );
  return { entries: data, cursor: pagination?.hasMore ? pagination.cursor : undefined };
}

/** The last signatures that are looked through for those of each member. */
const LAST_SIGNATURES = 100;

/** When each member last signed, of the last signatures of both kinds. */
export const lastSignaturesQuery = queryOptions({
  queryKey: ['audit', 'lastSignatures'],
  queryFn: async ({ signal }): Promise<ReadonlyMap<string, string>> => {
    const pages = await Promise.all(
      ['proposal.signed', 'transaction.signed'].map((action) =>
        orgwallet.page('listAuditLogs', { action, limit: LAST_SIGNATURES }, timed(signal)),
      ),
    );
    const last = new Map<string, string>();
    for (const { actor, createdAt } of pages.flatMap(({ data }) => data)) {
      if (createdAt > (last.get(actor.id) ?? '')) last.set(actor.id, createdAt);
    }
    return last;
  },
});

/** Entries of the audit log, newest first. A change reads the newest page again, and no other. */
export const auditQuery = (filter: AuditFilter) => {
  const options = queryOptions({
    queryKey: ['audit', 'entries', filter],
    queryFn: async ({ signal }): Promise<AuditEntries<Schema['AuditLogEntry']>> => {
      const newest = await auditPage(filter, timed(signal));
      return withNewest(newest, queryClient.getQueryData(options.queryKey));
    },
    // Entries stay the same objects: what was checked and drawn of them is not checked and drawn again.
    structuralSharing: false,
  });
  return options;
};

/** Reads the page of entries before those that have been read. */
export async function readOlderEntries(filter: AuditFilter): Promise<void> {
  const { queryKey } = auditQuery(filter);
  const cursor = queryClient.getQueryData(queryKey)?.cursor;
  if (cursor === undefined) return;
  const older = await auditPage({ cursor }, { timeoutMs: READ_TIMEOUT_MS });
  queryClient.setQueryData(queryKey, (now) => now && withOlder(now, older, cursor));
}

/** A proposal or transaction, by its id. */
export const approvalQuery = (id: string) =>
  queryOptions({
    queryKey: ['approval', id],
    // One that was read says which kind it is of.
    queryFn: ({ signal }): Promise<Approval> =>
      orgwallet.read(queryClient.getQueryData<Approval>(['approval', id]) ?? id, timed(signal)),
  });

/** Whether the organization is frozen: no transaction is signed until an operator ends it. */
export const frozenQuery = queryOptions({
  queryKey: ['audit', 'frozen'],
  queryFn: async ({ signal }) => {
    const [frozen, unfrozen] = await Promise.all(
      ['organization.frozen', 'organization.unfrozen'].map(async (action) => {
        const { data } = await orgwallet.page('listAuditLogs', { action, limit: 1 }, timed(signal));
        return data[0]?.createdAt ?? '';
      }),
    );
    return (frozen ?? '') > (unfrozen ?? '') ? (frozen ?? null) : null;
  },
});

/** A dry run of a transaction under every policy. */
export const evaluationQuery = (asked: Schema['EvaluatePoliciesRequest']) =>
  queryOptions({
    queryKey: ['evaluation', asked],
    queryFn: ({ signal }) => orgwallet.evaluatePolicies(asked, timed(signal)),
  });

/** What the admins would sign of these policies, and what it would have permitted. */
export const policyPreviewQuery = (body: Schema['PreviewPoliciesRequest']) =>
  queryOptions({
    queryKey: ['policies', 'preview', body],
    queryFn: ({ signal }) => orgwallet.previewPolicies(body, timed(signal)),
    retry: false,
  });

/** What an open proposal of policies would have permitted. */
export const policyImpactQuery = (proposalId: string) =>
  queryOptions({
    queryKey: ['policies', 'impact', proposalId],
    queryFn: ({ signal }) => orgwallet.getPolicyImpact(proposalId, timed(signal)),
  });

/** What the call of an open transaction would do now; read again with every change of a transaction. */
export const simulationQuery = (id: string) =>
  queryOptions({
    queryKey: ['transactions', 'simulation', id],
    queryFn: ({ signal }) => orgwallet.simulateTransaction(id, timed(signal)),
  });
