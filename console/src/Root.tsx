import { useQuery } from '@tanstack/react-query';
import { Outlet } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { queryClient } from './api.ts';
import { sessionOver } from './connection.ts';
import { forgetDrafts } from './drafts.ts';
import { useLiveUpdates } from './live.ts';
import { SessionOver } from './pages/sign-in/SessionOver.tsx';
import { SignInPage } from './pages/sign-in/SignInPage.tsx';
import { sessionQuery } from './queries.ts';
import type { Session } from './session.ts';
import { useStore } from './store.ts';
import { Layout } from './ui/Layout.tsx';
import { ErrorNotice, Loading } from './ui/States.tsx';

const LAST_MEMBER = 'orgwallet-member';

function enter(session: Session): void {
  const before = queryClient.getQueryData(sessionQuery.queryKey);
  const member = `${session.organization.id}/${session.member.id}`;
  if (localStorage.getItem(LAST_MEMBER) !== member) forgetDrafts();
  localStorage.setItem(LAST_MEMBER, member);
  if (before && `${before.organization.id}/${before.member.id}` !== member) {
    // Nothing that was read for somebody else may stay on the page.
    location.reload();
    return;
  }
  queryClient.setQueryData(sessionQuery.queryKey, session);
  sessionOver.set(false);
  void queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' });
}

/** Begins anew when another tab has signed in as somebody else: nothing of the one before may stay. */
function useSamePerson(session: Session | null | undefined): void {
  const first = useRef<string>(undefined);
  const person = session ? `${session.organization.id}/${session.member.id}` : undefined;
  useEffect(() => {
    if (person === undefined) return;
    first.current ??= person;
    if (first.current !== person) location.reload();
  }, [person]);
}

/** Who is signed in decides what there is. A session that ends leaves its page where it is. */
export function Root() {
  const { data: session, error, refetch, isPending } = useQuery(sessionQuery);
  const isOver = useStore(sessionOver) || session === null;
  useSamePerson(session);
  useLiveUpdates(session?.id, isOver);

  if (isPending) {
    return (
      <main className="sign-in">
        <h1 className="hidden-visually">orgwallet</h1>
        <Loading what="the page" />
      </main>
    );
  }
  if (session === undefined) {
    return (
      <main className="sign-in">
        <h1 className="hidden-visually">orgwallet</h1>
        <ErrorNotice error={error} retry={() => void refetch()} />
      </main>
    );
  }
  if (session === null) return <SignInPage onSignedIn={enter} />;
  return (
    <>
      <Layout session={session}>
        <Outlet />
      </Layout>
      {isOver ? <SessionOver session={session} onSignedIn={enter} /> : null}
    </>
  );
}
