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

export const router = createRouter({
  routeTree: root.addChildren([waiting, request]),
  defaultErrorComponent: PageError,
  defaultPreload: 'intent',
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
