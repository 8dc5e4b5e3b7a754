import type { Schema } from '@orgwallet/client';
import type { Recipient } from '../domain/recipient.ts';
import { counted } from './counted.ts';

/** Whether a recipient is known, and from where. */
export function recipientText({ owner, policies, earlier, hasMore }: Recipient): string {
  const names = [
    ...(owner ? [`the ${owner}`] : []),
    ...(policies.length > 0 ? [`named in ${policies.map((name) => `“${name}”`).join(', ')}`] : []),
  ];
  const history =
    earlier > 0
      ? `${hasMore ? 'at least ' : ''}${counted(earlier, 'completed transaction')} to it before`
      : `first time: no completed transaction to it before`;
  const unnamed = earlier > 0 ? 'known address' : 'unknown address';
  return [...(names.length > 0 ? names : [unnamed]), history].join(', ');
}

/** What is not known about a recipient of tokens with code. */
export const RECIPIENT_CODES: { readonly [Code in Schema['RecipientCode']]: string } = {
  contract: 'The recipient is a contract: whether it can send tokens on is not known.',
  unknown: 'Whether the recipient is a contract is not known: the network did not answer.',
};
