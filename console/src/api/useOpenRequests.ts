import type { Approval } from '@orgwallet/client';
import { useQueries, useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { Viewer } from '../domain/eligibility.ts';
import { byDeadline, tabOf } from '../domain/requestTab.ts';
import { needsYou } from '../state/needsYou.ts';
import {
  groupsQuery,
  newestOpenProposalsQuery,
  newestOpenTransactionsQuery,
  policiesQuery,
  waitingProposalsQuery,
  waitingTransactionsQuery,
} from './queries.ts';
import { useSession } from './useSession.ts';

/** The newest open requests. */
interface OpenRequests {
  readonly open: readonly Approval[];
  /** Whether there are older ones besides. */
  readonly hasMore: boolean;
}

interface Reading {
  readonly data: OpenRequests | undefined;
  readonly error: unknown;
  readonly refetch: () => void;
}

type Queries =
  | readonly [typeof newestOpenProposalsQuery, typeof newestOpenTransactionsQuery]
  | readonly [ReturnType<typeof waitingProposalsQuery>, ReturnType<typeof waitingTransactionsQuery>];

/** Reads proposals and transactions, two requests in all. */
function useBoth(queries: Queries): Reading {
  return useQueries({
    queries,
    combine: ([proposals, transactions]) => ({
      data:
        proposals.data && transactions.data
          ? {
              open: [...proposals.data.data, ...transactions.data.data],
              hasMore: [proposals.data, transactions.data].some(({ pagination }) => pagination?.hasMore),
            }
          : undefined,
      error: proposals.error ?? transactions.error,
      refetch: () => {
        for (const { error, refetch } of [proposals, transactions]) if (error) void refetch();
      },
    }),
  });
}

/** Who looks at requests, once what decides what they may do has been read. */
export function useViewer(): Viewer | undefined {
  const { member, isAdmin } = useSession();
  const { data: policies } = useQuery(policiesQuery);
  const { data: groups } = useQuery(groupsQuery);
  return policies && groups ? { memberId: member.id, isAdmin, policies, groups } : undefined;
}

/** Reads the newest open requests. */
export const useOpenRequests = (): Reading =>
  useBoth([newestOpenProposalsQuery, newestOpenTransactionsQuery]);

/** Reads the newest open requests that lack the signature of the member. */
export function useWaitingRequests(): Reading {
  const { id } = useSession().member;
  return useBoth([waitingProposalsQuery(id), waitingTransactionsQuery(id)]);
}

/** Those of some requests that somebody can sign now, the ones that expire first before the others. */
export const waitingFor = (viewer: Viewer, open: readonly Approval[]): readonly Approval[] =>
  open.filter((one) => tabOf(one, viewer, Date.now()) === 'you').sort(byDeadline);

/** Keeps the count of what waits for the member up to date, for the navigation and the title of the tab. */
export function useNeedsYouCount(): void {
  const viewer = useViewer();
  const { data } = useWaitingRequests();
  const count = viewer && data ? waitingFor(viewer, data.open).length : 0;
  const text = count === 0 ? '' : `${count}${data?.hasMore ? '+' : ''}`;
  useEffect(() => needsYou.set(text), [text]);
}
