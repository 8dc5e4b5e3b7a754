import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import {
  accountSearch,
  auditSearch,
  feesSearch,
  movementsSearch,
  requestsSearch,
  searchTexts,
} from './domain/search.ts';
import { Root } from './Root.tsx';
import { NotFound, PageError } from './ui/PageError.tsx';

const root = createRootRoute({ component: Root, notFoundComponent: NotFound });
const getParentRoute = () => root;

const home = createRoute({
  getParentRoute,
  path: '/',
  component: lazyRouteComponent(() => import('./pages/home/HomePage.tsx'), 'HomePage'),
});
const requests = createRoute({
  getParentRoute,
  path: '/requests',
  validateSearch: requestsSearch,
  component: lazyRouteComponent(() => import('./pages/requests/RequestsPage.tsx'), 'RequestsPage'),
});
const request = createRoute({
  getParentRoute,
  path: '/requests/$id',
  validateSearch: searchTexts('review'),
  component: lazyRouteComponent(() => import('./pages/request/RequestPage.tsx'), 'RequestPage'),
});
const accounts = createRoute({
  getParentRoute,
  path: '/accounts',
  component: lazyRouteComponent(() => import('./pages/accounts/AccountsPage.tsx'), 'AccountsPage'),
});
const account = createRoute({
  getParentRoute,
  path: '/accounts/$id',
  validateSearch: accountSearch,
  component: lazyRouteComponent(() => import('./pages/accounts/AccountPage.tsx'), 'AccountPage'),
});
const statement = createRoute({
  getParentRoute,
  path: '/accounts/$id/statement',
  validateSearch: searchTexts('month'),
  component: lazyRouteComponent(() => import('./pages/accounts/StatementPage.tsx'), 'StatementPage'),
});
const movements = createRoute({
  getParentRoute,
  path: '/movements',
  validateSearch: movementsSearch,
  component: lazyRouteComponent(() => import('./pages/movements/MovementsPage.tsx'), 'MovementsPage'),
});
const policies = createRoute({
  getParentRoute,
  path: '/policies',
  component: lazyRouteComponent(() => import('./pages/policies/PoliciesPage.tsx'), 'PoliciesPage'),
});
const policy = createRoute({
  getParentRoute,
  path: '/policies/$id',
  component: lazyRouteComponent(() => import('./pages/policies/PolicyPage.tsx'), 'PolicyPage'),
});
const members = createRoute({
  getParentRoute,
  path: '/members',
  component: lazyRouteComponent(() => import('./pages/members/MembersPage.tsx'), 'MembersPage'),
});
const groups = createRoute({
  getParentRoute,
  path: '/groups',
  component: lazyRouteComponent(() => import('./pages/members/GroupsPage.tsx'), 'GroupsPage'),
});
const group = createRoute({
  getParentRoute,
  path: '/groups/$id',
  component: lazyRouteComponent(() => import('./pages/members/GroupPage.tsx'), 'GroupPage'),
});
const admins = createRoute({
  getParentRoute,
  path: '/admins',
  component: lazyRouteComponent(() => import('./pages/members/AdminsPage.tsx'), 'AdminsPage'),
});
const addressBook = createRoute({
  getParentRoute,
  path: '/address-book',
  component: lazyRouteComponent(() => import('./pages/address-book/AddressBookPage.tsx'), 'AddressBookPage'),
});
const rescue = createRoute({
  getParentRoute,
  path: '/rescue',
  component: lazyRouteComponent(() => import('./pages/rescue/RescuePage.tsx'), 'RescuePage'),
});
const audit = createRoute({
  getParentRoute,
  path: '/audit',
  validateSearch: auditSearch,
  component: lazyRouteComponent(() => import('./pages/audit/AuditPage.tsx'), 'AuditPage'),
});
const fees = createRoute({
  getParentRoute,
  path: '/fees',
  validateSearch: feesSearch,
  component: lazyRouteComponent(() => import('./pages/fees/FeesPage.tsx'), 'FeesPage'),
});
const you = createRoute({
  getParentRoute,
  path: '/you',
  component: lazyRouteComponent(() => import('./pages/you/YouPage.tsx'), 'YouPage'),
});
const keys = createRoute({
  getParentRoute,
  path: '/keys',
  component: lazyRouteComponent(() => import('./pages/api-keys/ApiKeysPage.tsx'), 'ApiKeysPage'),
});
const notifications = createRoute({
  getParentRoute,
  path: '/notifications',
  component: lazyRouteComponent(
    () => import('./pages/notifications/NotificationsPage.tsx'),
    'NotificationsPage',
  ),
});
const founding = createRoute({
  getParentRoute,
  path: '/founding',
  component: lazyRouteComponent(() => import('./pages/founding/FoundingPage.tsx'), 'FoundingPage'),
});

const transfer = createRoute({
  getParentRoute,
  path: '/new/transfer',
  validateSearch: searchTexts('accountId', 'replaces'),
  component: lazyRouteComponent(() => import('./pages/new-transaction/TransferPage.tsx'), 'TransferPage'),
});
const call = createRoute({
  getParentRoute,
  path: '/new/call',
  component: lazyRouteComponent(() => import('./pages/new-transaction/CallPage.tsx'), 'CallPage'),
});

/** What a link to a form begins with. */
const target = searchTexts('action', 'id');
const newProposal = createRoute({
  getParentRoute,
  path: '/new/proposal',
  component: lazyRouteComponent(() => import('./pages/new-proposal/NewProposalPage.tsx'), 'NewProposalPage'),
});
const membersProposal = createRoute({
  getParentRoute,
  path: '/new/members',
  validateSearch: target,
  component: lazyRouteComponent(
    () => import('./pages/new-proposal/MembersProposalPage.tsx'),
    'MembersProposalPage',
  ),
});
const groupsProposal = createRoute({
  getParentRoute,
  path: '/new/groups',
  validateSearch: target,
  component: lazyRouteComponent(
    () => import('./pages/new-proposal/GroupsProposalPage.tsx'),
    'GroupsProposalPage',
  ),
});
const policiesProposal = createRoute({
  getParentRoute,
  path: '/new/policies',
  validateSearch: target,
  component: lazyRouteComponent(
    () => import('./pages/new-proposal/PoliciesProposalPage.tsx'),
    'PoliciesProposalPage',
  ),
});
const accountsProposal = createRoute({
  getParentRoute,
  path: '/new/accounts',
  validateSearch: target,
  component: lazyRouteComponent(
    () => import('./pages/new-proposal/AccountsProposalPage.tsx'),
    'AccountsProposalPage',
  ),
});
const adminsProposal = createRoute({
  getParentRoute,
  path: '/new/admins',
  component: lazyRouteComponent(
    () => import('./pages/new-proposal/AdminsProposalPage.tsx'),
    'AdminsProposalPage',
  ),
});

export const router = createRouter({
  routeTree: root.addChildren([
    home,
    requests,
    request,
    transfer,
    call,
    newProposal,
    membersProposal,
    groupsProposal,
    policiesProposal,
    accountsProposal,
    adminsProposal,
    accounts,
    account,
    statement,
    movements,
    policies,
    policy,
    members,
    groups,
    group,
    admins,
    addressBook,
    rescue,
    fees,
    audit,
    you,
    keys,
    notifications,
    founding,
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
