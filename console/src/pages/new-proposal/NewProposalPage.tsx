import { Link } from '@tanstack/react-router';
import { Page } from '../../ui/Page.tsx';
import styles from './new-proposal.module.css';

const KINDS = [
  { to: '/new/policies', name: 'Policies', text: 'which transactions are permitted, and who approves them' },
  { to: '/new/members', name: 'Members', text: 'who belongs to the organization' },
  { to: '/new/groups', name: 'Groups', text: 'sets of members that policies refer to' },
  { to: '/new/accounts', name: 'Accounts', text: 'create, rename, add networks' },
  { to: '/new/admins', name: 'Admins', text: 'who approves proposals, and the threshold' },
] as const;

/** What can be proposed. */
export function NewProposalPage() {
  return (
    <Page
      title="New proposal"
      lead="A change of the organization is a proposal, which admins approve or reject."
    >
      <ul className={`card ${styles.kinds}`}>
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
