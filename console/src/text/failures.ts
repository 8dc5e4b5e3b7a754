import type { Schema } from '@orgwallet/client';

type Code = Schema['Failure']['code'];

/** What has gone wrong, as the title of a failure. */
const TITLES: { readonly [C in Code]: string } = {
  rpc: 'The network did not answer',
  reverted: 'The call reverted',
  accountFunds: 'The account has insufficient funds',
  feeCeiling: 'Gas costs more than is permitted',
  relayerFunds: 'The relayer has insufficient funds for gas',
  policy: 'The policy does not permit it',
  budget: 'The budget is used up',
  stale: 'What was signed is out of date',
  timeout: 'It was not executed in time',
  endpoints: 'The nodes of the network disagree',
  closedByOperator: 'An operator has closed it',
};

/** The title of a failure. A code that this page does not know yet is of a newer service. */
export const failureTitle = (code: string): string =>
  (TITLES as { readonly [code: string]: string })[code] ?? 'It was not executed';
