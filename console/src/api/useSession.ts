import { useQuery } from '@tanstack/react-query';
import { sessionQuery } from './queries.ts';
import type { Session } from './sessions.ts';

/** Who is signed in. Only for what is shown inside of the frame, which is there for nobody else. */
export function useSession(): Session {
  const { data } = useQuery(sessionQuery);
  if (!data) throw new Error('nobody is signed in');
  return data;
}
