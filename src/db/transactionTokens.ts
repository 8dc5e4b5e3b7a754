import type { Asset } from '../domain/transactionText';
import type { Db, Tx } from './database';
import type { PolicyTokenAt } from './policies';
import { queryNumbered } from './rows';

// From one asset to the next by the index, however many transactions there are of each.
const LIST = `SELECT DISTINCT ON (found.asset->>'id') found.asset FROM unnest($1::text[]) AS account(id), LATERAL (
      WITH RECURSIVE assets AS (
        (SELECT content->'asset'->>'id' AS id, content->'asset' AS asset FROM transactions
          WHERE account_id = account.id AND type = 'TOKEN_TRANSFER'
          ORDER BY content->'asset'->>'id', id DESC LIMIT 1)
        UNION ALL
        SELECT next.id, next.asset FROM assets, LATERAL (
          SELECT content->'asset'->>'id' AS id, content->'asset' AS asset FROM transactions
          WHERE account_id = account.id AND type = 'TOKEN_TRANSFER' AND content->'asset'->>'id' > assets.id
          ORDER BY content->'asset'->>'id', id DESC LIMIT 1
        ) AS next
      )
      SELECT asset FROM assets WHERE asset->>'tokenAddress' <> '0x0000000000000000000000000000000000000000'
    ) AS found ORDER BY found.asset->>'id'`;

/** The tokens, apart from native currencies, that transactions of accounts have moved or would move; none twice. */
export async function listTransactionTokens(
  db: Db | Tx,
  accountIds: readonly string[],
): Promise<PolicyTokenAt[]> {
  const rows = await queryNumbered<{ asset: Asset }>(db, LIST, [accountIds]);
  return rows.map(({ asset }) => ({
    networkId: Number(asset.id.split(':')[0]),
    address: asset.tokenAddress,
    symbol: asset.symbol,
    name: asset.name,
    decimals: asset.decimals,
    logoUrl: asset.logoUrl,
  }));
}
