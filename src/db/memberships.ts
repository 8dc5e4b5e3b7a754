import type { WalletKind } from '../domain/wallet';
import type { Db } from './database';
import { queryRows } from './rows';

/** What a wallet is in an organization. */
export interface Membership {
  readonly organizationId: string;
  readonly organizationName: string;
  readonly memberId: string;
  readonly memberName: string;
  readonly walletKind: WalletKind;
}

/** The people whose wallet it is, in all organizations. */
export async function findPeople(db: Db, walletAddress: string): Promise<Membership[]> {
  return queryRows<Membership>(
    db,
    `SELECT o.id AS "organizationId", o.name AS "organizationName", m.id AS "memberId", m.name AS "memberName",
       m.wallet_kind AS "walletKind"
     FROM members m JOIN organizations o ON o.id = m.organization_id
     WHERE lower(m.wallet_address) = lower(?) AND m.removed_at IS NULL AND m.type = 'user' ORDER BY o.id`,
    [walletAddress],
  );
}
