import type { Schema } from '@orgwallet/client';
import { useQuery } from '@tanstack/react-query';
import { type AbiFunction, isAddress } from 'viem';
import { balancesQuery } from '../../api/queries.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { useSession } from '../../api/useSession.ts';
import { isSameAddress } from '../../domain/address.ts';
import { assetText, readAmount } from '../../domain/amounts.ts';
import { type Sendable, sendableOn } from '../../domain/assets.ts';
import {
  calldataOf,
  distinctFunctions,
  exampleOf,
  readAbi,
  readArgument,
  signatureOf,
} from '../../domain/contractCall.ts';
import { useDraft } from '../../state/drafts.ts';
import { SelectField, TextArea, TextField } from '../../ui/Field.tsx';
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
import { type Typed, useRequest } from './useRequest.ts';

interface Draft extends Source {
  readonly to: string;
  readonly abi: string;
  readonly signature: string;
  readonly args: readonly string[];
  readonly value: string;
}

const EMPTY: Draft = { ...NO_SOURCE, to: '', abi: '', signature: '', args: [], value: '0' };

/** Functions of a contract that policies name by their full signature. */
function namedFunctions(to: string, policies: readonly Schema['Policy'][]): readonly AbiFunction[] {
  const rules = policies.flatMap((policy) =>
    policy.transactionType === 'CONTRACT_INTERACTION' ? (policy.contractInteractionCondition ?? []) : [],
  );
  const signatures = rules
    .filter(({ contractAddress }) => contractAddress.toLowerCase() === to.trim().toLowerCase())
    .flatMap(({ allowedFunctions }) => allowedFunctions.filter((entry) => entry.includes('(')));
  return [...new Set(signatures)].flatMap((signature) => {
    const read = readAbi(signature);
    return 'value' in read ? read.value : [];
  });
}

/** An integer that is typed, as an amount of the token that is called: whoever types it sees how much it is. */
function amountHint(type: string, text: string, token: Sendable | undefined): string | undefined {
  const isAmount = token !== undefined && token.decimals !== null && type === 'uint256';
  return isAmount && /^\d+$/.test(text.trim()) ? `= ${assetText(BigInt(text.trim()), token)}` : undefined;
}

function Arguments({
  item,
  args,
  token,
  onChange,
}: {
  readonly item: AbiFunction;
  readonly args: readonly string[];
  /** The contract, where it is a known token. */
  readonly token: Sendable | undefined;
  readonly onChange: (args: readonly string[]) => void;
}) {
  return item.inputs.map((parameter, index) => {
    const text = args[index] ?? '';
    const read = readArgument(parameter, text);
    return (
      <TextField
        key={`${signatureOf(item)}/${index.toString()}`}
        label={`${parameter.name || `argument ${index + 1}`} (${parameter.type})`}
        hint={amountHint(parameter.type, text, token) ?? exampleOf(parameter.type)}
        value={text}
        error={text !== '' && 'error' in read ? read.error : undefined}
        onChange={({ target }) =>
          onChange(item.inputs.map((_, i) => (i === index ? target.value : (args[i] ?? ''))))
        }
      />
    );
  });
}

/** The contract at an address, where it is a token that the account, its policies or the token list know. */
function useToken(
  to: string,
  { account, network }: Pick<ReturnType<typeof sourceOf>, 'account' | 'network'>,
  { policies }: Organization,
): Sendable | undefined {
  const { data: balances = [] } = useQuery({
    ...balancesQuery(account?.id ?? ''),
    enabled: account !== undefined,
  });
  if (!network) return undefined;
  return sendableOn(network, balances, policies).find(({ tokenAddress }) =>
    isSameAddress(tokenAddress, to.trim()),
  );
}

/** What of the call has to be filled in yet, or corrected. */
function missingInCall(
  item: AbiFunction | undefined,
  data: string | undefined,
  value: ReturnType<typeof readAmount>,
): readonly string[] {
  const call = item === undefined ? ['function'] : data === undefined ? ['arguments'] : [];
  return 'error' in value ? [...call, 'value'] : call;
}

