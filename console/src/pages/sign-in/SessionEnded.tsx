import type { Session } from '../../api/sessions.ts';
import { Dialog } from '../../ui/Dialog.tsx';
import { SignInForm } from './SignInForm.tsx';

/** Signs in again over the page on which the session has ended: what was typed stays. */
export function SessionEnded({
  session,
  onSignedIn,
}: {
  readonly session: Session;
  readonly onSignedIn: (session: Session) => void;
}) {
  const { member, organization } = session;
  return (
    <Dialog open title="Your session has ended">
      <p>
        Sign in again as <b>{member.name}</b> of <b>{organization.name}</b> to continue. What you typed is
        kept.
      </p>
      <SignInForm as={session} onSignedIn={onSignedIn} />
      <p className="small">
        <a href="/">Sign in as another member</a>
      </p>
    </Dialog>
  );
}
