import type { Schema } from '@orgwallet/client';
import { ANYBODY, NO_POLICY, NOBODY, type PolicyDraft } from './policyDraft.ts';

interface Known {
  readonly groups: readonly Schema['Group'][];
  readonly members: readonly Schema['Member'][];
  readonly accounts: readonly Schema['Account'][];
  readonly networks: readonly Schema['Network'][];
}

/** A policy to begin with. */
interface PolicyTemplate {
  readonly id: string;
  readonly name: string;
  /** What it is for. */
  readonly about: string;
  readonly fields: (known: Known) => Partial<PolicyDraft>;
}

/** The only one of a list; empty where there are several to choose from. */
const only = (list: readonly { readonly id: string | number }[]) =>
  list.length === 1 ? String(list[0]?.id ?? '') : '';

/** The group that approves payments: one called Finance, or the only one; empty: whoever types chooses. */
const financeIn = (groups: Known['groups']) =>
  groups.find(({ name }) => /financ|treasur/i.test(name))?.id ?? only(groups);

const APPROVED_BY_TWO = { threshold: '2', excludeInitiator: true } as const;

/** The policies that most organizations begin with, each as narrow as it can be. */
export const POLICY_TEMPLATES: readonly PolicyTemplate[] = [
  {
    id: 'petty-cash',
    name: 'Petty cash',
    about: 'Small payments to anybody, without approval, up to a budget for each day.',
    fields: () => ({ anyDestination: true, approver: NOBODY, hasBudget: true, hours: '24' }),
  },
  {
    id: 'two-of-finance',
    name: 'Two of finance',
    about: 'Payments that two people of a group approve, never the one who asks.',
    fields: ({ groups }) => ({
      ...APPROVED_BY_TWO,
      anyDestination: true,
      initiator: ANYBODY,
      approver: financeIn(groups),
      hasBudget: false,
    }),
  },
  {
    id: 'payroll-bot',
    name: 'Payroll bot',
    about: 'A bot pays listed recipients, up to a budget for each of them in a month.',
    fields: ({ members }) => ({
      initiator: only(members.filter(({ type }) => type === 'api')),
      approver: NOBODY,
      hasBudget: true,
      hours: String(24 * 28),
      perDestination: true,
    }),
  },
  {
    id: 'one-contract',
    name: 'One contract',
    about: 'Calls of named functions of one contract, approved by two people of a group.',
    fields: ({ groups }) => ({
      ...APPROVED_BY_TWO,
      transactionType: 'CONTRACT_INTERACTION',
      initiator: ANYBODY,
      approver: financeIn(groups),
      hasBudget: false,
    }),
  },
];

/** What a template fills in: all that it does not say is as narrow as at the beginning. */
export function templateDraft(id: string, known: Known): PolicyDraft {
  const template = POLICY_TEMPLATES.find((one) => one.id === id);
  const accountId = only(known.accounts);
  return {
    ...NO_POLICY,
    networkId: only(known.networks),
    accountIds: accountId === '' ? [] : [accountId],
    ...(template ? { name: template.name, ...template.fields(known) } : {}),
  };
}
