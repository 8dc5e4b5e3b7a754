import type { Schema } from '@orgwallet/client';
import { isAddressText } from './address.ts';
import { startOfDay } from './auditFilter.ts';
import { type MovementsSearch, networkFilter } from './search.ts';

/** What is asked of the service about movements. */
export interface MovementFilter {
  readonly accountId?: string;
  readonly networkId?: number;
  readonly assetId?: string;
  readonly direction?: Schema['MovementDirection'];
  readonly counterparty?: string;
  readonly status?: Schema['MovementStatus'];
  readonly verified?: 'false' | 'any';
  readonly from?: string;
  readonly to?: string;
}

const oneOf = <T extends string>(text: string | undefined, values: readonly T[]): T | undefined =>
  values.find((value) => value === text);

/** What to ask for what somebody looks for: what cannot be looked for is left out. */
export function movementFilter(search: MovementsSearch): MovementFilter {
  const { accountId, networkId, assetId, counterparty = '' } = search;
  const asked = {
    accountId,
    ...networkFilter(networkId),
    assetId: assetId && /^[1-9]\d*:0x[0-9a-f]{40}$/i.test(assetId) ? assetId : undefined,
    direction: oneOf(search.direction, ['in', 'out']),
    // A mistyped checksum still finds the address.
    counterparty: isAddressText(counterparty) ? counterparty.toLowerCase() : undefined,
    status: oneOf(search.status, ['pending', 'confirmed', 'reversed']),
    verified: oneOf(search.verified, ['false', 'any']),
    from: startOfDay(search.from, 0),
    to: startOfDay(search.to, 1),
  };
  return Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined));
}
