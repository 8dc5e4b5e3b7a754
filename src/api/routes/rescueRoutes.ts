import type { NetworkConfig } from '../../config';
import { getRescueKitEndpoint, type RescueKitBody } from '../../contract/rescueContract';
import type { Db } from '../../db/database';
import { findSealedState } from '../../db/seals';
import { Refused } from '../refusals';
import { type Route, readRoute } from '../requestContext';

/** GET /rescue-kit. It needs no signer: the seal key has signed the state when it was sealed. */
export function rescueRoutes({ db, networks }: { db: Db; networks: readonly NetworkConfig[] }): Route[] {
  const nameOf = (networkId: number) =>
    networks.find(({ id }) => id === networkId)?.name ?? `network ${networkId}`;
  return [
    readRoute(getRescueKitEndpoint, async ({ organizationId }) => {
      // Loaded when it is needed first: the client is an ES module, and loads a viem of its own.
      const { buildRescueKit } = await import('@orgwallet/client/rescue');
      const stored = await findSealedState(db, organizationId);
      const kit = stored && (await buildRescueKit(stored, nameOf, new Date()));
      if (!kit) {
        const message = "rescue kit not found: the admins' Safe of this organization is off";
        throw new Refused({ code: 'notFound', message });
      }
      return { data: kit as unknown as RescueKitBody };
    }),
  ];
}
