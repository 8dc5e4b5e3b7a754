import type { Schema } from '@orgwallet/client';
import { quotedName } from '../domain/quotedName.ts';
import { counted } from './counted.ts';
import { dateTime } from './time.ts';

type Known = Schema['KnownAddress'];

/** Who or what has an address: `the member “Alice”`, `“ACME” in the address book`, `named in “Suppliers”`. */
export function knownText(
  known: readonly Known[],
  networkName: (id: number) => string | undefined,
): string | undefined {
  const named = (type: Known['type']) => known.filter((one) => one.type === type);
  const on = ({ networkId }: Known) =>
    networkId === undefined ? '' : ` on ${networkName(networkId) ?? `network ${networkId}`}`;
  const policies = named('policy').map(({ name }) => quotedName(name));
  const texts = [
    ...named('account').map(({ name }) => `the account ${quotedName(name)}`),
    ...named('member').map(({ name }) => `the member ${quotedName(name)}`),
    ...named('addressBookEntry').map((one) => `${quotedName(one.name)} in the address book${on(one)}`),
    ...(policies.length > 0 ? [`named in ${policies.join(', ')}`] : []),
  ];
  return texts.length > 0 ? texts.join(', ') : undefined;
}

/** Whether a recipient is known, from where, and what was paid to it. */
export function recipientText(
  { known, count, lastAt }: Pick<Schema['Recipient'], 'known' | 'count' | 'lastAt'>,
  networkName: (id: number) => string | undefined,
): string {
  const names = knownText(known, networkName) ?? (count > 0 ? 'known address' : 'unknown address');
  const last = lastAt === null ? '' : `, the last one ${dateTime(lastAt)}`;
  const history =
    count > 0
      ? `${counted(count, 'completed transaction')} to it before${last}`
      : `first time: no completed transaction to it before`;
  return `${names}, ${history}`;
}

/** What is not known about a recipient of tokens with code. */
export const RECIPIENT_CODES: { readonly [Code in Schema['RecipientCode']]: string } = {
  contract: 'The recipient is a contract: whether it can send tokens on is not known.',
  unknown: 'Whether the recipient is a contract is not known: the network did not answer.',
};
