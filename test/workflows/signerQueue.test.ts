/** @deep */

import { parseEther } from 'viem';
import { listRelayers } from '../../src/db/relayers';
import { requireRow } from '../../src/db/rows';
import { describeDeep } from '../support/suite';
import { signed } from '../support/transactionApi';
import { until } from '../support/until';
import { runOnSigner } from './attacker';
import {
  begun,
  cancellationSent,
  created,
  messages,
  reached,
  sent,
  startTransactionWorld,
  type TransactionWorld,
  withoutBlocks,
  workflowOfTransaction,
} from './transactionWorld';
import { startWorld, type World } from './world';

/**
 * Whoever reaches Temporal can put activities on the queue of the signer: here without any of the project's workflows,
 * by answering the tasks of a workflow of its own.
 */

const CHAIN_ID = 31_337;

let world: World;

beforeAll(async () => {
  world = await startWorld();
}, 120_000);
afterAll(() => world?.stop());

test('an activity on the queue of the signer fills no nonce that nothing waits for', async () => {
  const network = world.config.networks.find(({ id }) => id === CHAIN_ID);
  const fee = String(network?.maxFeePerGas);
  const [relayer] = await listRelayers(world.db, CHAIN_ID);
  const { address: relayerAddress } = requireRow(relayer);
  const fees = { maxFeePerGas: fee, maxPriorityFeePerGas: fee };
  const terms = { gas: '5000000', ...fees, relayerAddress, chainNonce: 5_000_000, head: '0' };
  const nonces = [-1, 0.5, 'x', null, ...Array.from({ length: 16 }, (_, index) => 5_000_000 + index)];
  const results = await runOnSigner(
    world,
    'fillNonce',
    nonces.map((nonce) => ({ networkId: CHAIN_ID, nonce, terms })),
  );
  const textOf = (nonce: unknown) =>
    Number(nonce) > 1 ? `nonce ${nonce} of relayer` : `invalid nonce ${JSON.stringify(nonce)} (expected`;
  expect(results).toEqual(
    nonces.map((nonce) => ({
      refused: { code: 'stale', message: expect.stringContaining(textOf(nonce)) },
    })),
  );
  expect(await world.db('chain_envelopes').where('relayer_nonce', '>=', 5_000_000)).toEqual([]);
}, 60_000);

describeDeep('a payment in flight', () => {
  let own: TransactionWorld;

  beforeAll(async () => {
    own = await startTransactionWorld(41_091, { GAS_BUDGET_PER_HOUR: '0.005' });
  }, 120_000);
  afterAll(() => own?.stop());

  /** Its envelopes, newest first. */
  function envelopesOf({ id }: { readonly id?: string }) {
    return own
      .db('chain_envelopes as e')
      .join('chain_attempts as c', 'c.id', 'e.attempt_id')
      .where({ 'c.transaction_id': id })
      .orderBy('e.id', 'desc')
      .select('e.*');
  }

  test('costs no more than the gas budget, whoever raises its fee, and can still be cancelled', async () => {
    const { http, org, db } = own;
    const payment = await created(own);
    const attack = async (change: object = {}): Promise<object> => {
      const { id, gas, relayer_address: relayerAddress } = requireRow((await envelopesOf(payment))[0]);
      const fee = '500000000000';
      const fees = { maxFeePerGas: fee, maxPriorityFeePerGas: fee, replaces: String(id) };
      const nonces = { relayerAddress, chainNonce: 0, accountNonce: '0', head: '0' };
      const terms = { gas, ...fees, ...nonces, safeTxGas: '1', fromBlock: '0' };
      const input = { organizationId: org.id, transactionId: payment.id, terms: { ...terms, ...change } };
      const [answer] = await runOnSigner(own, 'signTransaction', [input]);
      return answer as object;
    };
    let answered: Promise<unknown> = Promise.resolve();
    await withoutBlocks(own, async () => {
      answered = signed(http, org, payment, org.dave, 'initiator', { execute: true });
      await sent(own, payment);
      expect(await attack({ chainNonce: 5_000_000 })).toMatchObject({
        refused: { message: expect.stringContaining('nonce 5000000 of relayer') },
      });
      let last = await attack();
      for (let times = 0; 'envelopeId' in last && times < 30; times += 1) last = await attack();
      expect(last).toEqual({ held: expect.stringContaining('the gas budget of') });
      const costs = (await envelopesOf(payment)).map((row) => BigInt(row.gas) * BigInt(row.max_fee_per_gas));
      expect(costs.length).toBeGreaterThan(2);
      expect(costs[0]).toBeLessThan(parseEther('0.00375'));
      await workflowOfTransaction(own, payment).signal(messages.cancelTransactionSignal);
      await cancellationSent(own, payment);
    });
    await reached(own, payment, 'failed');
    await answered;
    await until('a payment waits for the budget', async () => {
      const { id } = await begun(own);
      const row = await db('approvals').where({ id }).first('waiting_for');
      return row?.waiting_for?.includes('the gas budget of');
    });
  }, 120_000);
});
