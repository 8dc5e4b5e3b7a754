import { existsSync } from 'node:fs';
import { formatEther } from 'viem';
import { nativeAmount } from '../../chain/nativeAmount';
import type { Config } from '../../config';
import { GAS_WINDOW_MS, gasCost, gasLimit } from '../../domain/gasBudget';
import { readJournal } from '../../signer/journal/journalReader';
import { type Finding, ok, warn } from './finding';

/** The part of a budget from which on doctor warns: nine of ten. */
const isNearly = (wei: bigint, limit: bigint) => 10n * wei >= 9n * limit;

/** The gas budgets that are used up, by the journal, where it is. */
export async function checkGasBudgets(
  { journalFile, networks, gasBudgetPerHour }: Pick<Config, 'journalFile' | 'networks' | 'gasBudgetPerHour'>,
  now = Date.now(),
): Promise<Finding[]> {
  if (!existsSync(journalFile)) return [];
  const journal = await readJournal(journalFile);
  try {
    const used = journal.gasOwners().flatMap((owner) => {
      const wei = gasCost(journal.gasOf(owner).filter(({ at }) => at > now - GAS_WINDOW_MS));
      const limit = gasLimit(gasBudgetPerHour, owner.organizationId === null ? 'filler' : 'transaction');
      if (!isNearly(wei, limit)) return [];
      const network = networks.find(({ id }) => id === owner.networkId);
      // Of a network that is not configured any more, only this installation's own unit is known.
      const text = (amount: bigint) => (network ? nativeAmount(network, amount) : formatEther(amount));
      const whose = owner.organizationId ?? 'the signer, to fill nonces,';
      return [
        warn(
          `gas ${owner.networkId}`,
          `${whose} has signed for ${text(wei)} of ${text(limit)} on ${network?.name ?? owner.networkId} within an hour`,
          'see the runbook: the gas budget is used up',
        ),
      ];
    });
    return used.length > 0 ? used : [ok('gas', `no budget of ${formatEther(gasBudgetPerHour)} is used up`)];
  } finally {
    await journal.close();
  }
}
