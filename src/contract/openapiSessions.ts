import type { ZodOpenApiPathsObject } from 'zod-openapi';
import { pathParameters, RESPONSE_HEADERS, ref, type Shared } from './openapiParts';
import { sessionEndpoints } from './sessionContract';
import { SESSION_ERRORS } from './sessionEndpoint';

/** The tag of the endpoints of sessions. */
export const SESSIONS = {
  name: 'Sessions',
  description:
    'Sign-in of people, whose browsers use a cookie in place of an API key. Below the root of the service.',
};

/** The paths of sessions: at `root`, the root of the service, with a cookie where they need a session. */
export function sessionPaths({ bodyOf, errorsOf }: Shared, root: string): ZodOpenApiPathsObject {
  const paths: ZodOpenApiPathsObject = {};
  for (const endpoint of sessionEndpoints) {
    const { id, method, path, summary, description, needsSession, setsCookie } = endpoint;
    paths[path] = {
      servers: [{ url: root }],
      ...paths[path],
      [method]: {
        operationId: id,
        tags: [SESSIONS.name],
        summary,
        description,
        security: needsSession ? [{ session: [] }] : [],
        parameters: pathParameters(endpoint),
        ...bodyOf(endpoint),
        responses: {
          [endpoint.status]: {
            description: endpoint.status === 201 ? 'Created.' : 'Success.',
            headers: {
              ...(needsSession ? RESPONSE_HEADERS : { 'X-Request-Id': ref('headers', 'RequestId') }),
              ...(setsCookie ? { 'Set-Cookie': ref('headers', 'SetCookie') } : {}),
            },
            content: { 'application/json': { schema: endpoint.response } },
          },
          ...errorsOf(...SESSION_ERRORS, ...endpoint.errors),
        },
      },
    };
  }
  return paths;
}
