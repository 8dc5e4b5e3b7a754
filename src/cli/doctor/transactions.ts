import type { Address } from 'viem';
import { ask, type ChainClient } from '../../chain/clients';
import { accountNonce } from '../../chain/safe';
import type { Relayer } from '../../db/chain';
import type { Db } from '../../db/database';
import { explainedNonces, findTransactionTrouble, undecidedNonces } from '../../db/transactionHealth';
import { count } from '../text';
import { type Finding, fail, ok, stuck, warn } from './finding';

/** How long something may be in between, in seconds. */
const STUCK_SECONDS = 30;
const MAX_ACCOUNTS = 200;
const AT_ONCE = 20;
const SHOWN = 5;

/** What of the transactions' own bookkeeping does not add up, or waits for native currency. */
export async function lookAtTransactions(db: Db): Promise<Finding[]> {
  const { uncarried, reserved, awaiting } = await findTransactionTrouble(db, STUCK_SECONDS);
  return [
    stuck(
      'attempts',
      uncarried,
      'signed, and nothing carries it to the chain',
      'npx orgwallet transactions show <id>; see the chain worker and the signer above',
    ),
    stuck(
      'budgets',
      reserved,
      'hold a budget without an execution',
      'this does not happen by itself: who has changed the database? See the runbook',
    ),
    ...awaiting.map(({ networkId, count: waiting, wei }) =>
      warn(
        'funds',
        `${count(waiting, 'transaction waits', 'transactions wait')} for native currency of the relayer of network ${networkId}: up to ${wei} wei`,
        'fund the relayer; they continue by themselves',
      ),
    ),
  ];
}

/** That no account has executed more than was signed for it here. */
export async function lookAtAccountNonces(chain: ChainClient, db: Db): Promise<Finding[]> {
  const part = `accounts ${chain.network.id}`;
  const explained = await explainedNonces(db, chain.network.id, MAX_ACCOUNTS + 1);
  const looked = explained.slice(0, MAX_ACCOUNTS);
  const ahead: string[] = [];
  const gone: string[] = [];
  for (let start = 0; start < looked.length; start += AT_ONCE) {
    await Promise.all(
      looked.slice(start, start + AT_ONCE).map(async ({ accountId, address, next }) => {
        const onChain = await accountNonce(chain, address as Address);
        if (onChain === null) gone.push(accountId);
        else if (onChain > next) ahead.push(`${accountId} (${onChain} on chain, ${next} recorded)`);
      }),
    );
  }
  const shown = (of: readonly string[]) =>
    `${of.slice(0, SHOWN).join(', ')}${of.length > SHOWN ? ', …' : ''}`;
  const findings = [
    ...(ahead.length === 0
      ? []
      : [
          fail(
            part,
            `nonce ahead of what was signed here: ${shown(ahead)}`,
            'is this database a restored backup, or has somebody else the keystore? See the runbook before anything else',
          ),
        ]),
    ...(gone.length === 0
      ? []
      : [fail(part, `no contract at the address of ${shown(gone)}`, 'has the network been reset?')]),
  ];
  if (findings.length > 0) return findings;
  const those =
    looked.length < explained.length
      ? `the ${MAX_ACCOUNTS} used last`
      : count(looked.length, 'account', 'accounts');
  return [
    ok(part, looked.length === 0 ? 'none yet' : `${those}: every nonce is explained by what was signed here`),
  ];
}

/** What of a relayer is on its way, and that nothing is missing before it. */
export async function lookAtRelayerNonces(
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
          `nothing uses nonce ${next} of ${address}, and ${behind} behind it wait`,
          'nothing: it is filled within a minute. If it stays, see the chain worker, the signer and the funds above',
        );
      }
      const pending = undecided.filter((nonce) => nonce >= next).length;
      return ok(part, `next ${next}, ${pending} on their way`);
    }),
  );
}
