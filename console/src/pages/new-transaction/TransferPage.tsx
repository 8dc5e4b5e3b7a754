import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect } from 'react';
import { getAddress } from 'viem';
import { balancesQuery } from '../../api/queries.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { useSession } from '../../api/useSession.ts';
import {
  amountText,
  assetText,
  decimalSign,
  readAmount,
  type TypedAmount,
  typedText,
} from '../../domain/amounts.ts';
import { chosenAsset, NATIVE_CURRENCY, type Sendable, sendableOn } from '../../domain/assets.ts';
import { useDraft } from '../../state/drafts.ts';
import { SelectField, TextField } from '../../ui/Field.tsx';
import { AddressField } from './AddressField.tsx';
import { NewTransactionPage } from './NewTransactionPage.tsx';
import { RequestForm } from './RequestForm.tsx';
import {
  DescriptionField,
  missingOf,
  NO_SOURCE,
  ReplacesField,
  type Source,
  SourceFields,
  sourceOf,
} from './SourceFields.tsx';
import { typedTransfer } from './typedTransfer.ts';
import { useRequest } from './useRequest.ts';

const route = getRouteApi('/new/transfer');

interface Draft extends Source {
  readonly token: string;
  readonly to: string;
  readonly amount: string;
}

const EMPTY: Draft = { ...NO_SOURCE, token: '', to: '', amount: '' };

/** Where the service names a field of the call, the field of this form that it was made from. */
function shownErrors(
  errors: { readonly [field: string]: string },
  isNative: boolean,
): { readonly [field: string]: string } {
  return isNative
    ? { ...errors, to: errors.to ?? '', amount: errors.value ?? '' }
    : { ...errors, to: errors.data ?? '', token: errors.to ?? '' };
}

function isMoreThan(amount: TypedAmount | undefined, balance: string | undefined): boolean {
  return (
    amount !== undefined && 'raw' in amount && balance !== undefined && BigInt(amount.raw) > BigInt(balance)
  );
}

/** That an amount is more than the account has; else how it is read, where others would read it otherwise. */
function amountHint(amount: TypedAmount | undefined, asset: Sendable | undefined): string | undefined {
  if (isMoreThan(amount, asset?.balance)) return 'This is more than the balance.';
  if (decimalSign() === '.' || !amount || !('raw' in amount)) return undefined;
  return `Read as ${assetText(amount.raw, asset, typedText)}`;
}

/** How much of an asset the account has, or why none is chosen. */
function assetHint(
  asset: Sendable | undefined,
  { hasNetwork, isLoading, chosen }: { hasNetwork: boolean; isLoading: boolean; chosen: string },
): string | undefined {
  if (!hasNetwork) return 'Choose an account and a network first.';
  if (!asset && isLoading) return 'The balances are being read.';
  if (!asset) return `${chosen} is not known here: the account has none of it, and no policy names it.`;
  if (asset?.balance === undefined) return undefined;
  return `Balance: ${amountText(asset.balance, asset.decimals)} ${asset.symbol}`;
}

function Transfer({ organization }: { readonly organization: Organization }) {
  const { member } = useSession();
  const { accountId, replaces } = route.useSearch();
  const navigate = route.useNavigate();
  const [draft, change, forget] = useDraft('transfer', EMPTY);
  useEffect(() => {
    if (!accountId && !replaces) return;
    change({ ...(accountId ? { accountId } : {}), ...(replaces ? { replaces } : {}) });
    // What is typed from here on is not replaced when the page is loaded again.
    void navigate({ search: {}, replace: true });
  }, [accountId, replaces, change, navigate]);
  const { account, network } = sourceOf(draft, organization);
  const { data: balances = [], isLoading } = useQuery({
    ...balancesQuery(account?.id ?? ''),
    enabled: account !== undefined,
  });
  const assets = network ? sendableOn(network, balances, organization.policies) : [];
  const asset = chosenAsset(assets, draft.token);
  const amount = asset && draft.amount !== '' ? readAmount(draft.amount, asset.decimals) : undefined;
  const typed = typedTransfer({ draft, account, network, asset, amount, initiator: member.walletAddress });
  const request = useRequest(typed, forget);
  const errors = shownErrors(request.errors, asset?.tokenAddress === NATIVE_CURRENCY);
  return (
    <RequestForm
      request={request}
      organization={organization}
      missing={[
        ...missingOf(draft.to, organization, draft, 'recipient'),
        ...(network && !asset ? ['asset'] : []),
        ...(amount && 'raw' in amount ? [] : ['amount']),
      ]}
    >
      <SourceFields source={draft} organization={organization} errors={errors} onChange={change} />
      <SelectField
        label="Asset"
        value={asset?.tokenAddress ?? ''}
        error={errors.token}
        disabled={!network}
        hint={assetHint(asset, { hasNetwork: network !== undefined, isLoading, chosen: draft.token })}
        onChange={({ target }) => change({ token: target.value })}
      >
        {network && !asset ? <option value="">Choose an asset</option> : null}
        {assets.map(({ tokenAddress, symbol }) => (
          <option key={tokenAddress} value={tokenAddress}>
            {symbol || 'token'}{' '}
            {tokenAddress === NATIVE_CURRENCY ? '(native currency)' : `(${getAddress(tokenAddress)})`}
          </option>
        ))}
      </SelectField>
      <TextField
        label="Amount"
        inputMode="decimal"
        value={draft.amount}
        disabled={!asset}
        error={amount && 'error' in amount ? amount.error : errors.amount}
        hint={amountHint(amount, asset)}
        onChange={({ target }) => change({ amount: target.value })}
      />
      <AddressField
        label="Recipient"
        organization={organization}
        network={network}
        value={draft.to}
        error={errors.to}
        onChange={(to) => change({ to })}
      />
      <DescriptionField source={draft} errors={errors} onChange={change} />
      <ReplacesField source={draft} errors={errors} onChange={change} />
    </RequestForm>
  );
}

/** Creates a transfer. */
export function TransferPage() {
  return (
    <NewTransactionPage
      title="New transfer"
      lead="Send native currency or a token from an account. A policy must permit it."
    >
      {(organization) => <Transfer organization={organization} />}
    </NewTransactionPage>
  );
}
