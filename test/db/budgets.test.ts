/** @deep */

import { randomUUID } from 'node:crypto';
import { databaseNow } from '../../src/db/database';
import { insertPolicies } from '../../src/db/policies';
import { reserveUsage } from '../../src/db/reservedUsage';
import { lockTransaction } from '../../src/db/transactions';
import { NATIVE_CURRENCY } from '../../src/domain/policy';
import { mapLimit } from '../../src/mapLimit';
import { policyRefusal } from '../../src/transactions/policy';
import { anId } from '../support/builders';
import { itDeep } from '../support/suite';
import { NETWORK_ID } from '../support/transactions';
import { playBudgets } from './budgetProperties';
import {
  type Budget,
  type BudgetFixture,
  policyOf,
  startBudgetFixture,
  storeInitiated,
} from './budgetSequences';

jest.setTimeout(600_000);

const HOUR_MS = 3_600_000;
const SHARED = {
  initiatorScope: 'ALL_ITEMS',
  sourceAccountScope: 'ALL_ITEMS',
  destinationScope: 'ALL_ITEMS',
} as const;
const PAYMENT = { initiator: 0, account: 0, destination: 0, amount: 1 };

/** So many are begun at once, as the service has connections; each that ends makes place for the next. */
const IN_FLIGHT = 10;

describe('a budget', () => {
  let fixture: BudgetFixture;
  beforeAll(async () => {
    fixture = await startBudgetFixture();
  });
  afterAll(() => fixture?.end());

  async function makePolicy(budget: Budget): Promise<string> {
    const policy = policyOf(anId('pol'), budget);
    await fixture.service.transaction((tx) => insertPolicies(tx, fixture.org.id, [policy]));
    return policy.id;
  }

  /** Executes payments of all sorts at once; how many were let through, and why the others were not. */
  async function atOnce(budget: Budget, count: number) {
    const policyId = await makePolicy(budget);
    const ids: string[] = [];
    for (let n = 0; n < count; n += 1) {
      const [initiator, account, destination] = [n % 2, (n >> 1) % 2, (n >> 2) % 2];
      ids.push(await storeInitiated(fixture, policyId, { initiator, account, destination, amount: 1 }));
    }
    const organizationId = fixture.org.id;
    const answers: (string | null)[] = [];
    await mapLimit(IN_FLIGHT, ids, async (id) => {
      const ref = { subject: 'transaction' as const, organizationId, id, messageId: randomUUID() };
      const begun = await fixture.activities.beginExecution({ ...ref, type: 'approve' });
      answers.push(
        begun.ok ? (begun.state.failure?.code ?? begun.state.executionStatus) : begun.refusal.code,
      );
    });
    const reserved = await fixture.owner('policy_usage').where({ policy_id: policyId }).sum('amount').first();
    return {
      processing: answers.filter((answer) => answer === 'processing').length,
      budget: answers.filter((answer) => answer === 'budget').length,
      reserved: Number(reserved?.sum),
    };
  }

  itDeep('for 25 permits 25 of 100 simultaneous executions', async () => {
    const budget = { cap: 25, limitation: { hours: 24, ...SHARED } };
    expect(await atOnce(budget, 100)).toEqual({ processing: 25, budget: 75, reserved: 25 });
  });

  it('per initiator and recipient permits each of them as often', async () => {
    const scopes = { ...SHARED, initiatorScope: 'PER_ITEM', destinationScope: 'PER_ITEM' } as const;
    const budget = { cap: 3, limitation: { hours: 1, ...scopes } };
    expect(await atOnce(budget, 40)).toEqual({ processing: 12, budget: 28, reserved: 12 });
  });

  it('without an amount permits one of 20', async () => {
    const budget = { cap: null, limitation: { hours: 1, ...SHARED } };
    expect(await atOnce(budget, 20)).toEqual({ processing: 1, budget: 19, reserved: 1 });
  });

  it.each([1, 24, 8_760])(
    'of %i hours is free of an execution one millisecond after the last instant of its window, and not before',
    async (hours) => {
      const policyId = await makePolicy({ cap: 10, limitation: { hours, ...SHARED } });
      const earlier = await storeInitiated(fixture, policyId, { ...PAYMENT, amount: 9 });
      const [fitting, tooMuch] = [
        await storeInitiated(fixture, policyId, { ...PAYMENT, amount: 1 }),
        await storeInitiated(fixture, policyId, { ...PAYMENT, amount: 2 }),
      ];
      const tx = await fixture.service.transaction();
      try {
        await reserveUsage(tx, {
          organizationId: fixture.org.id,
          policyId,
          transactionId: earlier,
          networkId: NETWORK_ID,
          tokenAddress: NATIVE_CURRENCY,
          amount: 9n,
          initiatorId: fixture.org.alice.id,
          accountId: fixture.accounts[0] ?? '',
          destination: '0x',
        });
        const nowMs = (await databaseNow(tx)).getTime();
        const refusalOf = async (id: string) => {
          const locked = await lockTransaction(tx, { organizationId: fixture.org.id, id });
          return locked && ((await policyRefusal(tx, locked, { networks: [] }))?.code ?? null);
        };
        const blockAt = (ms: number) =>
          tx('policy_usage')
            .where({ transaction_id: earlier })
            .update({ status: 'committed', block_at: new Date(ms), decided_at: new Date() });
        expect([await refusalOf(fitting), await refusalOf(tooMuch)]).toEqual([null, 'budget']);
        for (const off of [0, 1, 1_000, hours * HOUR_MS]) {
          await blockAt(nowMs - hours * HOUR_MS + off);
          expect([await refusalOf(fitting), await refusalOf(tooMuch)]).toEqual([null, 'budget']);
        }
        await blockAt(nowMs - hours * HOUR_MS - 1);
        expect([await refusalOf(fitting), await refusalOf(tooMuch)]).toEqual([null, null]);
      } finally {
        await tx.rollback();
      }
    },
  );
});

test('is never exceeded by sequential or concurrent executions', async () => {
  await playBudgets({ runs: 12 });
});
