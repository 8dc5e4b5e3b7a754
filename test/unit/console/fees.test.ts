import type { Schema } from '@orgwallet/client';
import { csv } from '../../../console/src/text/csv.ts';
import { feeColumns } from '../../../console/src/text/feeColumns.ts';

it('the file of fees has names, whole units and wei', () => {
  const fee = {
    month: '2025-06',
    networkId: 1,
    accountId: 'acc_1',
    policyId: null,
    kind: 'deployment',
    asset: { symbol: 'ETH' },
    displayAmount: '0.0021',
    paid: '2100000000000000',
    gasUsed: '210000',
    dataFee: '7',
    chainTransactions: 2,
    unknown: 1,
  } as Schema['Fee'];
  const columns = feeColumns({ account: () => 'Treasury', network: () => 'Ethereum', policies: [] });
  expect(csv(columns, [fee]).split('\r\n')).toEqual([
    'month,account,accountId,network,policy,policyId,kind,paid,symbol,paidWei,dataFeeWei,gasUsed,chainTransactions,unknown',
    '2025-06,Treasury,acc_1,Ethereum,,,deployment,0.0021,ETH,2100000000000000,7,210000,2,1',
    '',
  ]);
});
