import { deriveAccount } from '../../src/chain/safe';
import { createDatabase, type Db } from '../../src/db/database';
import { newId } from '../../src/db/ids';
import { insertMembers } from '../../src/db/members';
import type { JsonValue } from '../../src/domain/canonicalJson';
import type { ProposalKind } from '../../src/operations/kind';
import { membersCreate } from '../../src/operations/membersCreate';
import { membersUpdate } from '../../src/operations/membersUpdate';
import { anAddress, anId } from '../support/builders';
import { makeOrganization, type TestOrganization } from '../support/service';
import { createTestDatabase } from '../support/stack';
import { until } from '../support/until';

let owner: Db;
let service: Db;
let org: TestOrganization;

beforeAll(async () => {
  const { url, serviceUrl } = await createTestDatabase();
  owner = createDatabase(url, { poolMax: 2 });
  service = createDatabase(serviceUrl, { poolMax: 2 });
  org = await makeOrganization(owner);
});
afterAll(() => Promise.all([owner, service].map((db) => db?.destroy())));

/** Carries a change out while somebody else, unseen, makes a member with that wallet. */
async function applyAgainst(wallet: string, kind: ProposalKind, data: JsonValue, plan: JsonValue) {
  const rival = await owner.transaction();
  await insertMembers(rival, org.id, [
    { id: newId('mem'), name: 'Rival', type: 'user', walletAddress: wallet.toLowerCase(), walletKind: 'key' },
  ]);
  const applying = service.transaction(async (tx) => {
    const outcome = await kind.apply(
      { tx, organizationId: org.id, networks: [], deriveAccount },
      { id: anId('prop'), data, plan },
    );
    // Whoever called can still say in the same transaction what came of it.
    return { outcome, members: await tx('members').where({ organization_id: org.id }).pluck('name') };
  });
  await until('the change waits for the other one', async () => {
    const { rows } = await owner.raw(
      `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return rows.length > 0;
  });
  await rival.commit();
  return applying;
}

describe('a wallet that is taken between the check and the change', () => {
  const refused = { ok: false, refusal: { code: 'conflict', message: expect.stringContaining('wallet') } };

  it('refuses new members, all of them', async () => {
    const wallet = anAddress();
    const { outcome, members } = await applyAgainst(
      wallet,
      membersCreate,
      {
        items: [
          { name: 'First', walletAddress: anAddress(), type: 'user', walletKind: 'key' },
          { name: 'Second', walletAddress: wallet, type: 'user', walletKind: 'key' },
        ],
      },
      { memberIds: [newId('mem'), newId('mem')] },
    );
    expect(outcome).toEqual(refused);
    expect(members).toContain('Rival');
    expect(members).not.toContain('First');
  });

  it('refuses a change of wallets', async () => {
    const wallet = anAddress();
    const { outcome, members } = await applyAgainst(
      wallet,
      membersUpdate,
      {
        items: [
          { id: org.alice.id, name: 'Alicia', walletAddress: org.alice.wallet.address, walletKind: 'key' },
          { id: org.bob.id, name: 'Bob', walletAddress: wallet, walletKind: 'key' },
        ],
      },
      { changes: [{ name: 'Alicia' }, { walletAddress: wallet }] },
    );
    expect(outcome).toEqual(refused);
    expect(members).not.toContain('Alicia');
  });
});
