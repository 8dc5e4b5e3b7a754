import type { Transaction } from '@orgwallet/client';
import { typedText } from './amounts.ts';
import { NATIVE_DECIMALS } from './assets.ts';
import { tagsText } from './references.ts';

/** What the form of a transaction begins with: the name of its draft, and its fields. */
interface Repeated {
  readonly form: 'transfer' | 'call';
  readonly draft: { readonly [field: string]: string | readonly string[] };
}

/**
 * The same transaction, to be created again; undefined where no form can: its function is not known, or it is not encoded as a form
 * would. `replaces`: the one that it stands for. It has the same tags; an id of yours is for one transaction alone.
 */
export function repeated(
  transaction: Transaction,
  { replaces = '' }: { readonly replaces?: string } = {},
): Repeated | undefined {
  const { accountId, networkId, description, value, tags } = transaction;
  const known = { accountId, networkId: String(networkId), description };
  const source = { ...known, replaces, externalId: '', tags: tagsText(tags) };
  if (transaction.type === 'TOKEN_TRANSFER') {
    const { destination, asset, rawAmount } = transaction.data;
    const amount = typedText(rawAmount, asset.decimals);
    return { form: 'transfer', draft: { ...source, token: asset.tokenAddress, to: destination, amount } };
  }
  const { toAddress, functionName, functionParameters = [], encodingFaults } = transaction.data;
  if (!functionName || encodingFaults || functionParameters.some(({ unread }) => unread)) return undefined;
  const inputs = functionParameters.map(({ name, type }) => `${type} ${name}`.trim()).join(', ');
  return {
    form: 'call',
    draft: {
      ...source,
      to: toAddress,
      abi: `${functionName}(${inputs})`,
      signature: '',
      args: functionParameters.map(({ value: text }) => text),
      value: typedText(value, NATIVE_DECIMALS),
    },
  };
}
