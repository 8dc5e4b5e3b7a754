import { deriveAccount } from '../../src/chain/safe';
import { findAccountDerivation } from '../../src/db/chain';
import type { Tx } from '../../src/db/database';
import type { AccountDerivation } from '../../src/domain/account';
import { canonicalJson } from '../../src/domain/canonicalJson';
import type { SignerContext } from './context';
import { SignerRefusal } from './refusal';

/** The account as its key and id determine it. Throws SignerRefusal unless its record is the same. */
export async function assertAccount(
  { keystore }: Pick<SignerContext, 'keystore'>,
  tx: Tx,
  account: {
    readonly organizationId: string;
    readonly accountId: string;
    /** The address by the record of a transaction. */
    readonly accountAddress?: string;
  },
): Promise<AccountDerivation> {
  const { organizationId, accountId } = account;
  const recorded = await findAccountDerivation(tx, organizationId, accountId);
  const expected = deriveAccount(keystore.organizationKey(organizationId).address, accountId);
  const { accountAddress = expected.address } = account;
  if (canonicalJson(recorded ?? {}) !== canonicalJson(expected) || accountAddress !== expected.address) {
    throw new SignerRefusal('stale', `account ${accountId} is not recorded as its key and id determine it`);
  }
  return expected;
}
