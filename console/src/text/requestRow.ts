import type { Approval, Schema, Transaction } from '@orgwallet/client';
import { shortAddress } from '../domain/address.ts';
import { hasMember, membersNamedBy } from '../domain/eligibility.ts';
import { plainName } from '../domain/quotedName.ts';
import { headline, type Names } from './headline.ts';

type Person = Pick<Schema['MemberSummary'], 'id' | 'name'>;

/** Who takes part in the requests of an organization, as it is now. */
interface Electorate<P extends Person = Person> {
  readonly members: readonly P[];
  readonly groups: readonly { readonly id: string; readonly members: readonly P[] }[];
  readonly policies: readonly Schema['Policy'][];
}

/** Who can approve a transaction under its policy. */
function approversOf<P extends Person>(
  transaction: Transaction,
  { members, groups, policies }: Electorate<P>,
): readonly P[] {
  const setting = policies.find(({ id }) => id === transaction.policy.id)?.approverSetting;
  if (!setting) return [];
  const named = membersNamedBy<P>(setting, { members, groups });
  return named.filter(({ id }) => !setting.excludeInitiator || id !== transaction.initiator.id);
}

/** Who can still approve or reject a request: those who could, and have not. */
export function undecided<P extends Person>(
  approval: Approval,
  electorate: Electorate<P>,
  admins: readonly P[],
): readonly P[] {
  const possible = 'resourceType' in approval ? admins : approversOf(approval, electorate);
  return possible.filter(({ id }) => !hasMember([...approval.approvals, ...approval.rejections], id));
}

/** Who can still sign, and how many of them are needed. */
export interface Missing {
  readonly count: number;
  readonly people: readonly Person[];
}

/** Whose signatures an open request lacks to be approved; undefined: none. */
export function missingOf(
  approval: Approval,
  electorate: Electorate,
  admins: readonly Person[],
): Missing | undefined {
  const { approvals, threshold, signatureStatus, signingPayloads } = approval;
  if (!signingPayloads) return undefined;
  if (signatureStatus === 'pendingInitiatorSignature' && 'initiator' in approval) {
    return { count: 1, people: [approval.initiator] };
  }
  const count = Math.max(0, threshold - approvals.length);
  if (count === 0) return undefined;
  return { count, people: undecided(approval, electorate, admins) };
}

const namesOf = (people: readonly Person[]) => people.map(({ name }) => plainName(name));

/** `Alice`, `Alice or Bob`, `2 of Alice, Bob and 3 others`. */
export function missingText({ count, people }: Missing): string {
  const names = namesOf(people);
  if (names.length === 0) return 'nobody can sign it now';
  const shown = names.length > 3 ? [...names.slice(0, 2), `${names.length - 2} others`] : names;
  const listed =
    shown.length > 1
      ? `${shown.slice(0, -1).join(', ')} ${count === 1 ? 'or' : 'and'} ${shown.at(-1)}`
      : shown[0];
  return count === 1 || count === names.length ? `${listed}` : `${count} of ${listed}`;
}

/** Who has signed: `Dave, Alice; rejected by Bob`. */
export function signedText(approval: Approval): string {
  const { approvals, rejections, signatureStatus } = approval;
  const initiator =
    'initiator' in approval && signatureStatus !== 'pendingInitiatorSignature' ? [approval.initiator] : [];
  const others = approvals.filter(({ id }) => !initiator.some((one) => one.id === id));
  const signed = namesOf([...initiator, ...others]).join(', ');
  const rejected = rejections.length > 0 ? `rejected by ${namesOf(rejections).join(', ')}` : '';
  return [signed, rejected].filter((text) => text !== '').join('; ') || 'nobody';
}

/** Who gets it: the recipient of a transfer, or the contract of a call. */
export const recipientAddressOf = (transaction: Transaction): string =>
  transaction.type === 'TOKEN_TRANSFER' ? transaction.data.destination : transaction.data.toAddress;

/** Whom it goes to: a name where there is one, and the ends of the address. */
export function recipientLine(transaction: Transaction, names: Names): string {
  const address = recipientAddressOf(transaction);
  const owner = names.owner(address);
  const shown = shortAddress(address);
  if (owner !== undefined) return `${plainName(owner)} (${shown})`;
  const noted = names.noted(address, transaction.networkId);
  return noted === undefined ? shown : `${plainName(noted)} (address book, ${shown})`;
}

/** Which account it is from, and on which network. */
export function sourceLine({ accountId, networkId }: Transaction, names: Names): string {
  const network = names.network(networkId) ?? `network ${networkId}`;
  return `${plainName(names.account(accountId) ?? accountId)} on ${plainName(network)}`;
}

/** What a request that moves no asset does, in a few words. */
export function actionLine(approval: Approval, names: Names): string {
  if ('resourceType' in approval) return headline(approval, names);
  if (approval.type === 'TOKEN_TRANSFER') return 'Transfer';
  return `Call ${approval.data.functionName ?? 'an unknown function'}`;
}
