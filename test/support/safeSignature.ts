import type { Hex } from 'viem';
import type { SigningKey } from '../../src/chain/keys';
import { type SafeTransaction, safeTransactionHash } from '../../src/chain/safeTransaction';

/** The owner's signature (65 bytes) that authorizes an account to execute a transaction. */
export function signSafeTransaction(owner: SigningKey, tx: SafeTransaction): Promise<Hex> {
  return owner.sign({ hash: safeTransactionHash(tx) });
}
