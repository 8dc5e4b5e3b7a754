import { Link } from '@tanstack/react-router';
import { Page } from '../../ui/Page.tsx';
import './propose.css';

const KINDS = [
  { to: '/new/policies', name: 'Policies', text: 'what may leave which accounts, and who approves it' },
  { to: '/new/members', name: 'Members', text: 'who belongs to the organization' },
  { to: '/new/groups', name: 'Groups', text: 'sets of members that policies refer to' },
  { to: '/new/accounts', name: 'Accounts', text: 'new ones, their names and networks' },
  { to: '/new/admins', name: 'Admins', text: 'who approves changes, and how many of them' },
] as const;

/** What can be proposed. */
export function ProposePage() {
  return (
    <Page title="Propose a change" lead="Every change is one proposal, which the admins approve.">
      <ul className="card kinds">
        {KINDS.map(({ to, name, text }) => (
          <li key={to}>
            <Link to={to}>{name}</Link>
            <span className="muted">{text}</span>
          </li>
        ))}
      </ul>
    </Page>
  );
}
