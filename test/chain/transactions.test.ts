import type { Address, Hex } from 'viem';
import { keccak256 } from 'viem';
import { ETHER, TransactionWorld } from './transactionWorld';

const RECIPIENT: Address = '0x00000000000000000000000000000000000A11ce';

let world: TransactionWorld;

beforeAll(async () => {
  world = await TransactionWorld.start(41_031);
});

afterAll(() => world?.stop());

beforeEach(() => world.fundRelayer());

describe('a transaction', () => {
  test('is signed once, stored before it is sent, and executed when it is confirmed', async () => {
    const account = await world.account();
    const ref = await world.transaction({ to: RECIPIENT, value: 5n }, { account });
    const before = await world.balanceOf(RECIPIENT);
    const envelopeId = await world.sign(ref);
    const [stored] = await world.envelopes(ref);
    expect(stored).toMatchObject({ sent_at: null, outcome: null, relayer_address: world.relayer });
    expect(keccak256(stored.raw_transaction as Hex)).toBe(stored.transaction_hash);
    expect(await world.prepare(ref)).toEqual({ kind: 'inFlight', envelopeId });
    const followed = await world.followToEnd(ref, envelopeId);
    const [attempt] = await world.attempts(ref);
    expect(followed).toEqual({
      kind: 'decided',
      outcome: {
        kind: 'executed',
        attemptId: String(attempt.id),
        transactionHash: stored.transaction_hash,
        blockNumber: expect.stringMatching(/^\d+$/),
        blockHash: expect.stringMatching(/^0x/),
        blockTime: expect.stringMatching(/Z$/),
      },
    });
    expect(await world.balanceOf(RECIPIENT)).toBe(before + 5n);
    expect(await world.balanceOf(account.address)).toBe(ETHER - 5n);
    // Whoever asks again finds the same outcome.
    expect(await world.prepare(ref)).toEqual(followed);
    expect(await world.followToEnd(ref, envelopeId)).toEqual(followed);
    if (followed.kind === 'decided') await world.finish(ref, followed);
    expect(await world.record(ref)).toMatchObject({
      executionStatus: 'completed',
      chain: { transactionHash: stored.transaction_hash, confirmations: 1 },
    });
    expect(await world.usage(ref)).toMatchObject([{ status: 'committed' }]);
    expect(await world.envelopes(ref)).toMatchObject([{ outcome: 'mined', sent_at: expect.any(Date) }]);
  });
});
