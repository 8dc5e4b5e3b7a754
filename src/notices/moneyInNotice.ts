import { isZeroAddress } from '../chain/address';
import type { ListedToken } from '../chain/tokenList';
import type { IncomingMovement } from '../db/movementLists';
import type { KnownAddress } from '../db/recipients';
import { assetAmount } from '../domain/policyText';
import { quotedName, quotedSymbol } from '../domain/summary';
import { type Notice, noticeOf } from './notice';

/** Most transfers of a notice with a line each. */
const MOST_LINES = 10;

/** What has come into an account on a network, or is no longer there. */
export interface Incoming {
  readonly status: 'confirmed' | 'reversed';
  readonly movements: readonly IncomingMovement[];
  /** Whether there are more than these. */
  readonly hasMore: boolean;
  readonly network: string;
  /** The asset of a movement, where it is known. */
  readonly assetOf: (movement: IncomingMovement) => ListedToken | undefined;
  /** Whom a movement is from, where that is known. */
  readonly senderOf: (movement: IncomingMovement) => KnownAddress | undefined;
}

function amountOf(movement: IncomingMovement, asset: ListedToken | undefined): string {
  const { kind, amount, token_address: tokenAddress, token_id: tokenId } = movement;
  const symbol = asset?.symbol || movement.symbol || tokenAddress;
  if (kind === 'erc721') return `token ${tokenId} of ${quotedSymbol(symbol)}`;
  if (kind === 'erc1155') return `${amount} of token ${tokenId} of ${quotedSymbol(symbol)}`;
  return assetAmount(amount, { symbol, decimals: asset?.decimals ?? movement.decimals });
}

/** An address that is not named as somebody's: a policy names many. */
function senderText({ counterparty }: IncomingMovement, known: KnownAddress | undefined): string {
  if (isZeroAddress(counterparty)) return 'nobody: it was minted';
  return known && known.type !== 'policy' ? `${quotedName(known.name)} (${counterparty})` : counterparty;
}

/** The notice of what has come in, or is no longer there; null where it is nothing. `page` is that of the account. */
export function moneyInNotice(
  { status, movements, hasMore, network, assetOf, senderOf }: Incoming,
  { organization, page }: { readonly organization: string; readonly page: string | null },
): Notice | null {
  const [first] = movements;
  if (!first) return null;
  const texts = movements.slice(0, MOST_LINES).map((movement) => ({
    amount: amountOf(movement, assetOf(movement)),
    sender: senderText(movement, senderOf(movement)),
    hash: movement.transaction_hash,
  }));
  const title =
    status === 'confirmed' ? 'Money in' : 'Money in reversed: its block is no longer on the chain';
  const name = quotedName(first.accountName);
  const where = [`Account: ${name} (${first.accountAddress})`, `Network: ${quotedName(network)}`];
  const [only, ...others] = texts;
  if (only && others.length === 0) {
    const about = [
      `${only.amount} to ${name}`,
      `From: ${only.sender}`,
      ...where,
      `Transaction: ${only.hash}`,
    ];
    return noticeOf(title, [quotedName(organization), ...about], page);
  }
  const count = hasMore ? `more than ${movements.length}` : String(movements.length);
  const left = movements.length - texts.length;
  return noticeOf(
    title,
    [
      quotedName(organization),
      `${count} transfers to ${name}`,
      ...texts.map(({ amount, sender }) => `${amount} from ${sender}`),
      ...(left > 0 ? [`and ${hasMore ? 'more' : `${left} more`}`] : []),
      ...where,
    ],
    page,
  );
}
