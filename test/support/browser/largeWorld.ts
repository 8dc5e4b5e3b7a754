import type { Db } from '../../../src/db/database';
import { newId } from '../../../src/db/ids';
import { change, type Shown } from '../api';
import { anAddress } from '../builders';
import { aPolicyItem, aTokenCondition } from '../policies';
import type { TestService } from '../service';
import { storeAccount, storeTransaction } from '../storedTransactions';
import { makePaymentWorld, type PaymentWorld } from './paymentWorld';

/** How much of everything a large organization has. */
const LARGE = { members: 30, policies: 25, accounts: 15, groups: 12, transactions: 730 };

/** An organization that pays and has as much as a large one, with a group of everybody. */
export interface LargeWorld extends PaymentWorld {
  readonly everybody: Shown;
}

const times = <T>(count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(n + 1));

/** Copies a row of a table once for each change, with other values in the columns that the change has. */
async function copyRow(db: Db, table: string, id: string, changes: readonly object[]): Promise<void> {
  await db.raw(
    `INSERT INTO ?? SELECT copy.* FROM ?? AS row, jsonb_array_elements(?) AS change,
       jsonb_populate_record(NULL::${table}, to_jsonb(row) || change) AS copy
     WHERE row.id = ?`,
    [table, table, JSON.stringify(changes), id],
  );
}

/**
 * Makes one. Most accounts and transactions are stored past the proposals and signatures that would make them. `rowOf`: columns
 * of a transaction and of its approval, by its number.
 */
export async function makeLargeWorld(
  api: TestService,
  rowOf: (n: number) => object = (n) => ({ description: `Payment ${n}` }),
): Promise<LargeWorld> {
  const world = await makePaymentWorld(api);
  const { org, treasury, byTwo } = world;
  const { http, db } = api;
  const already = (await http.send({ key: org.readKey, path: '/api/v1/members' })).body.data as Shown[];
  const added = await change(http, org, '/members/proposals/create', {
    items: times(LARGE.members - already.length, (n) => ({
      name: `Person ${n}`,
      walletAddress: anAddress(),
    })),
  });
  const ids = [...already, ...added.result.resources].map(({ id }) => id);
  const groups = await change(http, org, '/groups/proposals/create', {
    items: times(LARGE.groups - 1, (n) => ({
      name: `Group ${n}`,
      memberIds: n === 1 ? ids : ids.slice(0, n),
    })),
  });
  const groupId = groups.result.resources[0].id;
  await change(http, org, '/policies/proposals/add', {
    policies: times(LARGE.policies - 2, (n) =>
      aPolicyItem({
        name: `Payments ${n} of a team with a long name`,
        type: 'MANUAL_APPROVAL',
        approverSetting: { type: 'group', groupId, threshold: 2, excludeInitiator: true },
        initiatorSetting: { type: 'group', groupId },
        tokenTransferCondition: aTokenCondition({
          amountThreshold: '1000000000000000000',
          destinationAddresses: times(20, () => anAddress()),
        }),
      }),
    ),
  });
  for (let n = 2; n <= LARGE.accounts; n += 1) await storeAccount(db, org.id, { name: `Account ${n}` });
  const of = { organizationId: org.id, accountId: treasury.id, policyId: byTwo.id, initiatorId: org.dave.id };
  const stored = await storeTransaction(db, of, { position: 0n });
  const rows = times(LARGE.transactions, (n) => ({ id: newId('txn'), position: -n, ...rowOf(n) }));
  await copyRow(db, 'approvals', stored, rows);
  await copyRow(db, 'transactions', stored, rows);
  for (const table of ['transactions', 'approvals']) await db(table).where({ id: stored }).delete();
  return { ...world, everybody: groups.result.resources[0] };
}
