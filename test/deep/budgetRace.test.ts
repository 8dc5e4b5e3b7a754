import { type Address, createPublicClient, http as rpcTransport, zeroAddress } from 'viem';
import { verifyAudit } from '../../src/db/audit';
import { requireRow } from '../../src/db/rows';
import type { ApprovalRow, AuditLogRow, TransactionRow } from '../../src/db/tables';
import { countBy } from '../chaos/invariants';
import { sendUntilAnswered } from '../chaos/paymentFixture';
import { mostWithin, payoutsOf } from '../chaos/spending';
import { change, makeAccount, type Shown } from '../support/api';
import { anAddress } from '../support/builders';
import { type ServiceProcess, startServiceProcess } from '../support/process';
import {
  startTestService,
  type TestMember,
  type TestOrganization,
  type TestService,
} from '../support/service';
import { endpointOf, fundOnLocalChain } from '../support/stack';
import {
  aTransactionBody,
  createTransaction,
  makePolicies,
  signed,
  transactionPath,
} from '../support/transactionApi';
import { until } from '../support/until';

type StoredRow = ApprovalRow & TransactionRow;

const NETWORK_IDS = [31_337, 31_338];
const AMOUNT = 1_000n;
/** 400 executions at once take a slow machine some minutes. */
const LIMIT_MS = 400_000;
/** How many executions at the same time on each chain. */
const AT_ONCE = 200;
const FIT = AT_ONCE / 4;
/** How many requests go at a time where it does not matter. */
const LANES = 16;

let api: TestService;
let processes: ServiceProcess[];
let signer: ServiceProcess;
let org: TestOrganization;
let account: Shown;

beforeAll(async () => {
  api = await startTestService({ env: { ORGWALLET_ROLES: 'api' } });
  signer = await startServiceProcess(api.env, { roles: ['signer'] });
  processes = await Promise.all([
    startServiceProcess(api.env, { roles: ['worker', 'chain'] }),
    startServiceProcess(api.env, { roles: ['worker', 'chain'] }),
  ]);
  org = await api.createOrganization();
  account = await makeAccount(api.http, org, { networkIds: NETWORK_IDS });
  for (const network of api.config.networks) await fundOnLocalChain(endpointOf(network), account.address);
});
afterAll(async () => {
  await Promise.all([signer, ...(processes ?? [])].map((one) => one?.stop()));
  await api?.stop();
});

type Scope = 'ALL_ITEMS' | 'PER_ITEM';

/** A policy that lets everybody pay native currency without approval, so much in an hour. */
function aBudget(name: string, networkId: number, limit: bigint, initiatorScope: Scope = 'ALL_ITEMS'): Shown {
  return {
    name,
    type: 'AUTO_APPROVAL',
    transactionType: 'TOKEN_TRANSFER',
    networkId,
    accountIds: null,
    initiatorSetting: null,
    limitation: {
      hours: 1,
      initiatorScope,
      sourceAccountScope: 'ALL_ITEMS',
      destinationScope: 'ALL_ITEMS',
    },
    tokenTransferCondition: {
      tokenAddress: zeroAddress,
      amountThreshold: String(limit),
      destinationAddresses: [],
    },
  };
}

/** Does all of it, some at a time, and answers what came of each in the order of `items`. */
async function inLanes<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const left = [...items.entries()];
  const lane = async () => {
    for (let one = left.shift(); one; one = left.shift()) results[one[0]] = await work(one[1]);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return results;
}

/** Creates transfers and lets their initiator sign them. */
async function initiateAll(
  asked: readonly { policy: Shown; networkId: number; amount: bigint; initiator: TestMember; to: string }[],
): Promise<Shown[]> {
  return inLanes(asked, async ({ policy, networkId, amount, initiator, to }) => {
    const more = {
      networkId,
      value: String(amount),
      initiatorWalletAddress: initiator.wallet.address,
    };
    const created = await createTransaction(
      api.http,
      org,
      aTransactionBody(org, { account, policy, to }, more),
    );
    return signed(api.http, org, created, initiator, 'initiator');
  });
}

/** Asks for an execution until it is answered for good; what the answer refuses is left. */
async function execute({ id }: Shown): Promise<void> {
  const path = transactionPath(id, '/execute');
  await sendUntilAnswered(() => api.http, { key: org.readKey, path, body: { type: 'approve' } }, LIMIT_MS);
}

/** Waits until nothing of these policies is being executed. */
async function nothingRuns(policies: readonly Shown[], limitMs: number) {
  const of = policies.map(({ id }) => id);
  return until(
    'nothing is being executed',
    async () => {
      const rows = await api
        .db('approvals')
        .join('transactions', 'transactions.id', 'approvals.id')
        .whereIn('policy_id', of)
        .select<StoredRow[]>('*');
      const running = rows.filter(({ execution_status }) => execution_status === 'processing');
      if (running.length > 0) throw new Error(`${running.length} are being executed`);
      return rows;
    },
    limitMs,
  );
}

