import { Link } from '@tanstack/react-router';
import { useSession } from '../api/useSession.ts';
import buttonStyles from './button.module.css';
import { classes } from './classes.ts';

interface Props {
  readonly to: '/new/accounts' | '/new/groups' | '/new/members' | '/new/policies';
  readonly id: string;
  readonly name: string;
  /** That of a button; absent: a link among others. */
  readonly look?: 'plain';
}

/** Leads an admin to the form that proposes a change of something. */
export function ProposeLink({ to, id, name, look }: Props) {
  const { isAdmin } = useSession();
  if (!isAdmin) return null;
  return (
    <Link
      to={to}
      search={{ action: 'update', id }}
      className={look && classes(buttonStyles.button, buttonStyles[look])}
    >
      Propose a change<span className="hidden-visually"> of {name}</span>
    </Link>
  );
}
