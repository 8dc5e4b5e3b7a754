import { useQuery } from '@tanstack/react-query';
import { frozenQuery } from '../api/queries.ts';
import { dateTime } from '../text/time.ts';
import { Notice } from './Notice.tsx';

/** Says that an operator has frozen the organization. */
export function FrozenNotice() {
  const { data: since } = useQuery(frozenQuery);
  if (!since) return null;
  return (
    <Notice tone="danger" title={`Frozen since ${dateTime(since)}`}>
      <p>
        An operator has frozen the organization: no transaction is executed until they unfreeze it. You can
        still read and sign, and proposals are still executed.
      </p>
    </Notice>
  );
}
