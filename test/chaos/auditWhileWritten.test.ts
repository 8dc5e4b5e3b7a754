import { appendAudit, verifyAudit } from '../../src/db/audit';
import { createDatabase } from '../../src/db/database';
import { SYSTEM } from '../../src/domain/actor';
import { makeOrganization } from '../support/service';
import { createTestDatabase } from '../support/stack';

describe('the audit chain', () => {
  it('verifies at every moment while entries are written', async () => {
    const db = createDatabase((await createTestDatabase()).url, { poolMax: 4 });
    try {
      const org = await makeOrganization(db);
      const entry = {
        action: 'member.registered',
        actor: SYSTEM,
        resourceType: 'test',
        resourceId: org.id,
        details: {},
      } as const;
      let writing = true;
      const write = async () => {
        for (let count = 0; count < 100; count += 1) {
          await db.transaction((tx) => appendAudit(tx, org.id, [entry]));
        }
        writing = false;
      };
      const verify = async () => {
        const proofs = [];
        while (writing) proofs.push(await verifyAudit(db, org.id));
        return proofs;
      };
      const [, proofs] = await Promise.all([write(), verify()]);
      expect(proofs.filter(({ ok }) => !ok)).toEqual([]);
      expect(proofs.length).toBeGreaterThan(1);
    } finally {
      await db.destroy();
    }
  });
});
