import { deriveAccount } from '../chain/safeAccount';
import type { Db, Tx } from '../db/database';
import type { AccountDerivation } from '../domain/account';
import { findResource, type OrganizationState } from '../domain/governance';
import { SignerRefusal } from './refusal';
import type { SignerContext } from './signerContext';

/** An account on a network, as a record names it. */
interface AccountOnNetwork {
  readonly organizationId: string;
  readonly accountId: string;
  readonly networkId: number;
  /** The address by the record of a transaction. */
  readonly accountAddress?: string;
}

/**
 * An account as its key and id determine it. Throws SignerRefusal unless the admins have decided on exactly this account,
 * on that network.
 */
export async function assertAccount(
  { keystore, readSealedState }: Pick<SignerContext, 'keystore' | 'readSealedState'>,
  handle: Db | Tx,
  account: AccountOnNetwork,
): Promise<AccountDerivation> {
  const { state } = await readSealedState(handle, account.organizationId);
  return accountIn({ keystore }, state, account);
}

/** The same by a sealed state that was read. */
export function accountIn(
  { keystore }: Pick<SignerContext, 'keystore'>,
  state: OrganizationState,
  account: AccountOnNetwork,
): AccountDerivation {
  const { organizationId, accountId, networkId } = account;
  const sealed = findResource(state, 'account', accountId);
  if (!sealed?.networkIds.includes(networkId)) {
    throw new SignerRefusal('stale', `no sealed decision has account ${accountId} on network ${networkId}`);
  }
  const expected = deriveAccount(keystore.organizationKey(organizationId).address, accountId);
  const said = [
    ['sealed', sealed.address],
    ['recorded', account.accountAddress ?? expected.address],
  ];
  for (const [how, address] of said) {
    if (address === expected.address) continue;
    throw new SignerRefusal(
      'stale',
      `account ${accountId} is ${how} at ${address}, and its key and id determine ${expected.address}`,
    );
  }
  return expected;
}
