/** What moves: the native currency of a network, or a token by its standard. */
export type MovementKind = 'native' | 'erc20' | 'erc721' | 'erc1155';

/** pending: in a block without the network's confirmations. reversed: its block is no longer on the chain. */
export type MovementStatus = 'pending' | 'confirmed' | 'reversed';

/** The address that stands for the native currency, and for nobody in a token that is minted or burned. */
export const ZERO_ADDRESS = `0x${'0'.repeat(40)}`;

/** A block by number and hash. */
export interface BlockRef {
  readonly number: bigint;
  readonly hash: string;
}

/** A change of what an account holds, as the logs of a chain show it. Addresses are checksummed. */
export interface Movement {
  readonly accountId: string;
  readonly direction: 'in' | 'out';
  readonly kind: MovementKind;
  /** fee: what the account has paid whoever executed its transaction. */
  readonly cause: 'transfer' | 'fee';
  /** The zero address for the native currency. */
  readonly tokenAddress: string;
  /** Of ERC-721 and ERC-1155. */
  readonly tokenId: bigint | null;
  /** In the smallest unit. */
  readonly amount: bigint;
  readonly counterparty: string;
  readonly transactionHash: string;
  readonly block: BlockRef;
  readonly logIndex: number;
  /** The hash of the execution of an account during which it was logged; null where it was none. */
  readonly safeTxHash: string | null;
}

/** A movement with what identifies it. */
export interface IdentifiedMovement extends Movement {
  readonly id: string;
}

/** What makes a movement the same one in another block and with another log index: nodes number logs in different ways. */
function contentOf(movement: Movement): string {
  const { accountId, transactionHash, direction, kind, cause, tokenAddress, tokenId } = movement;
  const { counterparty, amount } = movement;
  const of = [accountId, transactionHash, direction, kind, cause, tokenAddress];
  return [...of, tokenId ?? '', counterparty, amount].join('/').toLowerCase();
}

/**
 * Creates the function that gives movements their ids, one after the other in the order of the chain: made of their content, and of
 * how many equal ones of the same transaction came before. Whatever blocks the transaction is in, in whatever order its logs are
 * read, its movements have the same ids.
 */
export function createIdentify(
  idOf: (content: string) => string,
): (movement: Movement) => IdentifiedMovement {
  const counts = new Map<string, number>();
  return (movement) => {
    const content = contentOf(movement);
    const count = counts.get(content) ?? 0;
    counts.set(content, count + 1);
    return { ...movement, id: idOf(`${content}/${count}`) };
  };
}
