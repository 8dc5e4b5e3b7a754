import type { Address } from 'viem';
import { ask, type ChainClient } from '../../chain/clients';
import { nativeAmount } from '../../chain/nativeAmount';
import { accountNonce } from '../../chain/safe';
import type { NetworkConfig } from '../../config';
import type { Db } from '../../db/database';
import type { Relayer } from '../../db/relayers';
import { explainedNonces, findTransactionTrouble, undecidedNonces } from '../../db/transactionHealth';
import { mapLimit } from '../../mapLimit';
import { count } from '../text';
import { type Finding, fail, firstOf, ok, stuck, warn } from './finding';

/** How long an intermediate state may last, in seconds. */
const STUCK_SECONDS = 30;
const MAX_ACCOUNTS = 200;
const AT_ONCE = 20;

/** Signed attempts that are not sent, budgets reserved without an execution, and transactions that wait for funds. */
export async function checkTransactions(db: Db, networks: readonly NetworkConfig[]): Promise<Finding[]> {
  const { withoutEnvelope: uncarried, reserved, awaiting } = await findTransactionTrouble(db, STUCK_SECONDS);
  return [
    stuck(
      'attempts',
      uncarried,
      'signed, but not sent to the chain',
      './orgwallet transactions show <id>; check the chain worker and the signer above',
    ),
    stuck(
      'budgets',
      reserved,
      'with a reserved budget but no execution',
      'the database was changed from outside; see the runbook',
    ),
    ...awaiting.map(({ networkId, count: waiting, wei }) => {
      const network = networks.find(({ id }) => id === networkId);
      const most = network ? `: up to ${nativeAmount(network, wei)}` : '';
      return warn(
        'funds',
        `${count(waiting, 'transaction waits', 'transactions wait')} for funds of a relayer of network ${networkId}${most}`,
        'fund the relayers above; they continue by themselves',
      );
    }),
  ];
}

/** Checks that no account has executed more than was signed for it here. */
export async function checkAccountNonces(chain: ChainClient, db: Db): Promise<Finding[]> {
  const part = `accounts ${chain.network.id}`;
  const explained = await explainedNonces(db, chain.network.id, MAX_ACCOUNTS + 1);
  const looked = explained.slice(0, MAX_ACCOUNTS);
  const withoutContract: string[] = [];
  const suspects = new Map<string, bigint>();
  await mapLimit(AT_ONCE, looked, async ({ accountId, address, next }) => {
    const onChain = await accountNonce(chain, address as Address);
    if (onChain === null) withoutContract.push(accountId);
    else if (onChain > next) suspects.set(accountId, onChain);
  });
  // What is executed is recorded before: only what is read after the chain can be compared with it.
  const after = suspects.size === 0 ? [] : await explainedNonces(db, chain.network.id, 2 * MAX_ACCOUNTS);
  const ahead = after.flatMap(({ accountId, next }) => {
    const onChain = suspects.get(accountId);
    return onChain !== undefined && onChain > next
      ? [`${accountId} (${onChain} on chain, ${next} recorded)`]
      : [];
  });
  const findings = [
    ...(ahead.length === 0
      ? []
      : [
          fail(
            part,
            `nonce on chain is higher than recorded: ${firstOf(ahead)}`,
            'the database is a restored backup, or the keystore is used elsewhere; see the runbook first',
          ),
        ]),
    ...(withoutContract.length === 0
      ? []
      : [
          fail(
            part,
            `no contract at the address of ${firstOf(withoutContract)}`,
            'check whether the network was reset, or its node is behind the blocks of their deployment',
          ),
        ]),
  ];
  if (findings.length > 0) return findings;
  const those =
    looked.length < explained.length
      ? `the ${MAX_ACCOUNTS} most recently used`
      : count(looked.length, 'account', 'accounts');
  return [ok(part, looked.length === 0 ? 'none yet' : `${those}: all nonces match the record`)];
}

/** The undecided nonces of each relayer, and any gap before them. */
export async function checkRelayerNonces(
  chain: ChainClient,
  db: Db,
  relayers: readonly Relayer[],
): Promise<Finding[]> {
  const { id } = chain.network;
  const own = relayers.filter(({ networkId }) => networkId === id);
  return Promise.all(
    own.map(async ({ address }) => {
      const part = `nonces ${id}`;
      const undecided = await undecidedNonces(db, id, address);
      const next = await ask(chain, (rpc) => rpc.getTransactionCount({ address: address as Address }));
      const behind = undecided.filter((nonce) => nonce > next).length;
      if (behind > 0 && !undecided.includes(next)) {
        return warn(
          part,
          `nonce ${next} of ${address} is unused; pending behind it: ${behind}`,
          'no action needed: it is filled within a minute. If it remains, check the chain worker, the signer and the funds above',
        );
      }
      const pending = undecided.filter((nonce) => nonce >= next).length;
      return ok(part, `next ${next}${own.length > 1 ? ` of ${address}` : ''}, ${pending} in flight`);
    }),
  );
}