function networkOf(id: number) {
  const network = api.config.networks.find((one) => one.id === id);
  if (!network) throw new Error(`there is no network ${id}`);
  return network;
}

/** Payouts of the account under a policy, by the account's own events. */
async function payoutsUnder(policy: Shown) {
  const payouts = await payoutsOf(networkOf(policy.networkId), account.address as Address);
  const hashes: string[] = await api
    .db('chain_attempts as c')
    .join('transactions as t', 't.id', 'c.transaction_id')
    .where({ 't.policy_id': policy.id })
    .pluck('c.safe_tx_hash');
  return payouts.filter(({ safeTxHash }) => hashes.includes(safeTxHash));
}

const LIMIT_CHANGES = ['policy.created', 'policy.updated'];
/** What the signer refuses is blocked after its execution has begun. */
const RELEASES = ['transaction.executionFailed', 'transaction.blocked'];

/**
 * Follows the entries of an audit log: no reservation exceeds the limit of its moment. Reservations, releases and edits
 * follow each other there as they did under the lock of the policy. Answers what is spent in the end, by key, and the
 * highest limit.
 */
function followBudget(
  entries: readonly AuditLogRow[],
  {
    policyId,
    own,
    keyOf,
  }: { policyId: string; own: Map<string, StoredRow>; keyOf: (row: StoredRow) => string },
): { spent: Map<string, bigint>; most: bigint } {
  const spent = new Map<string, bigint>();
  const reserved = new Set<string>();
  let limit = 0n;
  let most = 0n;
  const add = (row: StoredRow, amount: bigint): bigint => {
    const after = (spent.get(keyOf(row)) ?? 0n) + amount;
    spent.set(keyOf(row), after);
    return after;
  };
  for (const { action, resource_id, details } of entries) {
    if (resource_id === policyId && LIMIT_CHANGES.includes(action)) {
      const { tokenTransferCondition } = (details.after ?? details) as Shown;
      limit = BigInt(tokenTransferCondition.amountThreshold);
      if (limit > most) most = limit;
    }
    const row = own.get(resource_id);
    if (!row) continue;
    if (action === 'transaction.executionStarted') {
      expect(add(row, BigInt(row.value))).toBeLessThanOrEqual(limit);
      reserved.add(row.id);
    }
    if (RELEASES.includes(action) && reserved.delete(row.id)) add(row, -BigInt(row.value));
  }
  return { spent, most };
}

/** The executions of a member that began after the log says that the member was removed. */
function startsAfterRemoval(
  entries: readonly AuditLogRow[],
  { memberId, own }: { memberId: string; own: Map<string, StoredRow> },
): AuditLogRow[] {
  const removal = entries.findIndex(
    ({ action, resource_id }) => action === 'member.removed' && resource_id === memberId,
  );
  expect(removal).toBeGreaterThanOrEqual(0);
  return entries
    .slice(removal)
    .filter(
      ({ action, resource_id }) =>
        action === 'transaction.executionStarted' && own.get(resource_id)?.initiator_id === memberId,
    );
}

it(
  `of ${AT_ONCE} executions at the same time on each of two chains, the ${FIT} that fit go through`,
  async () => {
    const limit = BigInt(FIT) * AMOUNT;
    const policies = await makePolicies(
      api.http,
      org,
      ...NETWORK_IDS.map((id) => aBudget(`So much on ${id}`, id, limit)),
    );
    const recipients = policies.map(() => anAddress());
    const initiator = org.dave;
    const begunAt = Date.now();
    const transactions = await initiateAll(
      Array.from({ length: AT_ONCE }, () =>
        policies.map((policy, i) => ({
          ...{ policy, initiator, amount: AMOUNT },
          ...{ networkId: policy.networkId, to: recipients[i] ?? '' },
        })),
      ).flat(),
    );
    const initiatedAt = Date.now();
    await Promise.all(transactions.map(execute));
    const answeredAt = Date.now();
    const rows = await nothingRuns(policies, LIMIT_MS);
    process.stderr.write(
      `${transactions.length} initiated in ${initiatedAt - begunAt} ms, executions answered in ${answeredAt - initiatedAt} ms, all decided after ${Date.now() - initiatedAt} ms\n`,
    );

    for (const [i, policy] of policies.entries()) {
      const own = rows.filter((row) => row.policy_id === policy.id);
      expect(countBy(own, 'execution_status')).toEqual({ completed: FIT, blocked: AT_ONCE - FIT });
      const codes = own
        .filter((row) => row.execution_status === 'blocked')
        .map(({ failure }) => failure?.code);
      expect(new Set(codes)).toEqual(new Set(['budget']));
      const usage = await api.db('policy_usage').where({ policy_id: policy.id });
      expect(countBy(usage, 'status')).toEqual({ committed: FIT });

      const payouts = await payoutsUnder(policy);
      expect(payouts).toHaveLength(FIT);
      expect(mostWithin(payouts, 1)).toBe(limit);
      expect(new Set(payouts.map(({ to }) => to.toLowerCase()))).toEqual(
        new Set([recipients[i]?.toLowerCase()]),
      );
      const chain = createPublicClient({ transport: rpcTransport(endpointOf(networkOf(policy.networkId))) });
      expect(await chain.getBalance({ address: recipients[i] as Address })).toBe(limit);
    }
    expect(await verifyAudit(api.db, org.id)).toMatchObject({ ok: true });
  },
  3 * LIMIT_MS,
);

