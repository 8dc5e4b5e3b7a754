import { copyFile } from 'node:fs/promises';
import { openJournal } from '../../src/journal/journal';
import { anAddress } from '../support/builders';
import { TransactionWorld } from './transactionWorld';

let world: TransactionWorld;

beforeAll(async () => {
  world = await TransactionWorld.start(41_903);
});
afterAll(() => world?.stop());

// What the database has and a journal from a backup lacks is taken over when the signer next needs it.
test.each([3, 101])(
  'an account goes on with a journal from a backup, after %s payments that it lacks are completed',
  async (count) => {
    const account = await world.account();
    const policyId = await world.policy();
    const ask = () =>
      world.transaction({ to: anAddress() as `0x${string}`, value: 1n }, { account, policyId });
    const { file } = world.journal;
    await copyFile(file, `${file}.backup`);
    for (let i = 0; i < count; i += 1) await world.execute(await ask());
    await world.journal.close();
    await copyFile(`${file}.backup`, file);
    world.journal = await openJournal({ file, waitMs: 0 });
    world.signer = world.signerWith({});
    const next = await ask();
    const terms = await world.terms(next);
    expect(await world.signer.signTransaction({ ...next, terms })).toEqual({
      envelopeId: expect.any(String),
    });
  },
  120_000,
);