function Call({ organization }: { readonly organization: Organization }) {
  const { member } = useSession();
  const [draft, change, forget] = useDraft('call', EMPTY);
  const { account, network } = sourceOf(draft, organization);
  const abi = readAbi(draft.abi);
  const functions = distinctFunctions([
    ...namedFunctions(draft.to, organization.policies),
    ...('value' in abi ? abi.value : []),
  ]);
  // The list changes with the policies: what was typed for one function is never sent to another.
  const item =
    draft.signature === '' ? functions[0] : functions.find((one) => signatureOf(one) === draft.signature);
  const token = useToken(draft.to, { account, network }, organization);
  const value = readAmount(draft.value, network?.nativeAsset.decimals ?? 18);
  const data = item ? calldataOf(item, draft.args) : undefined;
  const typed = typedCall(draft, { account, network, data, value, initiator: member.walletAddress });
  const request = useRequest(typed, forget);
  const { errors } = request;
  return (
    <RequestForm
      request={request}
      organization={organization}
      missing={[...missingOf(draft.to, organization, draft), ...missingInCall(item, data, value)]}
    >
      <SourceFields source={draft} organization={organization} errors={errors} onChange={change} />
      <AddressField
        label="Contract"
        organization={organization}
        network={network}
        value={draft.to}
        error={errors.to}
        onChange={(to) => change({ to })}
      />
      <TextArea
        label="ABI (optional where a policy names the function)"
        hint="JSON, or one signature per line: mint(address to, uint256 amount)"
        className="mono"
        spellCheck={false}
        value={draft.abi}
        error={'error' in abi ? abi.error : undefined}
        onChange={({ target }) => change({ abi: target.value, signature: '', args: [] })}
      />
      <SelectField
        label="Function"
        value={item ? signatureOf(item) : ''}
        disabled={functions.length === 0}
        hint={
          functions.length === 0 ? 'Enter the ABI, or a contract whose functions a policy names.' : undefined
        }
        error={errors.data}
        onChange={({ target }) => change({ signature: target.value, args: [] })}
      >
        {functions.length > 0 && !item ? <option value="">Choose a function</option> : null}
        {functions.map((one) => (
          <option key={signatureOf(one)} value={signatureOf(one)}>
            {signatureOf(one)}
          </option>
        ))}
      </SelectField>
      {item ? (
        <Arguments
          item={item}
          args={draft.args}
          token={token}
          onChange={(args) => change({ args, signature: signatureOf(item) })}
        />
      ) : null}
      <TextField
        label={`Value (${network?.nativeAsset.symbol ?? 'native currency'})`}
        inputMode="decimal"
        value={draft.value}
        error={'error' in value ? value.error : errors.value}
        onChange={({ target }) => change({ value: target.value })}
      />
      <DescriptionField source={draft} errors={errors} onChange={change} />
      <ReplacesField source={draft} errors={errors} onChange={change} />
      {data ? (
        <details>
          <summary>Calldata</summary>
          <pre>{data}</pre>
        </details>
      ) : null}
    </RequestForm>
  );
}

/** The call, once everything is typed. */
function typedCall(
  { to, description, replaces }: Draft,
  {
    account,
    network,
    data,
    value,
    initiator,
  }: {
    readonly account: Schema['Account'] | undefined;
    readonly network: Schema['Network'] | undefined;
    readonly data: `0x${string}` | undefined;
    readonly value: ReturnType<typeof readAmount>;
    readonly initiator: string;
  },
): Typed | undefined {
  const target = to.trim();
  if (!account || !network || !data || 'error' in value || !isAddress(target)) return undefined;
  const call = {
    networkId: network.id,
    to: target,
    value: value.raw,
    data,
    ...(replaces ? { replaces } : {}),
  };
  return {
    intent: { type: 'call', account: account.address, ...call },
    asked: { accountId: account.id, initiatorWalletAddress: initiator, description, ...call },
  };
}

/** Creates the call of a contract. */
export function CallPage() {
  return (
    <NewTransactionPage
      title="New contract interaction"
      lead="Call a function of a contract from an account. A policy must permit it."
    >
      {(organization) => <Call organization={organization} />}
    </NewTransactionPage>
  );
}
