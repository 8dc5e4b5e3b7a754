import { Link } from '@tanstack/react-router';

/** Leads to what an entry is about, where this page shows such things. */
export function ResourceLink({ type, id }: { readonly type: string; readonly id: string }) {
  switch (type) {
    case 'proposal':
    case 'transaction':
      return (
        <Link to="/requests/$id" params={{ id }}>
          {type === 'proposal' ? 'Proposal' : 'Transaction'}
        </Link>
      );
    case 'account':
      return (
        <Link to="/accounts/$id" params={{ id }}>
          Account
        </Link>
      );
    case 'policy':
      return (
        <Link to="/policies/$id" params={{ id }}>
          Policy
        </Link>
      );
    case 'member':
      return <Link to="/members">Member</Link>;
    case 'group':
      return (
        <Link to="/groups/$id" params={{ id }}>
          Group
        </Link>
      );
    case 'addressBookEntry':
      return <Link to="/address-book">Address book</Link>;
    case 'admin':
      return <Link to="/admins">Admins</Link>;
    default:
      return <span>{type}</span>;
  }
}
