import type { Address } from 'viem';
import { ask, assertChainId, type ChainClient } from '../../chain/clients';
import { hostOf, type WalletEndpoints } from '../../chain/contractSignatures';
import { isLoopback } from '../../chain/loopback';
import { gasPriceText, nativeAmount } from '../../chain/nativeAmount';
import { relayerFunds } from '../../chain/relayerFunds';
import { refuseNetwork } from '../../chain/safe';
import type { Relayer } from '../../db/chain';
import { duration } from '../text';
import { type Finding, fail, ok, runCheck, warn } from './finding';

const OLD_HEAD_MS = 5 * 60_000;

/** Checks the chain id, the canonical contracts, the age of the newest block and the gas price of a network. */
export async function checkNetwork(chain: ChainClient): Promise<Finding[]> {
  const { id, name, rpcUrls, maxFeePerGas } = chain.network;
  const part = `network ${id}`;
  const refusal = await refuseNetwork(chain);
  if (refusal) {
    return [fail(part, refusal, 'correct NETWORKS_FILE, or deploy the canonical Safe 1.4.1 contracts there')];
  }
  const [head, gasPrice, client] = await Promise.all([
    ask(chain, (rpc) => rpc.getBlock({ blockTag: 'latest' })),
    ask(chain, (rpc) => rpc.getGasPrice()),
    // Not every provider reports it.
    chain.rpc.request({ method: 'web3_clientVersion' }).catch(() => 'client unknown'),
  ]);
  const ageMs = Date.now() - Number(head.timestamp) * 1_000;
  const text = `${name}, block ${head.number} of ${duration(ageMs)} ago, gas ${gasPriceText(gasPrice)}, Safe 1.4.1, ${client}`;
  if (gasPrice > maxFeePerGas) {
    return [
      warn(
        part,
        text,
        `gas is above the ceiling of ${gasPriceText(maxFeePerGas)}: wait, or raise maxFeePerGas in NETWORKS_FILE`,
      ),
    ];
  }
  // A local chain makes a block only for a transaction.
  if (ageMs > OLD_HEAD_MS && !rpcUrls.every(isLoopback))
    return [warn(part, text, 'no new block: check the nodes of its rpcUrls')];
  return [ok(part, text)];
}

/** The endpoints that the signer itself asks. */
export async function checkEndpoints({ network, clients }: WalletEndpoints): Promise<Finding[]> {
  const part = `endpoints ${network.id}`;
  if (clients.length === 0) return [ok(part, 'the signer has none: votes of contract wallets are refused')];
  const found = clients.map((client) =>
    runCheck(part, 'see the log of the node, or correct signerRpcUrls in NETWORKS_FILE', async () => {
      await assertChainId(client);
      return [ok(part, `${hostOf(client)} answers the signer`)];
    }),
  );
  return (await Promise.all(found)).flat();
}

/** The keys that pay for gas on a network. */
export async function checkRelayers(chain: ChainClient, relayers: readonly Relayer[]): Promise<Finding[]> {
  const { id, name, nativeAsset, relayers: needed } = chain.network;
  const part = `relayer ${id}`;
  const own = relayers.filter(({ networkId }) => networkId === id);
  if (own.length === 0) {
    return [warn(part, `no relayer for ${name} yet`, 'start a process whose ORGWALLET_ROLES has signer')];
  }
  const gasPrice = await ask(chain, (rpc) => rpc.getGasPrice());
  const findings = await Promise.all(
    own.map(async ({ address }) => {
      const balance = await ask(chain, (rpc) => rpc.getBalance({ address: address as Address }));
      const text = `${address} has ${nativeAmount(chain.network, balance)}`;
      const todo = `send ${nativeAsset.symbol} to ${address} on ${name}`;
      const funds = relayerFunds(balance, gasPrice);
      if (funds === 'empty') return fail(part, `${text}: not enough for one deployment`, todo);
      return funds === 'low' ? warn(part, `${text}: running low`, todo) : ok(part, text);
    }),
  );
  const registered = own.filter(({ index }) => index < needed).length;
  if (registered === needed) return findings;
  const text = `the signer has registered ${registered} of the ${needed} relayers of ${name}`;
  return [...findings, warn(part, text, 'restart it with the same NETWORKS_FILE (relayers)')];
}