it(
  'nor is more ever spent while policies are edited, members removed and the signer killed',
  async () => {
    const scopes: Scope[] = ['ALL_ITEMS', 'PER_ITEM'];
    const limits = [12n, 5n].map((times) => times * AMOUNT);
    const made = await makePolicies(
      api.http,
      org,
      ...NETWORK_IDS.map((id, i) => aBudget(`Edited on ${id}`, id, limits[i] ?? 0n, scopes[i])),
    );
    const initiators = [org.dave, org.carol, org.otherBot];
    const to = anAddress();
    const transactions = await initiateAll(
      Array.from({ length: 72 }, (_, i) => {
        const policy = made[i % made.length];
        const initiator = initiators[Math.floor(i / 2) % initiators.length] as TestMember;
        const amount = AMOUNT / 2n + BigInt(Math.floor(Math.random() * Number(AMOUNT)));
        return { policy, networkId: policy.networkId, amount, initiator, to };
      }),
    );
    const edit = async (factor: bigint) => {
      const edited = made.map((policy, i) => ({
        ...aBudget(policy.name, policy.networkId, ((limits[i] ?? 0n) * factor) / 4n, scopes[i]),
        id: policy.id,
      }));
      await change(api.http, org, '/policies/proposals/update', { policies: edited });
    };
    const between = [
      () => signer.kill(),
      // An edit is sealed when the signer is back.
      () => Promise.all([edit(3n), signer.start()]),
      () => edit(6n),
      () => change(api.http, org, '/members/proposals/remove', { ids: [org.dave.id] }),
      () => signer.kill(),
      () => Promise.all([edit(5n), signer.start()]),
    ];
    for (const [wave, disturb] of between.entries()) {
      const size = transactions.length / between.length;
      const some = transactions.slice(wave * size, (wave + 1) * size);
      await Promise.all([
        disturb(),
        inLanes(some, (transaction) =>
          execute(transaction).catch((error) => {
            // What is refused for good is left: its initiator is gone.
            if (!String(error).includes('thresholdNotMet')) throw error;
          }),
        ),
      ]);
    }
    const rows = await nothingRuns(made, LIMIT_MS);

    const entries = await api.db('audit_log').where({ organization_id: org.id }).orderBy('position');
    for (const [i, policy] of made.entries()) {
      const own = new Map(rows.filter((row) => row.policy_id === policy.id).map((row) => [row.id, row]));
      const keyOf = (row: StoredRow) => (scopes[i] === 'PER_ITEM' ? row.initiator_id : 'all');
      const { spent, most } = followBudget(entries, { policyId: policy.id, own, keyOf });
      expect(startsAfterRemoval(entries, { memberId: org.dave.id, own })).toEqual([]);
      const payouts = await payoutsUnder(policy);
      const completed = [...own.values()].filter((row) => row.execution_status === 'completed');
      expect(payouts).toHaveLength(completed.length);
      expect(completed.length).toBeGreaterThan(0);
      const total = payouts.reduce((sum, { value }) => sum + value, 0n);
      expect(total).toBe([...spent.values()].reduce((sum, value) => sum + value, 0n));
      const initiatorOf = async (safeTxHash: string) => {
        const attempt = await api.db('chain_attempts').where({ safe_tx_hash: safeTxHash }).first();
        return keyOf(requireRow(own.get(attempt?.transaction_id ?? '')));
      };
      const keys = await Promise.all(payouts.map(({ safeTxHash }) => initiatorOf(safeTxHash)));
      for (const key of new Set(keys)) {
        const of = payouts.filter((_, place) => keys[place] === key);
        expect(mostWithin(of, 1)).toBeLessThanOrEqual(most);
      }
    }
    expect(await verifyAudit(api.db, org.id)).toMatchObject({ ok: true });
  },
  3 * LIMIT_MS,
);
