import { useQuery } from '@tanstack/react-query';
import { Outlet, useMatches } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { queryClient } from './api/client.ts';
import { sessionEnded } from './api/connection.ts';
import { useLiveUpdates } from './api/live.ts';
import { onSignInElsewhere, reportSignIn } from './api/otherTabs.ts';
import { sessionQuery } from './api/queries.ts';
import { personOf, type Session, sessions } from './api/sessions.ts';
import { SessionEnded } from './pages/sign-in/SessionEnded.tsx';
import { SignInPage } from './pages/sign-in/SignInPage.tsx';
import signInStyles from './pages/sign-in/sign-in.module.css';
import { keepDraftsOf } from './state/drafts.ts';
import { useStore } from './state/store.ts';
import { Layout } from './ui/Layout.tsx';
import { ErrorNotice, Loading } from './ui/States.tsx';

function enter(session: Session): void {
  const before = queryClient.getQueryData(sessionQuery.queryKey);
  keepDraftsOf(personOf(session));
  if (before && personOf(before) !== personOf(session)) {
    // Nothing that was read for somebody else may stay on the page.
    location.reload();
    return;
  }
  queryClient.setQueryData(sessionQuery.queryKey, session);
  sessionEnded.set(false);
  void queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' });
}

function signedIn(session: Session): void {
  reportSignIn();
  enter(session);
}

/** Another tab has signed in: every request of this one is of that session from now on. */
async function enterAsElsewhere(): Promise<void> {
  const session = await sessions.current().catch(() => null);
  if (session) enter(session);
}

/** Begins anew when another tab has signed in as somebody else: nothing of the one before may stay. */
function useSamePerson(session: Session | null | undefined): void {
  const first = useRef<string>(undefined);
  const person = session ? personOf(session) : undefined;
  useEffect(() => {
    if (person === undefined) return;
    first.current ??= person;
    if (first.current !== person) location.reload();
  }, [person]);
}

/** What is signed before there is an organization needs no session, and no service. */
export function Root() {
  // The page that is shown, not the one that is loaded next.
  const isOpen = useMatches({ select: (shown) => shown.some(({ routeId }) => routeId === '/founding') });
  return isOpen ? <Outlet /> : <SignedIn />;
}

/** Who is signed in decides what there is. A session that ends leaves its page where it is. */
function SignedIn() {
  const { data: session, error, refetch, isPending } = useQuery(sessionQuery);
  const hasEnded = useStore(sessionEnded) || session === null;
  useSamePerson(session);
  useLiveUpdates(session?.id, hasEnded);
  useEffect(() => onSignInElsewhere(() => void enterAsElsewhere()), []);

  if (isPending) {
    return (
      <main className={signInStyles.signIn}>
        <h1 className="hidden-visually">orgwallet</h1>
        <Loading what="the page" />
      </main>
    );
  }
  if (session === undefined) {
    return (
      <main className={signInStyles.signIn}>
        <h1 className="hidden-visually">orgwallet</h1>
        <ErrorNotice error={error} retry={() => void refetch()} />
      </main>
    );
  }
  if (session === null) return <SignInPage onSignedIn={signedIn} />;
  return (
    <>
      <Layout session={session}>
        <Outlet />
      </Layout>
      {hasEnded ? <SessionEnded session={session} onSignedIn={signedIn} /> : null}
    </>
  );
}
