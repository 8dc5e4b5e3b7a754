import { zeroAddress } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { newId } from '../../src/db/ids';
import type { Limitation, Policy } from '../../src/domain/policy';
import { evaluate } from '../../src/domain/policyEngine';
import { type Figure, figure } from './figures';
import { timed } from './measure';

const NETWORK_ID = 31_337;
const POLICIES = 100;

/** Policy evaluations per second, with 100 policies per transaction. */
export async function measureEvaluation(): Promise<Figure> {
  const anAddress = () => privateKeyToAccount(generatePrivateKey()).address;
  const member = {
    id: newId('mem'),
    name: 'Dave',
    walletAddress: anAddress(),
    type: 'user' as const,
    walletKind: 'key' as const,
  };
  const account = { id: newId('acc'), networkIds: [NETWORK_ID] };
  const destination = anAddress();
  const limitation: Limitation = {
    hours: 24,
    initiatorScope: 'PER_ITEM',
    sourceAccountScope: 'ALL_ITEMS',
    destinationScope: 'ALL_ITEMS',
  };
  const policies = Array.from({ length: POLICIES }, (_, index): Policy => {
    const common = {
      ...({ id: newId('pol'), name: `Policy ${index}`, type: 'AUTO_APPROVAL' } as const),
      ...{ networkId: NETWORK_ID, initiatorSetting: null },
      accountIds: [newId('acc'), account.id],
      ...(index % 2 === 0 ? { limitation } : {}),
    };
    if (index % 4 === 0) {
      const rule = {
        ...{ contractAddress: destination, allowedFunctions: ['0x12345678'], maxValue: '0' },
        functions: [{ selector: '0x12345678' }],
      };
      return {
        ...common,
        transactionType: 'CONTRACT_INTERACTION',
        contractInteractionCondition: [rule],
      };
    }
    return {
      ...common,
      transactionType: 'TOKEN_TRANSFER',
      tokenTransferCondition: {
        ...{ tokenAddress: zeroAddress, tokenSymbol: 'ETH', tokenName: 'Ether' },
        ...{ tokenDecimals: 18, amountThreshold: String(index) },
        destinationAddresses: [anAddress(), destination],
      },
    };
  });
  const context = {
    account,
    members: new Map([[member.id, member]]),
    groups: new Map(),
    isRestricted: () => false,
    nativeAsset: { symbol: 'ETH', decimals: 18 },
    tokenFault: null,
    usage: { amount: 7n, executions: 3, oldestBlockAt: new Date(), at: new Date() },
  };
  const transaction = {
    ...{ networkId: NETWORK_ID, accountId: account.id, initiatorId: member.id },
    content: { type: 'TOKEN_TRANSFER', tokenAddress: zeroAddress, destination, amount: 40n },
    nested: { calls: null, mentions: null },
  } as Parameters<typeof evaluate>[1];
  const rates: number[] = [];
  for (let round = -2; round < 10; round += 1) {
    const transactions = 500;
    const ms = await timed(async () => {
      for (let one = 0; one < transactions; one += 1) {
        for (const policy of policies) evaluate(policy, transaction, context);
      }
    });
    if (round >= 0) rates.push((transactions * POLICIES * 1_000) / ms);
  }
  return figure(`policy evaluations, ${POLICIES} policies`, '/s', rates);
}
