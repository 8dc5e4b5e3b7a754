import { numberToHex } from 'viem';
import { rpc } from './stack';
import { until } from './until';

/**
 * Has a chain make a block with this base fee (wei), or one near it. A block whose receipts are there already can be made up to the
 * end only after that, and then sets the fee of the next one: it is set again.
 */
export async function setBaseFee(url: string, wei: bigint): Promise<void> {
  await until(`a block has a base fee of ${wei} wei`, async () => {
    await rpc(url, 'anvil_setNextBlockBaseFeePerGas', [numberToHex(wei)]);
    await rpc(url, 'anvil_mine', ['0x1']);
    const block = await rpc<{ baseFeePerGas: string }>(url, 'eth_getBlockByNumber', ['latest', false]);
    const made = BigInt(block.baseFeePerGas);
    return wei <= 2n * made && made <= 2n * wei;
  });
}
