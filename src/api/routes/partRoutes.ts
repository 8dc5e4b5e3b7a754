import { listPartsEndpoint } from '../../contract/partContract';
import type { ApiDependencies } from '../dependencies';
import { type Route, readRoute } from '../requestContext';

/** GET /parts. */
export function partRoutes({ readParts }: Pick<ApiDependencies, 'readParts'>): Route[] {
  return [readRoute(listPartsEndpoint, async () => ({ data: [...(await readParts())] }))];
}
