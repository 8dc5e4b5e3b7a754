import { Link } from '@tanstack/react-router';
import type { Session } from '../../api/sessions.ts';
import { SignInForm } from './SignInForm.tsx';
import signInStyles from './sign-in.module.css';

/** The first page of somebody who is not signed in. */
export function SignInPage({ onSignedIn }: { readonly onSignedIn: (session: Session) => void }) {
  return (
    <main className={signInStyles.signIn}>
      <title>Sign in · orgwallet</title>
      <div className="card stack">
        <h1>Sign in to orgwallet</h1>
        <p className="muted">
          Your wallet signs a message that names this site, <b>{location.host}</b>. It approves nothing and
          moves no money.
        </p>
        <SignInForm onSignedIn={onSignedIn} />
        <p className="small muted">
          A new organization: <Link to="/founding">sign its genesis</Link>
        </p>
      </div>
    </main>
  );
}
