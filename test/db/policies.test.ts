import { createDatabase, type Db } from '../../src/db/database';
import { newId } from '../../src/db/ids';
import {
  definitionOf,
  findPolicies,
  findPolicy,
  insertPolicies,
  listPolicyTokens,
  removePolicies,
  replacePolicy,
} from '../../src/db/policies';
import type { Policy } from '../../src/domain/policy';
import { anAddress, anId } from '../support/builders';
import { makeOrganization } from '../support/service';
import { createTestDatabase } from '../support/stack';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let db: Db;
let organizationId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  db = createDatabase(database.url);
  organizationId = (await makeOrganization(db)).id;
});
afterAll(async () => {
  await db?.destroy();
  await database?.drop();
});

const largest = String(2n ** 256n - 1n);

type TransferPolicy = Extract<Policy, { transactionType: 'TOKEN_TRANSFER' }>;

function policy(change: Partial<TransferPolicy> = {}): TransferPolicy {
  return {
    id: newId('pol'),
    name: 'All "of it"',
    type: 'MANUAL_APPROVAL',
    transactionType: 'TOKEN_TRANSFER',
    networkId: 4_294_967_295,
    accountIds: [anId('acc'), anId('acc')],
    limitation: {
      hours: 8_760,
      initiatorScope: 'PER_ITEM',
      sourceAccountScope: 'ALL_ITEMS',
      destinationScope: 'PER_ITEM',
    },
    initiatorSetting: { type: 'user', memberId: anId('mem') },
    approverSetting: { type: 'group', groupId: anId('grp'), threshold: 100, excludeInitiator: true },
    tokenTransferCondition: {
      tokenAddress: anAddress(),
      tokenSymbol: '金',
      tokenName: 'Zwölf "Unzen"',
      tokenDecimals: 255,
      amountThreshold: largest,
      destinationAddresses: [anAddress(), anAddress()],
    },
    ...change,
  };
}

async function store(...policies: Policy[]): Promise<void> {
  await db.transaction((tx) => insertPolicies(tx, organizationId, policies));
}

async function stored(id: string): Promise<Policy | undefined> {
  const found = await findPolicy(db, organizationId, id);
  return found && { id: found.id, ...definitionOf(found) };
}

describe('a stored policy', () => {
  it('is read exactly as it was written', async () => {
    const transfers = policy();
    const { approverSetting: _, limitation: __, tokenTransferCondition: ___, ...common } = policy();
    const calls: Policy = {
      ...common,
      transactionType: 'CONTRACT_INTERACTION',
      type: 'AUTO_APPROVAL',
      initiatorSetting: null,
      accountIds: null,
      contractInteractionCondition: [
        {
          contractAddress: anAddress(),
          allowedFunctions: ['0xDEADBEEF', 'mint(address,uint256)'],
          functions: [{ selector: '0xdeadbeef' }, { name: 'mint', selector: '0x40c10f19' }],
          maxValue: largest,
        },
      ],
    };
    await store(transfers, calls);
    expect(await stored(transfers.id)).toEqual(transfers);
    expect(await stored(calls.id)).toEqual(calls);
    await db.transaction((tx) => replacePolicy(tx, { ...calls, id: transfers.id }));
    expect(await stored(transfers.id)).toEqual({ ...calls, id: transfers.id });
  });

  it('belongs to its organization, and is not found after its removal', async () => {
    const [one, other] = [policy(), policy()];
    await store(one, other);
    expect(await findPolicies(db, anId('org'), [one.id])).toEqual([]);
    await db.transaction((tx) => removePolicies(tx, [one.id]));
    expect(await stored(one.id)).toBeUndefined();
    expect(await stored(other.id)).toEqual(other);
  });

  it.each([
    ['an unknown type', { type: 'NO_APPROVAL' }],
    ['an unknown scope', { limitation: { ...policy().limitation, destinationScope: 'SOME_ITEMS' } }],
    ['an unknown field', { dailyLimit: '1' }],
    [
      'an amount that is a number',
      { tokenTransferCondition: { ...policy().tokenTransferCondition, amountThreshold: 1 } },
    ],
    ['an approver of an unknown type', { approverSetting: { type: 'anybody', excludeInitiator: false } }],
    ['an empty list of accounts', { accountIds: [] }],
    ['a window of a negative length', { limitation: { ...policy().limitation, hours: -1 } }],
    [
      'a maximum that is not a number',
      { tokenTransferCondition: { ...policy().tokenTransferCondition, amountThreshold: '1e3' } },
    ],
    ['no condition of its type', { tokenTransferCondition: undefined }],
    ['a condition of another type', { contractInteractionCondition: null }],
    ['no approver though one must approve', { approverSetting: undefined }],
    ['an approver though none must approve', { type: 'AUTO_APPROVAL' }],
    ['null where nothing is said', { limitation: null }],
  ])('with %s is not read at all', async (_, change) => {
    const broken = { ...policy(), ...change };
    await store(policy({ id: broken.id }));
    const { id, ...definition } = broken;
    await db('policies')
      .where({ id })
      .update({ definition: JSON.stringify(definition) });
    await expect(findPolicy(db, organizationId, id)).rejects.toThrow(
      `stored policy ${id} is unreadable and permits nothing`,
    );
    await db('policies').where({ id }).delete();
  });

  it('names tokens for its accounts, each once', async () => {
    const account = anId('acc');
    const token = policy().tokenTransferCondition;
    const zero = `0x${'0'.repeat(40)}`;
    const named = policy({ accountIds: [anId('acc'), account] });
    await store(
      named,
      policy({ accountIds: [account], tokenTransferCondition: named.tokenTransferCondition }),
      policy({ accountIds: [anId('acc')] }),
      policy({ accountIds: [account], tokenTransferCondition: { ...token, tokenAddress: zero } }),
      policy({ accountIds: [account], tokenTransferCondition: { ...token, tokenAddress: null } }),
    );
    const { tokenAddress, tokenSymbol, tokenName, tokenDecimals } = named.tokenTransferCondition;
    expect(await listPolicyTokens(db, organizationId, account)).toEqual([
      {
        networkId: named.networkId,
        address: tokenAddress,
        symbol: tokenSymbol,
        name: tokenName,
        decimals: tokenDecimals,
        logoUrl: null,
      },
    ]);
  });
});
