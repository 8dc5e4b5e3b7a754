import type { Address } from 'viem';
import { ask, type ChainClient } from '../../chain/clients';
import { currentFees } from '../../chain/fees';
import { gasPriceText, nativeAmount } from '../../chain/nativeAmount';
import { relayerFunds } from '../../chain/relayerFunds';
import { refuseNetwork } from '../../chain/safe';
import type { Relayer } from '../../db/relayers';
import { min } from '../../domain/bigint';
import { isLoopback } from '../../domain/loopback';
import { duration } from '../text';
import { type Finding, fail, ok, warn } from './finding';

const OLD_HEAD_MS = 5 * 60_000;

/**
 * Checks the chain id, the canonical contracts, the age of the newest block and the fees of a network, which are read as for
 * an execution. `nowMs`: by the database's clock, where it is known.
 */
export async function checkNetwork(chain: ChainClient, nowMs: () => number): Promise<Finding[]> {
  const { id, name, rpcUrls, maxFeePerGas } = chain.network;
  const part = `network ${id}`;
  const refusal = await refuseNetwork(chain);
  if (refusal) {
    return [fail(part, refusal, 'correct NETWORKS_FILE, or deploy the canonical Safe 1.4.1 contracts there')];
  }
  const [{ head, ageMs }, fees, client] = await Promise.all([
    ask(chain, (rpc) => rpc.getBlock({ blockTag: 'latest' })).then((head) => ({
      head,
      ageMs: nowMs() - Number(head.timestamp) * 1_000,
    })),
    currentFees(chain),
    // Not every provider reports it.
    chain.rpc.request({ method: 'web3_clientVersion' }).catch(() => 'client unknown'),
  ]);
  const text = `${name}, block ${head.number} of ${duration(ageMs)} ago, base fee ${gasPriceText(fees.baseFee)}, Safe 1.4.1, ${client}`;
  if (fees.baseFee > maxFeePerGas) {
    return [
      warn(
        part,
        text,
        `the base fee is above the ceiling of ${gasPriceText(maxFeePerGas)}: wait, or raise maxFeePerGas in NETWORKS_FILE`,
      ),
    ];
  }
  // A local chain makes a block only for a transaction.
  if (ageMs > OLD_HEAD_MS && !rpcUrls.every(isLoopback))
    return [warn(part, text, 'no new block: check the nodes of its rpcUrls')];
  return [ok(part, text)];
}

/** The keys that pay for gas on a network. */
export async function checkRelayers(chain: ChainClient, relayers: readonly Relayer[]): Promise<Finding[]> {
  const { id, name, nativeAsset, relayers: needed } = chain.network;
  const part = `relayer ${id}`;
  const own = relayers.filter(({ networkId }) => networkId === id);
  if (own.length === 0) {
    return [warn(part, `no relayer for ${name} yet`, 'start a process whose ORGWALLET_ROLES has signer')];
  }
  // What a transaction that is sent now pays: no more than the ceiling, whatever the network asks for.
  const { baseFee, maxFeePerGas, maxPriorityFeePerGas: tip } = await currentFees(chain);
  const gasPrice = min(baseFee + tip, maxFeePerGas);
  const findings = await Promise.all(
    own.map(async ({ address }) => {
      const balance = await ask(chain, (rpc) => rpc.getBalance({ address: address as Address }));
      const text = `${address} has ${nativeAmount(chain.network, balance)}`;
      const at = `at ${gasPriceText(gasPrice)}`;
      const todo = `send ${nativeAsset.symbol} to ${address} on ${name}`;
      const funds = relayerFunds(balance, gasPrice);
      if (funds === 'empty') return fail(part, `${text}: not enough for one deployment ${at}`, todo);
      return funds === 'low' ? warn(part, `${text}: running low ${at}`, todo) : ok(part, text);
    }),
  );
  const registered = own.filter(({ index }) => index < needed).length;
  if (registered === needed) return findings;
  const text = `the signer has registered ${registered} of the ${needed} relayers of ${name}`;
  return [...findings, warn(part, text, 'restart it with the same NETWORKS_FILE (relayers)')];
}
