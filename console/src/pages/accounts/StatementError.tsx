import { ApiError } from '@orgwallet/client';
import { Button } from '../../ui/Button.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { ErrorNotice } from '../../ui/States.tsx';

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

/** Why there is no statement: most often, because the period is not read yet, and how far it is. */
export function StatementError({ error, retry }: { readonly error: unknown; readonly retry: () => void }) {
  if (!(error instanceof ApiError) || error.code !== 'conflict')
    return <ErrorNotice error={error} retry={retry} />;
  return (
    <Notice tone="warning" title="No statement of this period yet" urgent>
      <p>{sentence(error.reason)}</p>
      <Button onClick={retry}>Try again</Button>
    </Notice>
  );
}
