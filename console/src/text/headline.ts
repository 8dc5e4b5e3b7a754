import type { Approval, Proposal, Transaction } from '@orgwallet/client';
import { shortAddress } from '../domain/address.ts';
import { assetText, shortAmountText } from '../domain/amounts.ts';
import { plainName, quotedName } from '../domain/quotedName.ts';
import { sentAsset } from '../domain/sentAsset.ts';
import { type AddressNames, namedAddress } from './addressName.ts';

/** The names that a line can use in place of ids. */
export interface Names extends AddressNames {
  account(id: string): string | undefined;
  network(id: number): string | undefined;
}

/** `“A”, “B” and 3 more`. */
function listed(names: readonly string[]): string {
  const shown = names.slice(0, 3).map(quotedName).join(', ');
  return names.length > 3 ? `${shown} and ${names.length - 3} more` : shown;
}

const VERBS = {
  members: { create: 'Add', update: 'Change', remove: 'Remove' },
  groups: { create: 'Create', update: 'Change', delete: 'Delete' },
  policies: { create: 'Add', update: 'Change', remove: 'Remove' },
  accounts: { create: 'Create', update: 'Change' },
} as const;
const NOUNS = { members: 'member', groups: 'group', policies: 'policy', accounts: 'account' } as const;
const PLURALS = { members: 'members', groups: 'groups', policies: 'policies', accounts: 'accounts' } as const;

function proposalLine(proposal: Proposal, names: Names): string {
  const { resourceType, action, data } = proposal;
  if (resourceType === 'admins') {
    const { members, threshold } = data;
    return `Change the admins: threshold ${threshold} of ${members.length}`;
  }
  const things: readonly { name?: string; id: string }[] = 'policies' in data ? data.policies : data.items;
  const verb = (VERBS[resourceType] as { readonly [action: string]: string })[action] ?? 'Change';
  const noun = things.length === 1 ? NOUNS[resourceType] : PLURALS[resourceType];
  // A change of an account says its name only when that changes.
  return `${verb} ${noun} ${listed(things.map(({ name, id }) => name ?? names.account(id) ?? id))}`;
}

function transactionLine(transaction: Transaction, names: Names): string {
  const account = names.account(transaction.accountId);
  const from = account ? ` from ${quotedName(account)}` : '';
  const on = plainName(names.network(transaction.networkId) ?? `network ${transaction.networkId}`);
  if (transaction.type === 'TOKEN_TRANSFER') {
    const { destination, rawAmount } = transaction.data;
    const { networkId } = transaction;
    const shown = shortAddress(destination);
    const owner = names.owner(destination);
    const to = owner ? quotedName(owner) : namedAddress(destination, names, { networkId, shown });
    return `Send ${assetText(rawAmount, sentAsset(transaction), shortAmountText)}${from} to ${to} on ${on}`;
  }
  const { toAddress, functionName, encodingFaults } = transaction.data;
  const odd = encodingFaults ? ', not encoded canonically' : '';
  return `Call ${functionName ?? 'an unknown function'} of ${shortAddress(toAddress)}${odd}${from} on ${on}`;
}

/** A request in one line, from the service's record. What is signed is read from the payload instead. */
export function headline(approval: Approval, names: Names): string {
  return 'resourceType' in approval ? proposalLine(approval, names) : transactionLine(approval, names);
}
