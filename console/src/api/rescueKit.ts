import { checkRescueKit, type RescueKit, verifyRescueKit } from '@orgwallet/client/rescue';
import { queryOptions } from '@tanstack/react-query';
import { savedKit } from '../state/savedKit.ts';
import { orgwallet, queryClient, READ_TIMEOUT_MS } from './client.ts';
import { inBackground } from './connection.ts';
import { accountsQuery, adminsQuery } from './queries.ts';

/**
 * Checks a kit: all of it is made again from its keys. Once a kit was saved with this browser, its keys are the only ones that the
 * next one may have, and it may not be older. Throws PayloadMismatch.
 */
function checkedKit(kit: unknown, organizationId: string): Promise<RescueKit> {
  const saved = savedKit(organizationId);
  return saved ? verifyRescueKit(kit, { ...saved, id: organizationId }) : checkRescueKit(kit);
}

/** What the signer does on a network makes no event here: it is read again so often, in ms. */
const EVERY_MS = 10_000;

/** Reads how the admins' Safe is again from time to time, while the page is visible. Returns how to end it. */
export function followAdminsSafe(): () => void {
  const timer = setInterval(() => {
    if (document.visibilityState === 'hidden') return;
    inBackground.set(true);
    for (const { queryKey } of [adminsQuery, accountsQuery]) void queryClient.invalidateQueries({ queryKey });
  }, EVERY_MS);
  return () => clearInterval(timer);
}

/** The rescue kit of an organization, checked. A module of its own: only the page about it loads what checks it. */
export const rescueKitQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['rescueKit'],
    queryFn: async ({ signal }) =>
      checkedKit(
        await orgwallet.getRescueKit(undefined, { signal, timeoutMs: READ_TIMEOUT_MS }),
        organizationId,
      ),
  });
