import type { Organization } from '../../api/useOrganization.ts';
import { chosenOf } from '../../domain/chosen.ts';
import type { Labels } from '../../state/useForm.ts';

/** A transaction as it is typed: a transfer, or a call. */
export interface TransactionDraft {
  readonly accountId: string;
  readonly networkId: string;
  readonly description: string;
  /** The failed transaction that it replaces, or empty. */
  readonly replaces: string;
  /** What it is known by in the records of others; tags with commas between them. */
  readonly externalId: string;
  readonly tags: string;
  /** The recipient, or the contract. */
  readonly to: string;
  /** What is transferred, and how much of it in whole units. */
  readonly token: string;
  readonly amount: string;
  /** What is called, and the native currency that the call sends. */
  readonly abi: string;
  readonly signature: string;
  readonly args: string[];
  readonly value: string;
}

export const NO_TRANSACTION: TransactionDraft = {
  accountId: '',
  networkId: '',
  description: '',
  replaces: '',
  externalId: '',
  tags: '',
  to: '',
  token: '',
  amount: '',
  abi: '',
  signature: '',
  args: [],
  value: '0',
};

/** What every transaction has to have, as its form labels it. */
export const SOURCE_LABELS: Labels = [
  ['accountId', 'account'],
  ['networkId', 'network'],
];

/** The account and network that are chosen; where there is no choice, the only one. */
export function sourceOf(
  { accountId, networkId }: Pick<TransactionDraft, 'accountId' | 'networkId'>,
  { accounts, networks }: Pick<Organization, 'accounts' | 'networks'>,
) {
  const account = chosenOf(accounts, accountId);
  const possible = networks.filter(({ id }) => account?.networks.some((one) => one.id === id));
  return { account, network: chosenOf(possible, networkId), possible };
}
