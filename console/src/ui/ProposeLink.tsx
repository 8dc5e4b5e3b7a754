import { Link } from '@tanstack/react-router';
import { useSession } from '../api/useSession.ts';

interface Props {
  readonly to: '/new/accounts' | '/new/groups' | '/new/members' | '/new/policies';
  readonly id: string;
  readonly name: string;
}

/** Leads an admin to the form that proposes a change of something. */
export function ProposeLink({ to, id, name }: Props) {
  const { isAdmin } = useSession();
  if (!isAdmin) return null;
  return (
    <Link to={to} search={{ action: 'update', id }}>
      Propose a change<span className="hidden-visually"> of {name}</span>
    </Link>
  );
}
