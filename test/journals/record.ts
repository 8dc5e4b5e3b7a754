import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { createPublicClient, type Hex, parseAbi, http as rpcTransport, zeroAddress } from 'viem';
import { executionCall, type SafeTransaction } from '../../src/chain/safeTransaction';
import { readJournal } from '../../src/signer/journal/journalReader';
import { words } from '../cli/command';
import { change, makeAccount, type Shown } from '../support/api';
import { anAddress } from '../support/builders';
import { startRpcProxy } from '../support/rpcProxy';
import { signSafeTransaction } from '../support/safeSignature';
import {
  databaseSettings,
  startSeparateService,
  type TestOrganization,
  type TestService,
} from '../support/service';
import {
  createTestDatabase,
  fundOnLocalChain,
  LOCAL_FUNDER,
  networksFile,
  rpc,
  sharedStack,
  startOwnChain,
} from '../support/stack';
import {
  aTransactionBody,
  executeTransaction,
  initiate,
  makePolicies,
  settledTransaction,
  signed,
} from '../support/transactionApi';
import { NETWORK_ID } from '../support/transactions';
import { until } from '../support/until';
import { untilReady } from '../support/upkeepOnChains';
import { cancellationSent, withoutBlocks } from '../workflows/transactionWorld';

const LIMIT_MS = 120_000;

/** What a node answers, of whatever method. */
type Answered = { readonly result?: unknown } | readonly Answered[];

/** An endpoint of the signer that shows neither receipts nor logs of some transactions. */
async function forgetfulEndpoint(realUrl: string) {
  const forgotten = new Set<string>();
  const isForgotten = (shown: unknown): boolean =>
    forgotten.has((shown as { transactionHash?: string } | null)?.transactionHash ?? '');
  const without = (answer: Answered): Answered => {
    if (!('result' in answer)) return Array.isArray(answer) ? answer.map(without) : answer;
    const { result } = answer;
    if (Array.isArray(result)) return { ...answer, result: result.filter((one) => !isForgotten(one)) };
    return isForgotten(result) ? { ...answer, result: null } : answer;
  };
  const proxy = await startRpcProxy(realUrl, async (_, pass) =>
    JSON.stringify(without(JSON.parse(await pass()))),
  );
  return { ...proxy, forgotten };
}

/** Executes what nobody has asked for at the next nonce of an account, as whoever has copied its key can. */
async function executeUnknown(
  service: TestService,
  { org, account, rpcUrl }: { org: TestOrganization; account: { address: Hex }; rpcUrl: string },
): Promise<void> {
  const client = createPublicClient({ transport: rpcTransport(rpcUrl) });
  const nonce = await client.readContract({
    address: account.address,
    abi: parseAbi(['function nonce() view returns (uint256)']),
    functionName: 'nonce',
  });
  const to = anAddress() as Hex;
  const stolen: SafeTransaction = {
    ...{ networkId: NETWORK_ID, account: account.address, to, value: 3n, data: '0x', safeTxGas: 100_000n },
    nonce,
  };
  const signature = await signSafeTransaction((await service.keystore()).organizationKey(org.id), stolen);
  const hash = await rpc<Hex>(rpcUrl, 'eth_sendTransaction', [
    { from: LOCAL_FUNDER.address, ...executionCall(stolen, signature), gas: '0x7a120' },
  ]);
  await client.waitForTransactionReceipt({ hash });
}

/** What its signer has written about a transaction's outcome, once it has. */
function outcomeIn(journalFile: string, { id }: Shown) {
  return until(
    `the outcome of ${id} is in the journal`,
    async () => {
      const journal = await readJournal(journalFile);
      try {
        return journal.outcomeOf(id);
      } finally {
        await journal.close();
      }
    },
    LIMIT_MS,
  );
}

/**
 * Records a journal with every type of entry, as the service writes it now, in the place of the one of its version
 * (`npm run journal`).
 */
