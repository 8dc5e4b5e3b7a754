import protocolKit = require('@safe-global/protocol-kit');

import type { Address, Hex } from 'viem';
import { requireRow } from '../../src/db/rows';
import { LOCAL_SAFE_CONTRACTS } from '../../tools/dev/localContracts';
import { ETHER, type RescueChain, type RescueWorld } from './rescueWorld';

const addressOf = (name: string) =>
  requireRow(LOCAL_SAFE_CONTRACTS.find(({ artifact }) => artifact.endsWith(`/${name}.json`))).address;

/** Safe's kit as its documentation says for a network that it does not know. Without `signer` it reads only. */
export function connectKit(
  { networkId, url }: Pick<RescueChain, 'networkId' | 'url'>,
  safe: string,
  signer?: Hex,
) {
  return protocolKit.default.init({
    provider: url,
    ...(signer && { signer }),
    safeAddress: safe,
    contractNetworks: {
      [String(networkId)]: {
        safeSingletonAddress: requireRow(LOCAL_SAFE_CONTRACTS[0]).address,
        safeProxyFactoryAddress: addressOf('SafeProxyFactory'),
        fallbackHandlerAddress: addressOf('CompatibilityFallbackHandler'),
        multiSendAddress: addressOf('MultiSend'),
        multiSendCallOnlyAddress: addressOf('MultiSendCallOnly'),
        signMessageLibAddress: addressOf('SignMessageLib'),
        createCallAddress: addressOf('CreateCall'),
        simulateTxAccessorAddress: addressOf('SimulateTxAccessor'),
      },
    },
  });
}

/** The admins' Safe, with the wallet of the first and of the second admin. */
async function twoAdmins({ admins, adminsSafe }: RescueWorld, chain: RescueChain) {
  const [first, second] = admins;
  return [
    await connectKit(chain, adminsSafe, requireRow(first).privateKey),
    await connectKit(chain, adminsSafe, requireRow(second).privateKey),
  ] as const;
}

/**
 * Takes the accounts of a chain over as a Safe interface does it: with the file for the Transaction Builder in the kit. Throws
 * unless Safe's own code makes of that file the transaction that the kit says.
 */
export async function takeOverByProtocolKit(world: RescueWorld, chain: RescueChain): Promise<void> {
  const network = requireRow(world.kit.networks.find(({ networkId }) => networkId === chain.networkId));
  const file = requireRow(network.transactionBuilder[0]);
  expect([file.chainId, file.meta.createdFromSafeAddress]).toEqual([
    String(chain.networkId),
    world.adminsSafe,
  ]);
  const [alice, bob] = await twoAdmins(world, chain);
  expect(await alice.getThreshold()).toBe(2);
  const asked = file.transactions.map(({ to, value, data }) => ({ to, value, data }));
  const transaction = await alice.createTransaction({ transactions: asked, onlyCalls: true });
  const { to, data, operation } = transaction.data;
  expect({ to, data, operation }).toEqual({
    to: network.takeovers[0]?.to,
    data: network.takeovers[0]?.data,
    operation: 1,
  });
  const signed = await bob.signTransaction(await alice.signTransaction(transaction));
  const { hash } = await alice.executeTransaction(signed);
  await chain.client.waitForTransactionReceipt({ hash: hash as Hex });
}

/** Has the first account pay 1 ETH, as a nested Safe: the admins' Safe approves its transaction, then anybody executes it. */
export async function payByProtocolKit(
  world: RescueWorld,
  chain: RescueChain,
  payee: Address,
): Promise<void> {
  const account = requireRow(world.accounts[0]);
  const [alice, bob] = await twoAdmins(world, chain);
  const nested = await connectKit(chain, account, requireRow(world.admins[0]).privateKey);
  const payment = await nested.createTransaction({
    transactions: [{ to: payee, value: String(ETHER), data: '0x' }],
  });
  const hash = await nested.getTransactionHash(payment);
  const approval = await alice.createTransaction({
    transactions: [{ to: account, value: '0', data: `0xd4d9bdcd${hash.slice(2)}` }],
  });
  const signed = await bob.signTransaction(await alice.signTransaction(approval));
  for (const sent of [await alice.executeTransaction(signed), await nested.executeTransaction(payment)]) {
    await chain.client.waitForTransactionReceipt({ hash: sent.hash as Hex });
  }
}
