import { Router } from 'express';
import type { ApiDependencies } from './dependencies';
import { exchangeOf, sendJson } from './exchange';

/** Where anybody reads the key that verifies every delivery of this installation. Source: RFC 8615. */
const PATH = '/.well-known/orgwallet-webhooks.json';

/** GET of the public key of webhooks, without a credential. */
export function webhookKeyRoutes({ publicKey }: Pick<ApiDependencies['deliveries'], 'publicKey'>): {
  readonly router: Router;
  readonly paths: readonly string[];
} {
  const router = Router({ caseSensitive: true, strict: true });
  router.get(PATH, async (request, response) => {
    exchangeOf(response).route = PATH;
    sendJson(request, response, 200, JSON.stringify({ publicKeys: [await publicKey()] }));
  });
  return { router, paths: [PATH] };
}
