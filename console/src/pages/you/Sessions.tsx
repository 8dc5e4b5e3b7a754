import { useMutation, useQuery } from '@tanstack/react-query';
import { queryClient } from '../../api/client.ts';
import { sessionsQuery } from '../../api/queries.ts';
import { type Session, sessions } from '../../api/sessions.ts';
import { announce } from '../../state/announcement.ts';
import { dateTime } from '../../text/time.ts';
import { browserText } from '../../text/userAgent.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { ErrorNotice, Loaded } from '../../ui/States.tsx';
import type { Columns } from '../../ui/Table.tsx';
import { TablePages } from '../../ui/TablePages.tsx';

const ends = ({ idleExpiresAt, expiresAt }: Session) =>
  idleExpiresAt < expiresAt ? idleExpiresAt : expiresAt;

function columnsOf(endingId: string | undefined, end: (id: string) => void): Columns<Session> {
  return [
    {
      name: 'Browser',
      cell: ({ userAgent, current }) => (
        <span className="row">
          {browserText(userAgent)} {current ? <Badge tone="accent">this one</Badge> : null}
        </span>
      ),
    },
    { name: 'Signed in', cell: ({ createdAt }) => <time dateTime={createdAt}>{dateTime(createdAt)}</time> },
    {
      name: 'Last used',
      cell: ({ lastUsedAt }) => <time dateTime={lastUsedAt}>{dateTime(lastUsedAt)}</time>,
    },
    {
      name: 'Expires if unused',
      cell: (session) => <time dateTime={ends(session)}>{dateTime(ends(session))}</time>,
    },
    {
      name: 'End',
      cell: ({ id, current, userAgent, createdAt }) =>
        current ? (
          <span className="muted">with “Sign out”</span>
        ) : (
          <Button className="small" busy={endingId === id} onClick={() => end(id)}>
            End
            <span className="hidden-visually">
              {' '}
              the session of {browserText(userAgent)} since {dateTime(createdAt)}
            </span>
          </Button>
        ),
    },
  ];
}

/** The open sessions of this member, and how to end the others. */
export function Sessions() {
  const query = useQuery(sessionsQuery);
  const { mutate, error, isPending, variables } = useMutation({
    mutationFn: sessions.endOther,
    onSuccess: () => announce('Session ended'),
    onSettled: () => queryClient.invalidateQueries({ queryKey: sessionsQuery.queryKey }),
  });
  return (
    <div className="stack">
      {error ? <ErrorNotice error={error} /> : null}
      <Loaded query={query} what="your sessions">
        {(open) => (
          <TablePages
            what="sessions"
            caption="Your open sessions"
            columns={columnsOf(isPending ? variables : undefined, mutate)}
            rows={open}
            rowKey={({ id }) => id}
          />
        )}
      </Loaded>
      <p className="small muted">
        End a session that you do not recognize, and report it to an admin. A session alone approves nothing:
        that takes a signature of your wallet.
      </p>
    </div>
  );
}
