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

/** What a link to a form begins with. */
const target = ({ action, id }: { action?: string; id?: string }) => ({
  action: optional(action),
  id: optional(id),
});
const propose = createRoute({
  getParentRoute,
  path: '/new/change',
  component: lazyRouteComponent(() => import('./pages/propose/ProposePage.tsx'), 'ProposePage'),
});
const newMembers = createRoute({
  getParentRoute,
  path: '/new/members',
  validateSearch: target,
  component: lazyRouteComponent(() => import('./pages/propose/MembersPage.tsx'), 'MembersPage'),
});
const newGroups = createRoute({
  getParentRoute,
  path: '/new/groups',
  validateSearch: target,
  component: lazyRouteComponent(() => import('./pages/propose/GroupsPage.tsx'), 'GroupsPage'),
});
const newPolicies = createRoute({
  getParentRoute,
  path: '/new/policies',
  validateSearch: target,
  component: lazyRouteComponent(() => import('./pages/propose/PoliciesPage.tsx'), 'PoliciesPage'),
});
const newAccounts = createRoute({
  getParentRoute,
  path: '/new/accounts',
  validateSearch: target,
  component: lazyRouteComponent(() => import('./pages/propose/AccountsPage.tsx'), 'AccountsPage'),
});
const newAdmins = createRoute({
  getParentRoute,
  path: '/new/admins',
  component: lazyRouteComponent(() => import('./pages/propose/AdminsPage.tsx'), 'AdminsPage'),
});

export const router = createRouter({
  routeTree: root.addChildren([
    waiting,
    request,
    transfer,
    call,
    propose,
    newMembers,
    newGroups,
    newPolicies,
    newAccounts,
    newAdmins,
  ]),
  defaultErrorComponent: PageError,
  defaultPreload: 'intent',
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
