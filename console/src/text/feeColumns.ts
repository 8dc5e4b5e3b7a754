import type { Schema } from '@orgwallet/client';
import type { CsvColumn } from './csv.ts';

/** What a file of fees names. */
interface Named {
  account(id: string): string | undefined;
  network(id: number): string | undefined;
  readonly policies: readonly Pick<Schema['Policy'], 'id' | 'name'>[];
}

/** Fees in a file, with the names of now. Amounts are exact, in whole units and in wei. */
export function feeColumns({ account, network, policies }: Named): readonly CsvColumn<Schema['Fee']>[] {
  return [
    ['month', ({ month }) => month],
    ['account', ({ accountId }) => (accountId === null ? undefined : account(accountId))],
    ['accountId', ({ accountId }) => accountId ?? undefined],
    ['network', ({ networkId }) => network(networkId) ?? networkId],
    ['policy', ({ policyId }) => policies.find(({ id }) => id === policyId)?.name],
    ['policyId', ({ policyId }) => policyId ?? undefined],
    ['kind', ({ kind }) => kind],
    ['paid', ({ displayAmount }) => displayAmount ?? undefined],
    ['symbol', ({ asset }) => asset?.symbol],
    ['paidWei', ({ paid }) => paid],
    ['dataFeeWei', ({ dataFee }) => dataFee],
    ['gasUsed', ({ gasUsed }) => gasUsed],
    ['chainTransactions', ({ chainTransactions }) => chainTransactions],
    ['unknown', ({ unknown }) => unknown],
  ];
}
