import { parseEther } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { issueApiKey } from '../../src/credentials/apiKeys';
import { createDatabase, type Db } from '../../src/db/database';
import { newId } from '../../src/db/ids';
import { requireRow } from '../../src/db/rows';
import { OPERATOR } from '../../src/domain/actor';
import { findResource } from '../../src/domain/governance';
import { command, refused } from '../cli/command';
import { change, makeAccount, proposeChange, read, reject, type Shown } from '../support/api';
import { anAddress } from '../support/builders';
import { changeMember, decided } from '../support/decisions';
import { type LyingRpc, startLyingRpc } from '../support/lyingRpc';
import { sign, type TestMember } from '../support/service';
import { rpc } from '../support/stack';
import {
  aTransactionBody,
  executeTransaction,
  makePolicies,
  readTransaction,
  settledTransaction,
  signatureBody,
  signed,
  TRANSACTIONS,
  transactionPath,
} from '../support/transactionApi';
import { until } from '../support/until';
import { completeActivity, runOnSigner, startAgain } from './attacker';
import {
  actionsOf,
  begun,
  cancellationSent,
  created,
  messages,
  reached,
  received,
  sending,
  sent,
  startTransactionWorld,
  type TransactionWorld,
  withoutBlocks,
  workflowOfTransaction,
} from './transactionWorld';
import { untilStatus } from './world';

/**
 * An attacker who has everything but the host of the signer and the wallets of the members: the login of the service,
 * Temporal, and the endpoint that the workers ask. Where it says so, the owner of the tables.
 */

const CHAIN_ID = 41_111;
/** What a reverted transaction would look like, made up. */
const REVERTED = {
  kind: 'reverted',
  reason: 'so they say',
  transactionHash: `0x${'ab'.repeat(32)}`,
  blockHash: `0x${'cd'.repeat(32)}`,
  blockNumber: '1',
  blockTime: new Date().toISOString(),
};

let liar: LyingRpc;
let world: TransactionWorld;
let service: Db;

beforeAll(async () => {
  world = await startTransactionWorld(CHAIN_ID, {}, async (url) => {
    liar = await startLyingRpc(url);
    return liar.url;
  });
  service = createDatabase(world.env.DATABASE_URL ?? '', { poolMax: 2 });
}, 120_000);
afterAll(async () => {
  await service?.destroy();
  await world?.stop();
  await liar?.stop();
});
afterEach(() => {
  liar.withholding = false;
  liar.failing = false;
});

const attempts = ({ id }: Shown) => world.db('chain_attempts').where({ transaction_id: id });
const waitingFor = ({ id }: Shown, text: string) =>
  until(`${id} waits for "${text}"`, async () => {
    const row = await world.db('approvals').where({ id }).first('waiting_for');
    return row?.waiting_for?.includes(text);
  });

