import {
  type Address,
  type Hex,
  parseSignature,
  parseTransaction,
  serializeSignature,
  serializeTransaction,
  type TransactionSerializableEIP1559,
  type TransactionSerializedEIP1559,
} from 'viem';
import { keccak256 } from './keccak';
import { recoverSigner } from './signatures';

/** A transaction of a network (EIP-1559), before it is signed. */
export type UnsignedTransaction = TransactionSerializableEIP1559;

/** Signs a transaction with what signs its digest: the bytes that are sent. Source: EIP-1559. */
export async function signRawTransaction(
  sign: (digest: { readonly hash: Hex }) => Promise<Hex>,
  transaction: UnsignedTransaction,
): Promise<TransactionSerializedEIP1559> {
  const signature = await sign({ hash: keccak256(serializeTransaction(transaction)) });
  return serializeTransaction(transaction, parseSignature(signature)) as TransactionSerializedEIP1559;
}

/** What the bytes of a signed transaction say, and whose key has signed it: null, nobody's. Throws where they are malformed. */
export async function readRawTransaction(
  bytes: Hex,
): Promise<{ readonly transaction: UnsignedTransaction; readonly signer: Address | null }> {
  const { r, s, v: _, yParity, ...transaction } = parseTransaction(bytes as TransactionSerializedEIP1559);
  if (r === undefined || s === undefined || yParity === undefined) return { transaction, signer: null };
  // A number with a leading zero reads as the same transaction, and no node takes it.
  if (serializeTransaction(transaction, { r, s, yParity }) !== bytes)
    throw new Error('not the canonical bytes');
  const signature = serializeSignature({ r, s, yParity });
  return {
    transaction,
    signer: await recoverSigner(keccak256(serializeTransaction(transaction)), signature),
  };
}
