import type { Transaction } from '@orgwallet/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { recentTransactionsQuery } from '../../api/queries.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { assetText } from '../../domain/amounts.ts';
import { NATIVE_CURRENCY } from '../../domain/assets.ts';
import { recipientOf } from '../../domain/recipient.ts';
import { recipientText } from '../../text/recipient.ts';
import { Address } from '../../ui/Address.tsx';
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
  const { data: recent } = useQuery(recentTransactionsQuery());
  const earlier = recent?.filter(({ id }) => id !== transaction.id);
  return (
    <>
      <Address address={address} />
      <br />
      <span className="muted">
        {earlier
          ? recipientText(recipientOf(address, organization, earlier))
          : 'looking for earlier transactions…'}
      </span>
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
  const isTransfer = transaction.type === 'TOKEN_TRANSFER';
  const target = isTransfer ? transaction.data.destination : transaction.data.toAddress;
  return (
    <Facts
      rows={[
        [
          'Amount',
          isTransfer ? <b>{assetText(transaction.data.rawAmount, transaction.data.asset)}</b> : undefined,
        ],
        [
          'Token',
          isTransfer && transaction.data.asset.tokenAddress !== NATIVE_CURRENCY ? (
            <Address address={transaction.data.asset.tokenAddress} />
          ) : undefined,
        ],
        [
          isTransfer ? 'Recipient' : 'Contract',
          <Recipient key="to" address={target} transaction={transaction} organization={organization} />,
        ],
        ['Function', isTransfer ? undefined : <Parameters key="call" transaction={transaction} />],
        ['Value', isTransfer || transaction.value === '0' ? undefined : assetText(transaction.value, native)],
        ['From', `${account?.name ?? accountId} on ${network?.name ?? networkId}`],
        ['Initiator', initiator.name],
        [
          'Policy',
          organization.policies.find(({ id }) => id === policy.id)?.name ?? `${policy.id} (removed)`,
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