/** How often the signer has refused for a reason, by the metric. */
async function refusals(reason: string): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${world.env.OPS_PORT}/metrics`);
  const [, count = '0'] =
    (await answer.text()).match(
      new RegExp(`^orgwallet_signer_refusals_total\\{reason="${reason}"\\} (\\d+)`, 'm'),
    ) ?? [];
  return Number(count);
}

/** Waits until the audit log has a refusal of the signer. */
async function refusedWith({ id }: Shown, text: string): Promise<void> {
  await until(
    `the signer refuses ${id} with "${text}"`,
    async () => {
      const rows = await world.db('audit_log').where({ resource_id: id }).select('details');
      return rows.some(({ details }: Shown) => details.failure?.message.includes(text));
    },
    15_000,
  );
}

/** Has a record executed past the checks of the workers. */
async function forced(record: Shown): Promise<void> {
  await reopen(record);
  await startAgain(world, world.org, record);
}

/** A record is open and being executed, the tables say. */
async function reopen({ id }: Shown, more: object = {}): Promise<void> {
  const open = {
    execution_status: 'processing',
    decision: 'approve',
    closed_at: null,
    frozen: null,
  } as const;
  await service('approvals')
    .where({ id })
    .update({ ...open, failure: null, result: null, ...more });
}

/** A payment whose execution is asked for, and the answer, which may take seconds. */
async function started(more: object = {}): Promise<{ payment: Shown; answered: Promise<Shown> }> {
  const { http, org } = world;
  const payment = await created(world, more);
  return { payment, answered: signed(http, org, payment, org.dave, 'initiator', { execute: true }) };
}

/** Votes that a service has written of its own. */
async function copyVotes(from: Shown, to: Shown): Promise<void> {
  const votes = await service('votes').where({ approval_id: from.id }).orderBy('id');
  for (const { id: _, ...vote } of votes) await service('votes').insert({ ...vote, approval_id: to.id });
}

describe('the login of the service', () => {
  /** Asks for 10 ETH through the API. */
  async function demand(key: string, initiator: Pick<TestMember, 'wallet' | 'privateKey'>): Promise<Shown> {
    const { http, org, account, policy } = world;
    const { address: initiatorWalletAddress } = initiator.wallet;
    const ask = { networkId: CHAIN_ID, value: String(parseEther('10')), initiatorWalletAddress };
    const body = aTransactionBody(org, { account, policy, to: anAddress() }, ask);
    const transaction = (await http.send({ key, path: TRANSACTIONS, body })).body.data;
    const signature = await signatureBody(transaction, initiator as TestMember, 'initiator', {
      execute: true,
    });
    const answer = await http.send({
      key,
      path: transactionPath(transaction.id, '/signatures'),
      body: signature,
    });
    expect(answer.status).toBe(200);
    return settledTransaction(http, org, transaction);
  }

  it('moves nothing with members, wallets, keys and policies that it writes, and doctor names them', async () => {
    const { org, policy } = world;
    const privateKey = generatePrivateKey();
    const eve = { wallet: privateKeyToAccount(privateKey), privateKey };
    const id = newId('mem');
    await service('members').insert({
      ...{ id, organization_id: org.id, name: 'Eve', type: 'api', position: 1_000_000 },
      wallet_address: eve.wallet.address,
    });
    const { key } = await service.transaction((tx) =>
      issueApiKey(tx, { organizationId: org.id, memberIds: [id], actor: OPERATOR }),
    );
    const members = () => service('members').where({ organization_id: org.id });
    const policies = () => service('policies').where({ id: policy.id });
    const { definition } = requireRow(await policies().first()) as Shown;
    const tokenTransferCondition = {
      ...definition.tokenTransferCondition,
      amountThreshold: String(parseEther('100')),
    };
    const wide = JSON.stringify({ ...definition, tokenTransferCondition });
    await policies().update({ definition: wide });
    try {
      const stranger = await demand(key, eve);
      const insider = await demand(key, org.dave);
      await members().where({ id }).update({ removed_at: new Date() });
      await members().where({ id: org.dave.id }).update({ wallet_address: eve.wallet.address });
      const swapped = await demand(org.readKey, eve);
      for (const one of [stranger, insider, swapped]) {
        expect(one.executionStatus).toBe('blocked');
        expect(await attempts(one)).toEqual([]);
        expect(await received(world, one)).toBe(0n);
      }
      expect([stranger, insider, swapped].map(({ failure }) => failure.code)).toEqual([
        'stale',
        'policy',
        'stale',
      ]);
      const { stdout } = await command(world.env, 'doctor');
      expect(stdout).toMatch(new RegExp(`the tables differ from what is sealed in .*${org.dave.id}`));
    } finally {
      await members().where({ id: org.dave.id }).update({ wallet_address: org.dave.wallet.address });
      await policies().update({ definition: JSON.stringify(definition) });
    }
  });

  it('has nothing paid again that it sets back to processing', async () => {
    const paid = await reached(world, await begun(world), 'completed');
    for (const outcome of [null, 'reverted', 'cancelled'] as const) {
      await service('policy_usage').where({ transaction_id: paid.id }).update({
        status: 'reserved',
        block_at: null,
        decided_at: null,
      });
      await service('chain_attempts')
        .where({ transaction_id: paid.id })
        .update({ outcome, decided_at: outcome && new Date() });
      await forced(paid);
      expect(await reached(world, paid, 'completed')).toMatchObject({ result: paid.result });
    }
    expect(await received(world, paid)).toBe(1n);
    expect(await attempts(paid)).toHaveLength(1);
    const actions = await actionsOf(world, paid);
    expect(actions.filter((action) => action === 'transaction.executed')).toHaveLength(4);
  });

  it('takes no rejection back, of a transaction or of a proposal', async () => {
    const { http, org, account } = world;
    const transaction = await signed(http, org, await created(world), org.dave, 'initiator');
    await signed(http, org, transaction, org.alice, 'reject', { execute: true });
    await reached(world, transaction, 'rejected');
    await forced(transaction);
    await refusedWith(transaction, 'has been rejected');
    expect(await attempts(transaction)).toEqual([]);
    expect(await received(world, transaction)).toBe(0n);

    const rename = { items: [{ id: account.id, name: 'Rejected' }] };
    const proposal = await proposeChange(http, org, '/accounts/proposals/update', rename);
    for (const admin of [org.alice, org.bob]) await sign(http, org.adminKey, proposal, admin);
    await reject(http, org, proposal);
    await forced(proposal);
    await untilStatus(world, org, proposal, 'rejected');
    expect(findResource(await decided(world.db, org), 'account', account.id)?.name).toBe(account.name);
    const { name } = await read(http, org.readKey, `/api/v1/accounts/${account.id}`);
    expect(name).toBe(account.name);
  });

  it('has nothing decided by votes of another record with an equal summary', async () => {
    const { http, org, db } = world;
    const to = anAddress();
    const paid = await reached(world, await begun(world, { to }), 'completed');
    const other = await created(world, { to });
    expect(other.summary).toBe(paid.summary);
    await copyVotes(paid, other);
    await forced(other);
    await refusedWith(other, 'no valid signature of the initiator');
    expect(await attempts(other)).toEqual([]);
    expect(await received(world, other)).toBe(1n);

    const propose = () =>
      proposeChange(http, org, '/groups/proposals/create', {
        items: [{ name: 'Traders', memberIds: [org.dave.id] }],
      });
    const rejectedOne = await propose();
    for (const admin of [org.alice, org.bob]) await sign(http, org.adminKey, rejectedOne, admin);
    await reject(http, org, rejectedOne);
    const again = await propose();
    expect(again.summary).toBe(rejectedOne.summary);
    await copyVotes(rejectedOne, again);
    await forced(again);
    await refusedWith(again, 'found 0 valid signatures');
    expect(await db('seals').where({ proposal_id: again.id })).toEqual([]);
  });

  it('has no old decision sealed or carried out again after a newer one', async () => {
    const { http, org, db } = world;
    const account = await makeAccount(http, org, { networkIds: [CHAIN_ID] });
    const rename = (name: string) =>
      change(http, org, '/accounts/proposals/update', { items: [{ id: account.id, name }] });
    const old = await rename('Old name');
    await rename('New name');
    const before = await db('seals').where({ organization_id: org.id }).orderBy('sequence');
    await reopen(old);
    await service('proposals').where({ id: old.id }).update({ applied_at: null, effective: false });
    const sealed = before.findIndex(({ proposal_id }) => proposal_id === old.id);
    const input = { organizationId: org.id, id: old.id };
    expect(await runOnSigner(world, 'sealProposal', [input, input])).toEqual([{ sealed }, { sealed }]);
    await startAgain(world, org, old);
    await untilStatus(world, org, old, 'completed');
    expect(await db('seals').where({ organization_id: org.id }).orderBy('sequence')).toEqual(before);
    expect(findResource(await decided(db, org), 'account', account.id)?.name).toBe('New name');
    const { name } = await read(http, org.readKey, `/api/v1/accounts/${account.id}`);
    expect(name).toBe('New name');
  });

  it('gives an organization no second genesis', async () => {
    const { org, db, env } = world;
    const genesis = requireRow(await service('genesis').where({ organization_id: org.id }).first());
    await expect(service('genesis').insert(genesis)).rejects.toMatchObject({ code: '23505' });
    await expect(service('genesis').where({ organization_id: org.id }).update(genesis)).rejects.toThrow(
      /permission denied/,
    );
    const before = await db('sealed_states').where({ organization_id: org.id });
    const { stdout } = await command(env, 'org', 'genesis', org.id, '--json');
    expect(await refused(env, 'signer', 'admit', org.id, JSON.parse(stdout).hash)).toMatch(
      /is admitted already/,
    );
    expect(await db('sealed_states').where({ organization_id: org.id })).toEqual(before);
  });
});

describe('the owner of the tables', () => {
  const stateOf = (id: string) => world.db('sealed_states').where({ organization_id: id });

  it('puts no state of another organization under an account', async () => {
    const { org } = world;
    const thieves = await world.createOrganization();
    const own = requireRow(await stateOf(org.id).first());
    const { organization_id: _, ...theirs } = requireRow(await stateOf(thieves.id).first());
    await stateOf(org.id).update(theirs);
    const payment = await begun(world);
    const blocked = await settledTransaction(world.http, org, payment);
    await stateOf(org.id).update(own);
    expect(blocked).toMatchObject({
      executionStatus: 'blocked',
      failure: { message: expect.stringContaining('is not the one that was sealed') },
    });
    expect(await received(world, payment)).toBe(0n);
  });

  it('uses no policy whose removal it rolls back, and what was sealed counts when it is there again', async () => {
    const { http, org, db } = world;
    const [policy] = await makePolicies(http, org, sending(CHAIN_ID, { name: 'Soon removed' }));
    const before = requireRow(await stateOf(org.id).first());
    const removal = await change(http, org, '/policies/proposals/remove', { policyIds: [policy.id] });
    const after = requireRow(await stateOf(org.id).first());
    const seal = requireRow(await db('seals').where({ proposal_id: removal.id }).first());
    const unguarded = (work: () => Promise<unknown>) =>
      db
        .raw('ALTER TABLE seals DISABLE TRIGGER seals_append_only')
        .then(work)
        .finally(() => db.raw('ALTER TABLE seals ENABLE TRIGGER seals_append_only'));
    await unguarded(() => db('seals').where({ proposal_id: removal.id }).delete());
    await stateOf(org.id).update(before);
    await service('policies').where({ id: policy.id }).update({ removed_at: null });
    const counted = await refusals('rollback');
    const { payment, answered } = await started({ policyId: policy.id });
    await waitingFor(payment, 'the database was rolled back or changed');
    expect(await refusals('rollback')).toBeGreaterThan(counted);
    const { stdout } = await command(world.env, 'doctor');
    expect(stdout).toMatch(/fail.*journal/);
    expect(await attempts(payment)).toEqual([]);

    await db('seals').insert(seal);
    await stateOf(org.id).update(after);
    expect(await settledTransaction(http, org, payment)).toMatchObject({
      executionStatus: 'blocked',
      failure: { code: 'policy', message: expect.stringContaining('removed') },
    });
    await answered;
    expect(await received(world, payment)).toBe(0n);
  });
});

describe('what is signed', () => {
  it('is what was approved, though a trigger of the owner rewrites what the signer stores', async () => {
    const thief = anAddress();
    await world.db.raw(`CREATE FUNCTION rewrite_attempt() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        NEW.to_address := '${thief}'; NEW.value := ${parseEther('0.5')}; NEW.safe_tx_hash := '0x${'ab'.repeat(32)}';
        RETURN NEW; END $$;
      CREATE TRIGGER rewrite_attempt BEFORE INSERT ON chain_attempts
        FOR EACH ROW EXECUTE FUNCTION rewrite_attempt()`);
    let payment: Shown;
    let answered: Promise<unknown>;
    try {
      ({ payment, answered } = await started());
      await until('the payee is paid', async () => (await received(world, payment)) === 1n);
    } finally {
      await world.db.raw('DROP TRIGGER rewrite_attempt ON chain_attempts; DROP FUNCTION rewrite_attempt()');
    }
    expect(await received(world, { to: thief })).toBe(0n);
    await answered;
    const [row] = await world.db('authorizations').where({ transaction_id: payment.id });
    const { safe_tx_hash, destination: to_address, amount: value } = requireRow(row);
    expect([to_address, value]).toEqual([payment.to, '1']);
    await attempts(payment).update({ to_address, value, safe_tx_hash: requireRow(safe_tx_hash) });
    await reached(world, payment, 'completed');
    expect(await received(world, payment)).toBe(1n);
  });

  it('stops where the owner of the tables has rewritten it, audited, and goes on once its row is right', async () => {
    let payment: Shown | undefined;
    let answered: Promise<unknown> = Promise.resolve();
    await withoutBlocks(world, async () => {
      ({ payment, answered } = await started());
      await sent(world, payment);
      const { value } = requireRow(await attempts(payment).first('value'));
      const before = await refusals('rollback');
      await attempts(payment).update({ value: '7' });
      await workflowOfTransaction(world, payment).signal(messages.cancelTransactionSignal);
      await waitingFor(payment, 'chain_attempts');
      expect(await refusals('rollback')).toBeGreaterThan(before);
      expect(await actionsOf(world, payment)).toContain('transaction.signingStopped');
      expect(await attempts(payment).where({ kind: 'cancellation' })).toHaveLength(0);
      await attempts(payment).update({ value });
      await cancellationSent(world, payment);
    });
    await answered;
    expect(await reached(world, payment as unknown as Shown, 'failed')).toMatchObject({
      failure: { code: 'timeout' },
    });
  });

  it('is paid once, though Temporal and the endpoint of the workers say that it failed', async () => {
    const { http, org } = world;
    let payment: Shown;
    let answered: Promise<unknown> = Promise.resolve();
    const retry = () => workflowOfTransaction(world, payment).executeUpdate(messages.retryExecution);
    await withoutBlocks(world, async () => {
      ({ payment, answered } = await started());
      const { workflowId } = workflowOfTransaction(world, payment);
      await sent(world, payment);
      for (let times = 0; times < 3; times += 1) {
        await completeActivity(
          world,
          { workflowId, name: 'followTransaction' },
          { kind: 'decided', outcome: REVERTED },
        );
        expect(await retry()).toMatchObject({ ok: false, refusal: { code: 'conflict' } });
      }
      const [cancelled] = await runOnSigner(world, 'signCancellation', [
        {
          ...{ organizationId: org.id, transactionId: payment.id },
          terms: {
            ...{ gas: '300000', maxFeePerGas: '5000000000', maxPriorityFeePerGas: '1' },
            ...{ relayerAddress: world.relayer, chainNonce: 0, accountNonce: '0' },
            ...{ safeTxGas: '1', fromBlock: '0' },
          },
        },
      ]);
      expect(cancelled).toMatchObject({ refused: { code: 'stale' } });
      liar.failing = true;
    });
    await waitingFor(payment, 'the chain worker reads that it was reverted, and the signer does not');
    expect(await retry()).toMatchObject({ ok: false });
    expect(await executeTransaction(http, org, payment)).toMatchObject({ status: 409 });
    expect(await readTransaction(http, org, payment)).toMatchObject({ executionStatus: 'processing' });
    liar.failing = false;
    await reached(world, payment, 'completed');
    await answered;
    expect(await received(world, payment)).toBe(1n);
    expect(await attempts(payment)).toHaveLength(1);
  });

  /** Signed, and given to nobody by the endpoint of the workers; answers its bytes. */
  async function withheld(more: object = {}): Promise<{ payment: Shown; release: () => Promise<void> }> {
    const { db } = world;
    liar.withholding = true;
    const { payment, answered } = await started(more);
    await sent(world, payment);
    const release = async () => {
      const envelopes = db('chain_envelopes').whereIn('attempt_id', attempts(payment).select('id'));
      const [envelope] = await envelopes.orderBy('id').select('raw_transaction');
      await rpc(world.url, 'eth_sendRawTransaction', [envelope?.raw_transaction]);
      liar.withholding = false;
      await reached(world, payment, 'completed');
      await answered;
    };
    return { payment, release };
  }

  it('is paid once under the policy and wallet that it was signed under, and nothing else is', async () => {
    const { http, org, db } = world;
    const [policy] = await makePolicies(http, org, sending(CHAIN_ID, { name: 'Later removed' }));
    const open = await signed(http, org, await created(world), org.dave, 'initiator');
    const under = { policyId: policy.id };
    const [waiting, { payment, release }] = [
      await signed(http, org, await created(world, under), org.dave, 'initiator'),
      await withheld(under),
    ];
    await change(http, org, '/policies/proposals/remove', { policyIds: [policy.id] });
    await changeMember(db, org, org.dave.id, { walletAddress: anAddress() });
    try {
      // The tables are as the attacker wants them.
      await service('policies').where({ id: policy.id }).update({ removed_at: null });
      await service('members').where({ id: org.dave.id }).update({ wallet_address: org.dave.wallet.address });
      for (const one of [open, waiting]) {
        await forced(one);
        await refusedWith(one, 'no valid signature of the initiator');
      }
    } finally {
      await changeMember(db, org, org.dave.id, { walletAddress: org.dave.wallet.address });
    }
    await forced(waiting);
    await refusedWith(waiting, 'has been removed');
    await release();
    expect(await received(world, payment)).toBe(1n);
    expect(await attempts(payment)).toHaveLength(1);
    for (const one of [open, waiting]) expect(await received(world, one)).toBe(0n);
  });

  it('counts in its budget for as long as it is held back, and for its hours after that', async () => {
    const { http, org, db } = world;
    const [policy] = await makePolicies(http, org, sending(CHAIN_ID, { name: 'Held back' }));
    const more = { policyId: policy.id, value: '600' };
    const { payment, release } = await withheld(more);
    // A month passes.
    const month = db.raw(`now() - interval '31 days'`);
    await db('authorizations').where({ transaction_id: payment.id }).update({ authorized_at: month });
    // It has failed and spent nothing, the service says.
    await service('policy_usage')
      .where({ transaction_id: payment.id })
      .update({ status: 'released', decided_at: service.fn.now() });
    const next = await begun(world, more);
    const overBudget = { executionStatus: 'blocked', failure: { code: 'budget' } };
    expect(await settledTransaction(http, org, next)).toMatchObject(overBudget);
    await service('policy_usage')
      .where({ transaction_id: payment.id })
      .update({ status: 'reserved', decided_at: null });
    await release();
    await service('policy_usage')
      .where({ transaction_id: payment.id })
      .update({ status: 'released', block_at: null });
    expect(await settledTransaction(http, org, await begun(world, more))).toMatchObject(overBudget);
    expect(await received(world, payment)).toBe(600n);
    expect(await received(world, next)).toBe(0n);
    expect(await refusals('budget')).toBeGreaterThan(1);
  });
});
