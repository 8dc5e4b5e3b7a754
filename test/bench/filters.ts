import { type Comparison, compare } from './figures';
import { type ManyTransactions, storeTransactions } from './manyTransactions';
import { inTurn } from './measure';
import type { BenchStack } from './stack';

const TRANSACTIONS = 1_000_000;
const PAGES = { warmUp: 15, counted: 60 };
const MOST_RATIO = 1.5;

/** Each filter, for what nearly all have and for what only the hundred oldest have. */
function filtersOf({
  accountId,
  former,
}: ManyTransactions): readonly (readonly [name: string, query: string])[] {
  return [
    ['the account of nearly all', `accountId=${accountId}`],
    ['a former account', `accountId=${former.accountId}`],
    ['a former network', `networkId=${former.networkId}`],
    ['the network of nearly all', 'networkId=31337'],
    ['a former policy', `policyId=${former.policyId}`],
    ['a former initiator', `initiatorId=${former.initiatorId}`],
    ['who has not signed', `missingMemberId=${former.initiatorId}`],
    ['what can still change', 'status=queued'],
    ['what was executed', 'status=executed'],
    ['what is done', 'status=done'],
    ['what failed', 'status=failed'],
    ['what expired', 'status=expired'],
    ['a day long ago', 'from=2024-02-01T00:00:00Z&to=2024-02-02T00:00:00Z'],
    ['from a day on', 'from=2024-02-01T00:00:00Z'],
    ['before a day', 'to=2024-02-01T00:00:00Z'],
    ['an external id', 'externalId=salary-777'],
    ['an external id that nothing has', 'externalId=none'],
    ['a tag of few', 'tag=lease'],
    ['a tag of nearly all', 'tag=salary'],
    ['a word of few', 'text=lease'],
    ['a word of a thousandth', 'text=word7'],
    ['a word of nearly all', 'text=salary'],
    ['a number', 'text=777777'],
    ['a word that nothing has', 'text=nothing'],
    ['the name of an account', 'text=ghent'],
    ['a type of few', 'type=CONTRACT_INTERACTION'],
    ['a recipient of few', `recipient=${former.recipient}`],
    ['an asset of nearly all', `assetId=31337:0x${'0'.repeat(40)}`],
    ['an asset of none', `assetId=31337:${former.recipient}`],
    ['a former account and what failed', `accountId=${former.accountId}&status=failed`],
    ['the account of nearly all and a word of few', `accountId=${accountId}&text=lease`],
  ];
}

/** The first page of a list of 1,000,000 transactions by each filter, beside the one without. */
export async function measureFilters(stack: BenchStack): Promise<Comparison[]> {
  const stored = await storeTransactions(stack, TRANSACTIONS);
  const { payments } = stored;
  const first = (query: string) => payments.get(`/api/v1/transactions?limit=20${query}`);
  const comparisons: Comparison[] = [];
  try {
    for (const [name, query] of filtersOf(stored)) {
      await payments.connect(1);
      const { length } = await first(`&${query}`);
      const { filtered, all } = await inTurn(
        { filtered: () => first(`&${query}`), all: () => first('') },
        PAGES,
      );
      const what = `first page among 1,000,000: ${name} (${length} found) / all`;
      comparisons.push(
        compare(what, 'ms', { product: filtered, base: all }, { aim: { atMost: MOST_RATIO } }),
      );
    }
  } finally {
    payments.close();
  }
  return comparisons;
}
