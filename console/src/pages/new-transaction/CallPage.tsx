import type { Schema } from '@orgwallet/client';
import { useQuery } from '@tanstack/react-query';
import { type AbiFunction, isAddress } from 'viem';
import { balancesQuery } from '../../api/queries.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { useSession } from '../../api/useSession.ts';
import { faultsOfTransaction } from '../../contract/transactionBody.ts';
import { isSameAddress } from '../../domain/address.ts';
import { assetText, readAmount } from '../../domain/amounts.ts';
import { NATIVE_DECIMALS, type Sendable, sendableOn } from '../../domain/assets.ts';
import {
  calldataOf,
  distinctFunctions,
  exampleOf,
  readAbi,
  readArgument,
  signatureOf,
} from '../../domain/contractCall.ts';
import { type Faults, placed } from '../../domain/faults.ts';
import { readPrefixed } from '../../domain/prefixedAddress.ts';
import { type Bound, checked, type Labels, useForm } from '../../state/useForm.ts';
import { FormSelect, FormText, FormTextArea } from '../../ui/formFields.tsx';
import { AddressField } from './AddressField.tsx';
import { NewTransactionPage } from './NewTransactionPage.tsx';
import { ReferenceFields, sentReferences, TAGS_PLACE } from './ReferenceFields.tsx';
import { RequestForm } from './RequestForm.tsx';
import { DescriptionField, ReplacesField, SourceFields } from './SourceFields.tsx';
import { NO_TRANSACTION, SOURCE_LABELS, sourceOf, type TransactionDraft } from './transactionDraft.ts';
import { type Typed, useRequest } from './useRequest.ts';

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
  form,
  item,
  args,
  token,
  onTyped,
}: {
  readonly form: Bound<TransactionDraft>;
  readonly item: AbiFunction;
  readonly args: readonly string[];
  /** The contract, where it is a known token. */
  readonly token: Sendable | undefined;
  readonly onTyped: () => void;
}) {
  return item.inputs.map((parameter, index) => (
    <FormText
      key={`${signatureOf(item)}/${index.toString()}`}
      form={form}
      name={`args.${index}`}
      onTyped={onTyped}
      label={`${parameter.name || `argument ${index + 1}`} (${parameter.type})`}
      hint={amountHint(parameter.type, args[index] ?? '', token) ?? exampleOf(parameter.type)}
    />
  ));
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

/** What is wrong with a call: of the arguments, the function, and what the service would refuse. */
function faultsOf(
  draft: TransactionDraft,
  call: Parameters<typeof typedCall>[1] & {
    readonly item: AbiFunction | undefined;
    readonly abi: ReturnType<typeof readAbi>;
  },
): Faults {
  const { item, abi, account, network, data, value, initiator } = call;
  const read = readPrefixed(draft.to, network);
  const args = (item?.inputs ?? []).flatMap((parameter, index) => {
    const argument = readArgument(parameter, draft.args[index] ?? '');
    return 'error' in argument ? [[`args.${index}`, argument.error] as const] : [];
  });
  const { data: _, ...others } = faultsOfTransaction({
    accountId: account?.id,
    networkId: network?.id,
    initiatorWalletAddress: initiator,
    description: draft.description,
    to: draft.to.trim(),
    value: 'raw' in value ? value.raw : '0',
    data,
    replaces: draft.replaces || undefined,
  });
  return {
    ...others,
    ...('error' in read ? { to: read.error } : {}),
    ...('error' in abi && draft.abi !== '' ? { abi: abi.error } : {}),
    ...(item ? Object.fromEntries(args) : { signature: 'is required' }),
    ...('error' in value ? { value: value.error } : {}),
  };
}

/** What has to be filled in, as the form labels it. */
function labelsOf({ inputs }: Pick<AbiFunction, 'inputs'>): Labels {
  return [
    ...SOURCE_LABELS,
    ['to', 'contract'],
    ['signature', 'function'],
    ...inputs.map((_, index) => [`args.${index}`, 'arguments'] as const),
    ['value', 'value'],
  ];
}

function Call({ organization }: { readonly organization: Organization }) {
  const { member } = useSession();
  const typed = useForm(NO_TRANSACTION, 'call');
  const { draft, change, forget } = typed;
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
  const value = readAmount(draft.value, NATIVE_DECIMALS);
  const data = item ? calldataOf(item, draft.args) : undefined;
  const call = { account, network, data, value, initiator: member.walletAddress };
  const faults = faultsOf(draft, { ...call, item, abi });
  const request = useRequest(Object.keys(faults).length === 0 ? typedCall(draft, call) : undefined, forget);
  const form = {
    ...checked(typed, faults, labelsOf(item ?? { inputs: [] })),
    refused: placed(request.errors, [[/^data$/, 'signature'], TAGS_PLACE]),
  };
  const noArguments = { args: draft.args.map(() => '') };
  return (
    <RequestForm form={form} request={request} organization={organization}>
      <SourceFields form={form} organization={organization} />
      <AddressField form={form} label="Contract" organization={organization} network={network} />
      <FormTextArea
        form={form}
        name="abi"
        label="ABI (optional where a policy names the function)"
        hint="JSON, or one signature per line: mint(address to, uint256 amount)"
        className="mono"
        spellCheck={false}
        onTyped={() => change({ signature: '', ...noArguments })}
      />
      <FormSelect
        form={form}
        name="signature"
        label="Function"
        shown={item ? signatureOf(item) : ''}
        disabled={functions.length === 0}
        hint={
          functions.length === 0 ? 'Enter the ABI, or a contract whose functions a policy names.' : undefined
        }
        onChoice={() => change(noArguments)}
      >
        {functions.length > 0 && !item ? <option value="">Choose a function</option> : null}
        {functions.map((one) => (
          <option key={signatureOf(one)} value={signatureOf(one)}>
            {signatureOf(one)}
          </option>
        ))}
      </FormSelect>
      {item ? (
        <Arguments
          form={form}
          item={item}
          args={draft.args}
          token={token}
          onTyped={() => change({ signature: signatureOf(item) })}
        />
      ) : null}
      <FormText
        form={form}
        name="value"
        label={`Value (${network?.nativeAsset.symbol ?? 'native currency'})`}
        inputMode="decimal"
      />
      <DescriptionField form={form} />
      <ReferenceFields form={form} />
      <ReplacesField form={form} />
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
  { to, description, replaces, ...rest }: TransactionDraft,
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
    references: sentReferences(rest),
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
