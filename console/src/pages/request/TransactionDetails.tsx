import type { Transaction } from '@orgwallet/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { recipientQuery } from '../../api/queries.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { NATIVE_CURRENCY } from '../../domain/assets.ts';
import { sentAsset } from '../../domain/sentAsset.ts';
import { recipientText } from '../../text/recipient.ts';
import { Address } from '../../ui/Address.tsx';
import { Amount } from '../../ui/Amount.tsx';
import { Badge } from '../../ui/Badge.tsx';
import { Facts } from '../../ui/Facts.tsx';
import { Simulation } from './Simulation.tsx';

function Recipient({
  address,
  transaction,
  organization,
}: {
  address: string;
  transaction: Transaction;
  organization: Organization;
}) {
  const { networkId, result } = transaction;
  // A payment does not make its own recipient known.
  const { data: recipient } = useQuery(recipientQuery(address, result?.executedAt));
  const noted = organization.noted(address, networkId);
  return (
    <>
      <Address address={address} />
      <br />
      {noted === undefined ? null : (
        <>
          <bdi>{noted}</bdi> <Badge>address book, display only</Badge>
          <br />
        </>
      )}
      <span className="muted">
        {recipient ? recipientText(recipient, organization.network) : 'looking for earlier transactions…'}
      </span>
      <br />
      <Link to="/requests" search={{ tab: 'done', text: address }}>
        Requests with this address
      </Link>
    </>
  );
}

function Parameters({
  transaction,
}: {
  transaction: Extract<Transaction, { type: 'CONTRACT_INTERACTION' }>;
}) {
  const { functionName, functionParameters = [], encodingFaults, calldata } = transaction.data;
  return (
    <div className="stack-small">
      <code>
        {functionName ??
          (calldata.length < 10
            ? 'no calldata'
            : `${calldata.slice(0, 10)} (unknown function: read the calldata)`)}
      </code>
      {encodingFaults ? <strong>Not encoded canonically: {encodingFaults.join(', ')}</strong> : null}
      {functionParameters.length > 0 ? (
        <Facts
          rows={functionParameters.map(({ name, type, value, unread }, index) => [
            `${name || `argument ${index + 1}`} (${type})`,
            unread ? <strong key={name}>cannot be read</strong> : <code key={name}>{value}</code>,
          ])}
        />
      ) : null}
      <details>
        <summary>Calldata</summary>
        <pre>{calldata}</pre>
      </details>
    </div>
  );
}

/** What a transaction does, in the words of the service. */
export function TransactionDetails({
  transaction,
  organization,
}: {
  readonly transaction: Transaction;
  readonly organization: Organization;
}) {
  const { accountId, networkId, description, initiator, policy, replaces } = transaction;
  const account = organization.accounts.find(({ id }) => id === accountId);
  const network = organization.networks.find(({ id }) => id === networkId);
  const native = network && { ...network.nativeAsset, tokenAddress: NATIVE_CURRENCY };
  const named = organization.policies.find(({ id }) => id === policy.id);
  const isTransfer = transaction.type === 'TOKEN_TRANSFER';
  const target = isTransfer ? transaction.data.destination : transaction.data.toAddress;
  return (
    <Facts
      rows={[
        [
          'Amount',
          isTransfer ? (
            <b key="amount">
              <Amount raw={transaction.data.rawAmount} asset={sentAsset(transaction)} />
            </b>
          ) : undefined,
        ],
        [
          'Token',
          isTransfer && transaction.data.asset.tokenAddress !== NATIVE_CURRENCY ? (
            <Address key="token" address={transaction.data.asset.tokenAddress} />
          ) : undefined,
        ],
        [
          isTransfer ? 'Recipient' : 'Contract',
          <Recipient key="to" address={target} transaction={transaction} organization={organization} />,
        ],
        ['Function', isTransfer ? undefined : <Parameters key="call" transaction={transaction} />],
        [
          'Value',
          isTransfer || transaction.value === '0' ? undefined : (
            <Amount key="value" raw={transaction.value} asset={native} />
          ),
        ],
        [
          'From',
          <span key="from">
            <Link to="/accounts/$id" params={{ id: accountId }}>
              {account?.name ?? accountId}
            </Link>{' '}
            on {network?.name ?? networkId}
          </span>,
        ],
        [
          'Initiator',
          <Link key="initiator" to="/requests" search={{ tab: 'done', initiatorId: initiator.id }}>
            {initiator.name}
          </Link>,
        ],
        [
          'Policy',
          named ? (
            <Link key="policy" to="/policies/$id" params={{ id: policy.id }}>
              {named.name}
            </Link>
          ) : (
            `${policy.id} (removed)`
          ),
        ],
        ['Description', description || undefined],
        [
          'Replaces',
          replaces ? (
            <Link key="replaces" to="/requests/$id" params={{ id: replaces }}>
              the failed {replaces}
            </Link>
          ) : undefined,
        ],
        [
          'Simulation',
          transaction.signingPayloads ? <Simulation key="simulation" id={transaction.id} /> : undefined,
        ],
      ]}
    />
  );
}
