import { useRef, useState } from 'react';
import { type Session, sessions } from '../../api/sessions.ts';
import type { FoundWallet } from '../../signing/wallet.ts';
import { Button } from '../../ui/Button.tsx';
import { ErrorNotice } from '../../ui/States.tsx';
import { WaitingForWallet, WalletChoice } from '../../ui/WalletChoice.tsx';
import walletChoiceStyles from '../../ui/wallet-choice.module.css';
import { NotAMember } from './NotAMember.tsx';
import { type OpenChoice, signIn, strangerOf } from './signIn.ts';

interface Props {
  /** Who has to sign in: absent, anybody. */
  readonly as?: Pick<Session, 'organization' | 'member'>;
  readonly onSignedIn: (session: Session) => void;
}

function OrganizationChoice({
  choice,
  onChoice,
}: {
  readonly choice: OpenChoice;
  readonly onChoice: (organizationId: string) => void;
}) {
  return (
    <div className="stack-small">
      <p>Your wallet is a member of several organizations. Choose one:</p>
      <ul className={walletChoiceStyles.choices}>
        {choice.choices.map(({ id, name, memberName }) => (
          <li key={id}>
            <Button onClick={() => onChoice(id)}>
              <span>
                <b>{name}</b>
                <span className="muted"> as {memberName}</span>
              </span>
            </Button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function SignInError({ error }: { readonly error: unknown }) {
  const stranger = strangerOf(error);
  return stranger === undefined ? <ErrorNotice error={error} /> : <NotAMember address={stranger} />;
}

/** Signing in with a wallet of the browser. */
export function SignInForm({ as, onSignedIn }: Props) {
  const [waitingFor, setWaitingFor] = useState<FoundWallet>();
  const [choice, setChoice] = useState<OpenChoice>();
  const [error, setError] = useState<unknown>();
  const controller = useRef<AbortController>(undefined);

  const attempt = async (work: () => Promise<void>) => {
    setError(undefined);
    try {
      await work();
    } catch (reason) {
      setError(reason);
      setChoice(undefined);
    } finally {
      setWaitingFor(undefined);
    }
  };
  const begin = (signed: OpenChoice, organizationId: string) =>
    attempt(async () => {
      const { message, signature } = signed;
      onSignedIn(await sessions.start({ message, signature, organizationId }));
    });
  const start = (wallet: FoundWallet) =>
    attempt(async () => {
      controller.current = new AbortController();
      setWaitingFor(wallet);
      const result = await signIn(wallet, controller.current.signal, as);
      if ('session' in result) onSignedIn(result.session);
      else setChoice(result.choice);
    });

  return (
    <div className="stack">
      {error === undefined ? null : <SignInError error={error} />}
      {choice ? (
        <OrganizationChoice choice={choice} onChoice={(id) => void begin(choice, id)} />
      ) : (
        <WalletChoice verb="Sign in" waitingFor={waitingFor} onChoice={(wallet) => void start(wallet)} />
      )}
      <WaitingForWallet wallet={waitingFor} onStop={() => controller.current?.abort()} />
    </div>
  );
}
