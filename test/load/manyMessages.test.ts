import { execute, proposalPath, propose, read } from '../support/api';
import { sign } from '../support/service';
import { executeTransaction, readTransaction } from '../support/transactionApi';
import { begun, received, startTransactionWorld, type TransactionWorld } from '../workflows/transactionWorld';
import { expectSoundAudit, startWorld, type World, workflowOf } from '../workflows/world';

/** More than one run of a workflow takes: Temporal's limit is 2,000 updates. */
const MANY = 10_000;
const TRIES = 2_500;
const AT_ONCE = 8;

/** Calls it so many times, some at once; returns how often it gave each result. */
async function tally(times: number, call: () => Promise<number | string>): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  let left = times;
  const caller = async () => {
    while (left > 0) {
      left -= 1;
      const result = await call();
      counts[result] = (counts[result] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, caller));
  return counts;
}

describe('a client that retries', () => {
  let world: TransactionWorld;
  beforeAll(async () => {
    world = await startTransactionWorld(41_095);
  }, 120_000);
  afterAll(() => world?.stop());

  it('receives 200 each time for a blocked transaction', async () => {
    const { http, org } = world;
    expect(await begun(world, { value: '600' })).toMatchObject({ executionStatus: 'completed' });
    const blocked = await begun(world, { value: '600' });
    expect(blocked.executionStatus).toBe('blocked');
    const counts = await tally(TRIES, async () => (await executeTransaction(http, org, blocked)).status);
    expect(counts).toEqual({ 200: TRIES });
    expect(await readTransaction(http, org, blocked)).toMatchObject({ executionStatus: 'blocked' });
    expect(await received(world, blocked)).toBe(0n);
    await expectSoundAudit(world.db, org);
  }, 1_200_000);
});

describe('a workflow', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
  });
  afterAll(() => world?.stop());

  it('takes ten thousand messages, and goes on', async () => {
    const org = await world.createOrganization();
    const proposal = await propose(world.http, org);
    const handle = workflowOf(world, org, proposal);
    const { runId } = await handle.describe();
    const counts = await tally(MANY, async () => {
      // Not all may reach the workflow: a hopeless request is refused before.
      const result = await handle.executeUpdate('execute', { args: [{ type: 'approve' }] });
      return (result as { ok: boolean }).ok ? 'executed' : 'refused';
    });
    expect(counts).toEqual({ refused: MANY });
    expect((await handle.describe()).runId).not.toBe(runId);
    for (const member of [org.alice, org.bob]) await sign(world.http, org.adminKey, proposal, member);
    expect((await execute(world.http, org.adminKey, proposal.id)).status).toBe(200);
    const shown = await read(world.http, org.readKey, proposalPath(proposal.id));
    expect(shown.executionStatus).toBe('completed');
  }, 2_400_000);
});
