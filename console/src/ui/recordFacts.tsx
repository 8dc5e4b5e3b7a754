import { Link } from '@tanstack/react-router';
import { ShortId } from './ShortText.tsx';
import { Times } from './Times.tsx';

interface NamedRecord {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** What the page of every record says of it last: its id, its times, and where its changes are. */
export function recordFacts(kind: 'policy' | 'group', { id, name, createdAt, updatedAt }: NamedRecord) {
  return [
    ['Id', <ShortId key="id" id={id} of={`id of ${name}`} />],
    ['Created', <Times key="times" createdAt={createdAt} updatedAt={updatedAt} />],
    [
      'Audit log',
      <Link key="log" to="/audit" search={{ resourceId: id }}>
        Changes of this {kind}
      </Link>,
    ],
  ] as const;
}
