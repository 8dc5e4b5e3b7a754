import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { hasPaidQuery } from '../../api/queries.ts';
import { useOpenRequests, useViewer, waitingFor } from '../../api/useOpenRequests.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { firstSteps, type Step, type StepName } from '../../domain/firstSteps.ts';
import { stateOf, tallyText } from '../../text/labels.ts';
import buttonStyles from '../../ui/button.module.css';
import { classes } from '../../ui/classes.ts';
import { NextStep } from '../../ui/NextStep.tsx';
import { Section } from '../../ui/Page.tsx';
import { Deposit } from '../accounts/Deposit.tsx';
import homeStyles from './home.module.css';
import type { Totals } from './useTotals.ts';

const TITLES: { readonly [Name in StepName]: string } = {
  account: 'Create an account',
  fund: 'Fund it',
  policy: 'Add a policy',
  send: 'Send a payment',
};
const ABOUT: { readonly [Name in StepName]: string } = {
  account: 'A shared wallet with one address on the networks that you choose. Admins approve it.',
  fund: 'Send native currency to its address.',
  policy:
    'It says who may send what to whom, and who approves. Without one, nothing can be sent. Admins approve it.',
  send: 'The policy is evaluated while you type. You sign on the next page.',
};
const DONE: { readonly [State in Step['state']]: string } = {
  done: 'done',
  waiting: 'in progress',
  next: 'next',
  later: 'not yet',
};

/** The button of a step; none while what it needs is not there. */
function ActionOf({ step, organization }: { readonly step: Step; readonly organization: Organization }) {
  const [account] = organization.accounts;
  const look = step.state === 'next' ? 'primary' : 'plain';
  switch (step.name) {
    case 'account':
      return <NextStep place={{ to: '/new/accounts' }} name="Create an account" look={look} />;
    case 'policy':
      return <NextStep place={{ to: '/new/policies' }} name="Add a policy" look={look} />;
    case 'send':
      if (!account || organization.policies.length === 0) return null;
      return <NextStep place={{ to: '/new/transfer' }} name="New transfer" look={look} />;
    case 'fund':
      return account ? <Deposit account={account} organization={organization} /> : null;
  }
}

/** What was asked for, and how far it is. */
function Waiting({ request }: { readonly request: NonNullable<Step['request']> }) {
  const viewer = useViewer();
  const { text } = stateOf(request, Date.now());
  const isMine = viewer !== undefined && waitingFor(viewer, [request]).length > 0;
  return (
    <p>
      <Link to="/requests/$id" params={{ id: request.id }} className={buttonStyles.button}>
        Open the request
      </Link>{' '}
      <span className="muted">
        {text}: {tallyText(request)}. {isMine ? 'It needs you.' : 'It needs somebody else.'}
      </span>
    </p>
  );
}

function StepRow({ step, children }: { readonly step: Step; readonly children: ReactNode }) {
  const { name, state } = step;
  return (
    <li
      className={classes(homeStyles.firstStep, homeStyles[state])}
      aria-current={state === 'next' ? 'step' : undefined}
    >
      <span className={homeStyles.firstStepMark} aria-hidden="true">
        {state === 'done' ? (
          <svg viewBox="0 0 16 16" aria-hidden="true">
            <path d="M3 8.5 6.5 12 13 4.5" />
          </svg>
        ) : null}
      </span>
      <div className="stack-small">
        <h3>
          {TITLES[name]}
          <span className="hidden-visually">: {DONE[state]}</span>
        </h3>
        {state === 'done' ? null : <p className="muted">{ABOUT[name]}</p>}
        {children}
      </div>
    </li>
  );
}

/** The way to the first payment, until it is made. */
export function FirstSteps({
  organization,
  totals: { totals, isReading },
}: {
  readonly organization: Organization;
  readonly totals: Totals;
}) {
  const hasAccount = organization.accounts.length > 0;
  const hasPolicy = organization.policies.length > 0;
  const { data: hasPaid, isPending } = useQuery({ ...hasPaidQuery, enabled: hasAccount && hasPolicy });
  const { data } = useOpenRequests();
  const isKnown = data !== undefined && !isReading && !(hasAccount && hasPolicy && isPending);
  if (hasPaid || !isKnown) return null;
  const done = { account: hasAccount, fund: totals.length > 0, policy: hasPolicy, send: false };
  return (
    <Section title="First steps" id="first-steps">
      <ol className={`card ${homeStyles.firstSteps}`}>
        {firstSteps(done, data.open).map((step) => (
          <StepRow key={step.name} step={step}>
            {step.request ? <Waiting request={step.request} /> : null}
            {step.request || step.state === 'done' ? null : (
              <ActionOf step={step} organization={organization} />
            )}
          </StepRow>
        ))}
      </ol>
    </Section>
  );
}
