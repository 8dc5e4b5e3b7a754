import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { inBackground } from '../../api/connection.ts';
import { simulationQuery } from '../../api/queries.ts';
import { amountText } from '../../domain/amounts.ts';
import { RECIPIENT_CODES } from '../../text/recipient.ts';

/** A chain changes without an event of the service. */
const AGAIN_MS = 15_000;

/** What the call of an open transaction would do now. */
export function Simulation({ id }: { readonly id: string }) {
  const { data, isPending, refetch } = useQuery(simulationQuery(id));
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.hidden) return;
      inBackground.set(true);
      void refetch();
    }, AGAIN_MS);
    return () => clearInterval(timer);
  }, [refetch]);

  if (isPending) return 'The call is being simulated…';
  if (!data) return 'The call could not be simulated.';
  if (data.status === 'unavailable') {
    return 'The network is unavailable: the call cannot be simulated now.';
  }
  return (
    <>
      {data.status === 'succeeds' ? (
        `It succeeds at block ${data.blockNumber} with ${amountText(data.gas, 0)} gas.`
      ) : (
        <>
          <b>It would fail</b> at block {data.blockNumber}: {data.reason}
        </>
      )}
      {data.recipientCode ? (
        <>
          <br />
          {RECIPIENT_CODES[data.recipientCode]}
        </>
      ) : null}
    </>
  );
}
