import type { Schema } from '@orgwallet/client';

type Channel = Schema['Channel'];
type Occasion = Channel['occasions'][number];

/** What a channel can be for, in words. */
export const OCCASIONS: readonly { readonly id: Occasion; readonly name: string; readonly hint: string }[] = [
  { id: 'asked', name: 'Signatures wanted', hint: 'with who is missing' },
  {
    id: 'reminder',
    name: 'Reminders',
    hint: 'signatures are missing after half and after nine tenths of the time',
  },
  { id: 'decided', name: 'Decided', hint: 'executed, rejected, expired or closed' },
  { id: 'failed', name: 'Failed or blocked', hint: 'with what to do' },
  { id: 'moneyIn', name: 'Money in', hint: 'an account received native currency or a known token' },
  {
    id: 'security',
    name: 'Security',
    hint: 'admins, members, groups, policies, keys, webhooks and channels, a freeze, a sign-in from a new browser',
  },
];

/** The occasions of a channel, in one text. */
export function occasionsText(occasions: readonly string[]): string {
  const names = OCCASIONS.filter(({ id }) => occasions.includes(id)).map(({ name }) => name);
  return names.length === OCCASIONS.length ? 'everything' : names.join(', ');
}

export const KIND_NAMES: { readonly [kind in Channel['kind']]: string } = {
  slack: 'Slack',
  discord: 'Discord',
  telegram: 'Telegram',
  email: 'Email',
};

/** What a channel is doing, in words. */
export function channelState({ status, reason, lastFailure }: Channel): string {
  switch (status) {
    case 'active':
      return 'active';
    case 'unconfirmed':
      return 'waiting for the code that was sent';
    case 'failing':
      return `failing: ${lastFailure ?? 'no answer'}`;
    case 'paused':
      return 'paused until an operator resumes it';
    case 'disabled':
      return reason === 'request'
        ? 'disabled'
        : `disabled: ${reason === 'gone' ? 'the receiver is gone' : 'it failed for 5 days'}`;
  }
}
