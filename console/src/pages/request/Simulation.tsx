import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { inBackground } from '../../api/connection.ts';
import { simulationQuery } from '../../api/queries.ts';

/** A chain changes without an event of the service. */
const AGAIN_MS = 15_000;

const RECIPIENTS = {
  contract: 'The recipient is a contract: whether it can send tokens on is not known.',
  unknown: 'Whether the recipient is a contract is not known: the network did not answer.',
} as const;

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
        `It succeeds at block ${data.blockNumber} with ${data.gas} gas.`
      ) : (
        <>
          <b>It would fail</b> at block {data.blockNumber}: {data.reason}
        </>
      )}
      {data.recipientCode ? (
        <>
          <br />
          {RECIPIENTS[data.recipientCode]}
        </>
      ) : null}
    </>
  );
}
