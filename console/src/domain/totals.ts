import type { Schema } from '@orgwallet/client';

type Missing = Schema['MissingBalances'];

/** What is held of something; the same symbol on another network, or of another token, is another asset. */
export const heldOf = ({ totals }: Schema['Totals']): readonly Schema['Total'][] =>
  totals.filter(({ rawAmount }) => rawAmount !== '0');

/** The networks that do not answer. */
export const unavailableOf = ({ missing }: Schema['Totals']): readonly number[] => [
  ...new Set(missing.flatMap(({ reason, networkId }) => (reason === 'unavailable' ? [networkId] : []))),
];

/** Why a network that answers is not whole in the totals. */
interface Lacking extends Pick<Missing, 'networkId'> {
  readonly reason: Exclude<Missing['reason'], 'unavailable'>;
}

/** What the totals lack on networks that answer, each network once. */
export function lackingOf({ missing }: Schema['Totals']): readonly Lacking[] {
  const lacking = missing.flatMap(({ networkId, reason }) =>
    reason === 'unavailable' ? [] : [{ networkId, reason }],
  );
  return lacking.filter(
    ({ networkId, reason }, i) =>
      lacking.findIndex((one) => one.networkId === networkId && one.reason === reason) === i,
  );
}
