import fc from 'fast-check';
import { z } from 'zod';
import { createDatabase, type Db } from '../../src/db/database';
import { insertGroups } from '../../src/db/groups';
import { newId } from '../../src/db/ids';
import { insertPolicies } from '../../src/db/policies';
import { readReferencedRecords } from '../../src/db/referencedRecords';
import { listTransactions } from '../../src/db/transactionLists';
import { type Policy, policyDefinitionSchema, policyPeople } from '../../src/domain/policy';
import { anAddress, anId } from '../support/builders';
import { aPolicyWorld, policyItems, storedPolicy } from '../support/policies';
import { makeOrganization, type TestOrganization } from '../support/service';
import { createTestDatabase } from '../support/stack';
import { storeAccount, storeTransaction } from '../support/storedTransactions';

const POLICIES = 150;

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let db: Db;
let org: TestOrganization;
let groups: readonly { readonly id: string; readonly name: string; readonly memberIds: readonly string[] }[];
let policies: readonly Policy[];

beforeAll(async () => {
  database = await createTestDatabase();
  db = createDatabase(database.url);
  org = await makeOrganization(db);
  const { alice, bob, carol, bot } = org;
  groups = [
    { id: newId('grp'), name: 'One', memberIds: [carol.id] },
    { id: newId('grp'), name: 'Three', memberIds: [alice.id, bob.id, bot.id] },
  ];
  await db.transaction((tx) => insertGroups(tx, org.id, groups));
  const world = {
    ...aPolicyWorld(),
    memberIds: [alice.id, bob.id],
    groups: groups.map(({ id, memberIds }) => ({ id, size: memberIds.length })),
  };
  policies = fc.sample(policyItems(world), POLICIES).map((item, i) => ({
    ...storedPolicy({ ...item, name: `Sample ${i}` }),
    id: newId('pol'),
  }));
  await db.transaction((tx) => insertPolicies(tx, org.id, policies));
});
afterAll(async () => {
  await db?.destroy();
  await database?.drop();
});

/** Where the ids of people are in a value, or in the JSON schema of one: `approverSetting.memberId`. */
function placesOfPeople(value: unknown, at: readonly string[] = []): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    if (name === 'memberId' || name === 'groupId') return [[...at, name].join('.')];
    return placesOfPeople(
      inner,
      ['properties', 'items', 'anyOf', 'oneOf'].includes(name) || /^\d+$/.test(name) ? at : [...at, name],
    );
  });
}

test('the policies name people wherever the schema has a place for them', () => {
  const places = new Set(placesOfPeople(z.toJSONSchema(policyDefinitionSchema)));
  expect(places.size).toBeGreaterThan(0);
  expect(new Set(placesOfPeople(policies))).toEqual(places);
});

test('the members and groups that SQL finds in a policy are those of policyPeople', async () => {
  for (const policy of policies) {
    const found = await readReferencedRecords(db, {
      ...{ organizationId: org.id, accountId: anId('acc'), walletAddress: anAddress() },
      ...{ policyId: policy.id, replaces: undefined, externalId: undefined },
    });
    expect(found.policy).toEqual(policy);
    const { memberIds, groupIds } = policyPeople([policy]);
    expect([...found.members.keys()].sort()).toEqual([...memberIds].sort());
    expect([...found.groups.keys()].sort()).toEqual([...groupIds].sort());
  }
});

test('the transactions that a member might sign are those whose policy names them as an approver', async () => {
  const { id: accountId } = await storeAccount(db, org.id);
  for (const { id: policyId } of policies) {
    await storeTransaction(db, { organizationId: org.id, accountId, policyId, initiatorId: org.dave.id });
  }
  for (const member of org.all) {
    const filter = { organizationId: org.id, maySign: member.id, limit: POLICIES + 1 };
    const found = (await listTransactions(db, filter)).map(({ record }) => record.policyId);
    const expected = policies.filter((policy) => {
      const { memberIds, groupIds } = policyPeople([{ ...policy, initiatorSetting: null }]);
      const members = groups.flatMap((group) => (groupIds.includes(group.id) ? group.memberIds : []));
      return member.id === org.dave.id || memberIds.includes(member.id) || members.includes(member.id);
    });
    expect(found.sort()).toEqual(expected.map(({ id }) => id).sort());
  }
});
