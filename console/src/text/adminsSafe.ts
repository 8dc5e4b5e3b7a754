import type { Schema } from '@orgwallet/client';
import type { SafeOnNetwork, Weakness } from '../domain/adminsSafe.ts';

interface State {
  readonly text: string;
  readonly tone: 'plain' | 'good' | 'warning' | 'danger' | 'accent';
  /** What it means; absent where there is nothing to know. */
  readonly meaning?: string;
}

/** The states of the admins' Safe on a network. */
export const SAFE_STATES: { readonly [S in SafeOnNetwork['status']]: State } = {
  current: { text: 'up to date', tone: 'good' },
  missing: { text: 'being set up', tone: 'warning', meaning: 'The Safe does not exist there yet.' },
  behind: {
    text: 'behind',
    tone: 'warning',
    meaning: 'The latest change of the admins has not reached it yet.',
  },
  diverged: {
    text: 'changed on chain',
    tone: 'warning',
    meaning: 'Its owners changed it themselves. The next approved change of the admins sets it again.',
  },
  independent: {
    text: 'detached',
    tone: 'warning',
    meaning: 'Its owners removed the keeper. Changes of the admins no longer reach it.',
  },
  impossible: {
    text: 'not possible',
    tone: 'danger',
    meaning: 'Too few admins have a wallet that is a key. Nobody can take the accounts over there.',
  },
  unknown: { text: 'unknown', tone: 'plain', meaning: 'The signer cannot read it.' },
};

/** Whether an account can be taken over on a network. */
export const RESCUE_STATES: { readonly [R in Schema['AccountNetwork']['rescue']]: State } = {
  ready: { text: 'can be taken over', tone: 'good' },
  pending: { text: 'being set up', tone: 'warning' },
  none: { text: 'cannot be taken over', tone: 'warning' },
  takenOver: { text: 'taken over by the admins', tone: 'accent' },
};

/** What is weak in who the admins are, as a title and what follows from it. */
export const WEAKNESSES: { readonly [W in Weakness]: { readonly title: string; readonly text: string } } = {
  threshold: {
    title: 'One wallet is enough to take every account',
    text: 'The threshold is 1: whoever steals the wallet of one admin moves all the money, and freeze does not stop it. Use a threshold of 2 or more, and hardware wallets.',
  },
  bots: {
    title: 'Bots alone can take every account',
    text: 'As many admins are bots as must sign. Their keys are on servers. Raise the threshold above the number of bots, or make fewer bots admins.',
  },
};
