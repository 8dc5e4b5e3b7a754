import { ApiError } from '@orgwallet/client';
import { Link } from '@tanstack/react-router';
import {
  Bell,
  BookUser,
  FileCode,
  FilePen,
  History,
  House,
  Inbox,
  Key,
  LifeBuoy,
  Menu,
  ScrollText,
  Send,
  ShieldCheck,
  User,
  Users,
  Wallet,
  X,
} from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { unreachable } from '../api/connection.ts';
import { type Session, sessions } from '../api/sessions.ts';
import { useNeedsYouCount } from '../api/useOpenRequests.ts';
import { announcement } from '../state/announcement.ts';
import { forgetDrafts } from '../state/drafts.ts';
import { needsYou } from '../state/needsYou.ts';
import { useStore } from '../state/store.ts';
import { Button } from './Button.tsx';
import { Footer } from './Footer.tsx';
import { FrozenNotice } from './FrozenNotice.tsx';
import styles from './layout.module.css';
import { Notice } from './Notice.tsx';
import { ErrorNotice } from './States.tsx';

const PLACES = [
  {
    title: 'Overview',
    places: [
      { to: '/', name: 'Home', Icon: House },
      { to: '/requests', name: 'Requests', Icon: Inbox },
    ],
  },
  {
    title: 'New',
    places: [
      { to: '/new/transfer', name: 'Transfer', Icon: Send },
      { to: '/new/call', name: 'Contract interaction', Icon: FileCode },
      { to: '/new/proposal', name: 'Proposal', Icon: FilePen },
    ],
  },
  {
    title: 'Organization',
    places: [
      { to: '/accounts', name: 'Accounts', Icon: Wallet },
      { to: '/policies', name: 'Policies', Icon: ScrollText },
      { to: '/members', name: 'Members', Icon: User },
      { to: '/groups', name: 'Groups', Icon: Users },
      { to: '/admins', name: 'Admins', Icon: ShieldCheck },
      { to: '/address-book', name: 'Address book', Icon: BookUser },
      { to: '/keys', name: 'API keys', Icon: Key },
      { to: '/notifications', name: 'Notifications', Icon: Bell },
      { to: '/audit', name: 'Audit log', Icon: History },
      { to: '/rescue', name: 'Without this service', Icon: LifeBuoy },
    ],
  },
] as const;

/** Ends the session. One that has ended already counts as ended. */
async function signOut(): Promise<void> {
  try {
    await sessions.end();
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 401)) throw error;
  }
  forgetDrafts();
  location.assign('/');
}

function SignOut() {
  const [error, setError] = useState<unknown>();
  return (
    <>
      <Button look="quiet" onClick={() => void signOut().catch(setError)}>
        Sign out
      </Button>
      {error === undefined ? null : <ErrorNotice error={error} />}
    </>
  );
}

function NeedsYou() {
  const count = useStore(needsYou);
  if (count === '') return null;
  return (
    <>
      {' '}
      <span className={styles.placesCount}>{count}</span>
      <span className="hidden-visually"> need you</span>
    </>
  );
}

/** That something needs the member, where the count in the menu is not shown. */
function NeedsYouMark() {
  const count = useStore(needsYou);
  if (count === '') return null;
  return (
    <span className={styles.mark}>
      <span className="hidden-visually">{count} need you, </span>
    </span>
  );
}

function Navigation({ onChoice }: { readonly onChoice: () => void }) {
  return (
    <nav className={styles.places} aria-label="Main">
      {PLACES.map(({ title, places }) => (
        <div key={title}>
          <p className={styles.placesTitle}>{title}</p>
          <ul>
            {places.map(({ to, name, Icon }) => (
              <li key={to}>
                <Link to={to} onClick={onChoice} activeOptions={{ exact: to === '/' }}>
                  <Icon className="icon" aria-hidden="true" />
                  {name}
                  {to === '/requests' ? <NeedsYou /> : null}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}

/** The frame of all pages: where one is, who one is, and where one can go. */
export function Layout({ session, children }: { readonly session: Session; readonly children: ReactNode }) {
  const [isMenuOpen, setMenuOpen] = useState(false);
  const isUnreachable = useStore(unreachable);
  const said = useStore(announcement);
  useNeedsYouCount();
  const { organization, member, isAdmin } = session;
  return (
    <div className={styles.layout}>
      <a className={styles.skip} href="#main">
        Skip to the content
      </a>
      <header className={styles.top}>
        <p className={styles.organization}>
          <Link to="/">{organization.name}</Link>
        </p>
        <Button
          className={styles.menuButton}
          aria-expanded={isMenuOpen}
          aria-controls="menu"
          onClick={() => setMenuOpen(!isMenuOpen)}
        >
          {isMenuOpen ? (
            <X className="icon" aria-hidden="true" />
          ) : (
            <>
              <Menu className="icon" aria-hidden="true" />
              <NeedsYouMark />
            </>
          )}
          Menu
        </Button>
        <div id="menu" className={styles.menu} data-open={isMenuOpen || undefined}>
          <Navigation onChoice={() => setMenuOpen(false)} />
          <div className={styles.person}>
            <p>
              <Link to="/you" onClick={() => setMenuOpen(false)}>
                {member.name}
              </Link>
              {isAdmin ? <span className="muted"> · admin</span> : null}
            </p>
            <code className="small muted" title={member.walletAddress}>
              {member.walletAddress.slice(0, 10)}…{member.walletAddress.slice(-6)}
            </code>
            <SignOut />
          </div>
        </div>
      </header>
      <div className={styles.content}>
        <main id="main" tabIndex={-1}>
          <div aria-live="polite">
            {isUnreachable ? (
              <Notice tone="warning" title="The service is unavailable">
                <p>What you see may be out of date. The page reconnects by itself; what you typed is kept.</p>
              </Notice>
            ) : null}
          </div>
          <p role="status" className={styles.toast}>
            {said}
          </p>
          <FrozenNotice />
          {children}
        </main>
        <Footer />
      </div>
    </div>
  );
}
