import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect } from 'react';
import { getAddress } from 'viem';
import { balancesQuery } from '../../api/queries.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { useSession } from '../../api/useSession.ts';
import { faultsOfTransaction } from '../../contract/transactionBody.ts';
import {
  amountText,
  assetText,
  decimalSign,
  readAmount,
  type TypedAmount,
  typedText,
} from '../../domain/amounts.ts';
import { chosenAsset, NATIVE_CURRENCY, type Sendable, sendableOn } from '../../domain/assets.ts';
import { type Faults, type Places, placed } from '../../domain/faults.ts';
import { readPrefixed } from '../../domain/prefixedAddress.ts';
import { checked, type Labels, useForm } from '../../state/useForm.ts';
import { FormSelect, FormText } from '../../ui/formFields.tsx';
import { AddressField } from './AddressField.tsx';
import { NewTransactionPage } from './NewTransactionPage.tsx';
import { ReferenceFields, TAGS_PLACE } from './ReferenceFields.tsx';
import { RequestForm } from './RequestForm.tsx';
import { DescriptionField, ReplacesField, SourceFields } from './SourceFields.tsx';
import { NO_TRANSACTION, SOURCE_LABELS, sourceOf, type TransactionDraft } from './transactionDraft.ts';
import { typedTransfer } from './typedTransfer.ts';
import { useRequest } from './useRequest.ts';

const route = getRouteApi('/new/transfer');

/** What the service names, in this form: a token is called, and the recipient is in the calldata. */
const NATIVE_PLACES: Places = [[/^value$/, 'amount']];
const TOKEN_PLACES: Places = [
  [/^to$/, 'token'],
  [/^data$/, 'to'],
];

const LABELS: Labels = [...SOURCE_LABELS, ['asset', 'asset'], ['amount', 'amount'], ['to', 'recipient']];

/** What is wrong with a transfer. The recipient stands in place of a token: it is what is typed. */
function faultsOf(
  { description, replaces, to }: TransactionDraft,
  {
    account,
    network,
    amount,
    initiator,
  }: Pick<ReturnType<typeof sourceOf>, 'account' | 'network'> & {
    readonly amount: TypedAmount | undefined;
    readonly initiator: string;
  },
): Faults {
  const read = readPrefixed(to, network);
  return {
    ...placed(
      faultsOfTransaction({
        accountId: account?.id,
        networkId: network?.id,
        initiatorWalletAddress: initiator,
        description,
        to: to.trim(),
        value: amount && 'raw' in amount ? amount.raw : undefined,
        data: '0x',
        replaces: replaces || undefined,
      }),
      NATIVE_PLACES,
    ),
    ...(amount && 'error' in amount ? { amount: amount.error } : {}),
    ...('error' in read ? { to: read.error } : {}),
  };
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
  const typed = useForm(NO_TRANSACTION, 'transfer');
  const { draft, change, forget } = typed;
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
  const initiator = member.walletAddress;
  const faults = {
    ...faultsOf(draft, { account, network, amount, initiator }),
    ...(network && !asset ? { asset: 'is required' } : {}),
  };
  const transfer =
    Object.keys(faults).length === 0
      ? typedTransfer({ draft, account, network, asset, amount, initiator })
      : undefined;
  const request = useRequest(transfer, forget);
  const places = asset?.tokenAddress === NATIVE_CURRENCY ? NATIVE_PLACES : TOKEN_PLACES;
  const form = {
    ...checked(typed, faults, LABELS),
    refused: placed(request.errors, [...places, TAGS_PLACE]),
  };
  return (
    <RequestForm form={form} request={request} organization={organization}>
      <SourceFields form={form} organization={organization} />
      <FormSelect
        form={form}
        name="token"
        label="Asset"
        shown={asset?.tokenAddress ?? ''}
        disabled={!network}
        hint={assetHint(asset, { hasNetwork: network !== undefined, isLoading, chosen: draft.token })}
      >
        {asset ? null : <option value="">Choose an asset</option>}
        {assets.map(({ tokenAddress, symbol }) => (
          <option key={tokenAddress} value={tokenAddress}>
            {symbol || 'token'}{' '}
            {tokenAddress === NATIVE_CURRENCY ? '(native currency)' : `(${getAddress(tokenAddress)})`}
          </option>
        ))}
      </FormSelect>
      <FormText
        form={form}
        name="amount"
        label="Amount"
        inputMode="decimal"
        disabled={!asset}
        hint={amountHint(amount, asset)}
      />
      <AddressField form={form} label="Recipient" organization={organization} network={network} />
      <DescriptionField form={form} />
      <ReferenceFields form={form} />
      <ReplacesField form={form} />
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
