import type { Schema } from '@orgwallet/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { policiesQuery } from '../../api/queries.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { policyAspects } from '../../text/policySentences.ts';
import { List, type ListFilter } from '../../ui/List.tsx';
import { FormLink, NextStep } from '../../ui/NextStep.tsx';
import { Page } from '../../ui/Page.tsx';
import { Sentence } from '../../ui/Sentence.tsx';
import { Empty } from '../../ui/States.tsx';
import type { Column, Columns } from '../../ui/Table.tsx';
import { WithOrganization } from '../../ui/WithOrganization.tsx';
import styles from './policies.module.css';

const ADD = { to: '/new/policies' } as const;

type Policy = Schema['Policy'];

/** The parts of a policy that a row has; its page has all of them. */
const SHOWN = ['Permits', 'Recipients', 'Approver', 'Budget'] as const;

/** So many recipients fit into a row; of more, one, and how many others there are. */
const RECIPIENTS = 2;

/** A policy as its row has it, and how many recipients it has besides. */
function withFirstRecipients(policy: Policy): { readonly shown: Policy; readonly more: number } {
  if (policy.transactionType !== 'TOKEN_TRANSFER') return { shown: policy, more: 0 };
  const { tokenTransferCondition } = policy;
  const all = tokenTransferCondition.destinationAddresses;
  const destinationAddresses = all.length > RECIPIENTS ? all.slice(0, 1) : all;
  return {
    shown: { ...policy, tokenTransferCondition: { ...tokenTransferCondition, destinationAddresses } },
    more: all.length - destinationAddresses.length,
  };
}

function columnsOf(organization: Organization): Columns<Policy> {
  const aspectOf = (policy: Policy, name: string) => {
    const { shown, more } = withFirstRecipients(policy);
    const text = policyAspects(shown, organization).find((one) => one.name === name)?.text;
    return name === 'Recipients' && more > 0 ? `${text} and ${more} more` : text;
  };
  return [
    {
      name: 'Policy',
      sortBy: ({ name }) => name,
      cell: ({ id, name }) => (
        <Link to="/policies/$id" params={{ id }}>
          {name}
        </Link>
      ),
    },
    ...SHOWN.map(
      (name): Column<Policy> => ({
        name,
        cell: (policy) => {
          const text = aspectOf(policy, name);
          return text === undefined ? null : <ShortSentence text={text} />;
        },
      }),
    ),
  ];
}

/** A sentence, of a long one the beginning: the page of the policy has all of it. */
const ShortSentence = ({ text }: { readonly text: string }) => (
  <span className={styles.sentence}>
    <Sentence text={text} />
  </span>
);

const filtersOf = ({ networks, accounts }: Organization): readonly ListFilter<Policy>[] => [
  {
    label: 'Network',
    options: networks.map(({ id, name }) => ({ value: String(id), name })),
    has: ({ networkId }, value) => String(networkId) === value,
  },
  {
    label: 'Account',
    options: accounts.map(({ id, name }) => ({ value: id, name })),
    has: ({ accountIds }, value) => accountIds === null || accountIds.includes(value),
  },
  {
    label: 'Approval',
    options: [
      { value: 'needed', name: 'needed' },
      { value: 'none', name: 'not needed' },
    ],
    has: ({ approverSetting }, value) => (approverSetting === undefined) === (value === 'none'),
  },
];

function Policies({ organization }: { readonly organization: Organization }) {
  const columns = useMemo(() => columnsOf(organization), [organization]);
  return (
    <List
      what="policies"
      caption="Policies"
      columns={columns}
      rows={organization.policies}
      rowKey={({ id }) => id}
      textOf={(policy) =>
        [policy.name, policy.id, ...policyAspects(policy, organization).map(({ text }) => text)].join(' ')
      }
      searchLabel="Search by name, address or what it says"
      filters={filtersOf(organization)}
    />
  );
}

/** Which transactions are permitted, and who approves them. */
export function PoliciesPage() {
  const { data: policies = [] } = useQuery(policiesQuery);
  return (
    <Page
      title="Policies"
      actions={policies.length > 0 ? <FormLink place={ADD} name="New policy" /> : null}
      lead="Which transactions are permitted, and who approves them. One policy that permits a transaction is enough; a stricter one does not restrict another."
    >
      <WithOrganization what="the policies">
        {(organization) =>
          organization.policies.length === 0 ? (
            <Empty title="No policies">
              <p>No transaction is permitted until the admins have approved one.</p>
              <NextStep place={ADD} name="Add a policy" />
            </Empty>
          ) : (
            <Policies organization={organization} />
          )
        }
      </WithOrganization>
    </Page>
  );
}
