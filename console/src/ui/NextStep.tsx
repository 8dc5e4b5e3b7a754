import { Link } from '@tanstack/react-router';
import { useSession } from '../api/useSession.ts';
import buttonStyles from './button.module.css';
import { classes } from './classes.ts';

type Place =
  | { readonly to: '/new/accounts' | '/new/groups' | '/new/members' | '/new/policies'; readonly id?: string }
  | { readonly to: '/new/transfer'; readonly accountId?: string };

interface Props {
  readonly place: Place;
  /** What the button does, such as `Create an account`. */
  readonly name: string;
  readonly look?: 'primary' | 'plain';
}

/** A button that leads to a form: for those who may use it. Only admins propose. */
export function FormLink({ place, name, look = 'plain' }: Props) {
  const { isAdmin } = useSession();
  const className = classes(buttonStyles.button, buttonStyles[look]);
  if (place.to === '/new/transfer') {
    const { accountId } = place;
    return (
      <Link to={place.to} search={accountId ? { accountId } : {}} className={className}>
        {name}
      </Link>
    );
  }
  if (!isAdmin) return null;
  const { to, id } = place;
  return (
    <Link to={to} search={id ? { action: 'update', id } : { action: 'create' }} className={className}>
      {name}
    </Link>
  );
}

/** What to do where there is nothing yet: the button, or whom to ask. */
export function NextStep(props: Props) {
  const { isAdmin } = useSession();
  const { place, name } = props;
  return isAdmin || place.to === '/new/transfer' ? (
    <FormLink look="primary" {...props} />
  ) : (
    <p>Ask an admin: {name.charAt(0).toLowerCase() + name.slice(1)}.</p>
  );
}