export async function recordJournal(): Promise<void> {
  const own = await startOwnChain(NETWORK_ID);
  const { rpcUrl } = own.current;
  const endpoint = await forgetfulEndpoint(rpcUrl);
  const networks: { id: number }[] = JSON.parse(readFileSync(sharedStack().networksFile, 'utf8'));
  const [network] = networks.filter(({ id }) => id === NETWORK_ID);
  const NETWORKS_FILE = networksFile([{ ...network, rpcUrl, signerRpcUrls: [endpoint.url] }]);
  const database = await createTestDatabase();
  const service = await startSeparateService({
    database: databaseSettings(database),
    env: { NETWORKS_FILE },
  });
  const { http, env, db, config } = service;
  const { journalFile, keystore } = config;
  try {
    const org = await service.createOrganization();
    const account = await makeAccount(http, org, { networkIds: [NETWORK_ID] });
    await fundOnLocalChain(rpcUrl, account.address);
    const common = {
      ...{ networkId: NETWORK_ID, accountIds: null, initiatorSetting: null },
      transactionType: 'TOKEN_TRANSFER',
      tokenTransferCondition: { tokenAddress: zeroAddress, amountThreshold: null, destinationAddresses: [] },
    };
    const [auto, approved] = await makePolicies(
      http,
      org,
      { ...common, name: 'Any recipient', type: 'AUTO_APPROVAL' },
      {
        ...{ ...common, name: 'Approved by Alice', type: 'MANUAL_APPROVAL' },
        approverSetting: { type: 'user', memberId: org.alice.id },
      },
    );
    await change(http, org, '/admins/proposals/update', {
      ...{ updates: [], threshold: 2, onChain: { enabled: true } },
    });
    await untilReady(service, org, LIMIT_MS);

    const asked = (policy: Shown, more: object = {}) =>
      initiate(http, org, aTransactionBody(org, { account, policy, to: anAddress() }, more));
    const settledAs = async (executionStatus: string, transaction: Shown) =>
      expect(await settledTransaction(http, org, transaction)).toMatchObject({ executionStatus });
    const executed = async (transaction: Shown) => {
      await executeTransaction(http, org, transaction);
      await settledAs('completed', transaction);
    };
    const rent = { value: '1000000000000000001', description: 'Rent “März” 12345678901234567890' };
    const paid = await asked(auto, rent);
    await executed(paid);
    const second = await asked(approved, { value: '2' });
    await executed(await signed(http, org, second, org.alice, 'approve'));
    const rejected = await asked(approved);
    const refusal = { execute: true, reason: 'not ours' };
    await settledAs('rejected', await signed(http, org, rejected, org.alice, 'reject', refusal));
    const sent = async (transaction: Shown) => {
      await executeTransaction(http, org, transaction);
      return until(
        'it is sent',
        async (): Promise<{ transaction_hash: string } | undefined> =>
          db('chain_envelopes')
            .join('chain_attempts', 'chain_attempts.id', 'attempt_id')
            .where({ transaction_id: transaction.id })
            .whereNotNull('sent_at')
            .first('transaction_hash'),
      );
    };
    const cancelled = await asked(auto);
    await withoutBlocks({ url: rpcUrl } as never, async () => {
      await sent(cancelled);
      await words(env, 'transactions', 'cancel', cancelled.id);
      await cancellationSent({ db } as never, cancelled);
    });
    await settledTransaction(http, org, cancelled);
    for (const one of [paid, second, cancelled]) await outcomeIn(journalFile, one);

    await words(env, 'freeze', '--org', org.id);
    await words(env, 'unfreeze', '--org', org.id);

    // It reverts, which the signer has to confirm; and the signer sees no more than that its nonce is used.
    const unread = await asked(auto);
    await withoutBlocks({ url: rpcUrl } as never, async () => {
      const { transaction_hash } = await sent(unread);
      endpoint.forgotten.add(transaction_hash);
      await rpc(rpcUrl, 'anvil_setBalance', [account.address, '0x0']);
    });
    expect(await outcomeIn(journalFile, unread)).toHaveProperty('usedAt');
    await fundOnLocalChain(rpcUrl, account.address);

    await service.stop();
    await executeUnknown(service, { org, account, rpcUrl });
    const recovery = { ...env, RECOVERY_DATABASE_URL: database.url };
    await words(recovery, 'signer', 'reconcile-restore', '--write');
    const [line = ''] = readFileSync(journalFile, 'utf8').split('\n');
    const folder = join(__dirname, `version${JSON.parse(line).version}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'journal.gz'), gzipSync(readFileSync(journalFile), { level: 9 }));
    copyFileSync(keystore.file, join(folder, 'keystore.json'));
  } finally {
    await service.stop().catch(() => undefined);
    await endpoint.stop();
    await own.stop();
    await database.drop();
  }
}
