import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { Root } from './Root.tsx';
import { NotFound, PageError } from './ui/PageError.tsx';

const root = createRootRoute({ component: Root, notFoundComponent: NotFound });
const getParentRoute = () => root;

const waiting = createRoute({
  getParentRoute,
  path: '/',
  component: lazyRouteComponent(() => import('./pages/waiting/WaitingPage.tsx'), 'WaitingPage'),
});

const request = createRoute({
  getParentRoute,
  path: '/requests/$id',
  component: lazyRouteComponent(() => import('./pages/request/RequestPage.tsx'), 'RequestPage'),
});

const optional = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);

const transfer = createRoute({
  getParentRoute,
  path: '/new/transfer',
  validateSearch: ({ accountId, replaces }: { accountId?: string; replaces?: string }) => ({
    accountId: optional(accountId),
    replaces: optional(replaces),
  }),
  component: lazyRouteComponent(() => import('./pages/ask/TransferPage.tsx'), 'TransferPage'),
});
const call = createRoute({
  getParentRoute,
  path: '/new/call',
  component: lazyRouteComponent(() => import('./pages/ask/CallPage.tsx'), 'CallPage'),
});

export const router = createRouter({
  routeTree: root.addChildren([waiting, request, transfer, call]),
  defaultErrorComponent: PageError,
  defaultPreload: 'intent',
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
