import type { AdminsSafeStatus } from '../domain/adminsSafe';
import type { MemberSummary } from '../domain/approval';
import type { AdminsState } from '../domain/governance';
import type { AdminSet } from '../domain/proposal';
import type { Wallet, WalletKind } from '../domain/wallet';
import { type AdminColumns, adminColumns, adminsInColumns } from './adminColumns';
import type { Db, Tx } from './database';
import { queryRows, requireRow } from './rows';
import type { AdminSetRow, MemberRow } from './tables';

/** A person or a bot of an organization. */
export interface Member extends MemberSummary {
  readonly registeredAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Position in the order of commit. */
  readonly position: bigint;
}

function member(row: MemberRow): Member {
  return {
    id: row.id,
    name: row.name,
    type: row.type,
    walletAddress: row.wallet_address,
    walletKind: row.wallet_kind,
    registeredAt: row.registered_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    position: row.position,
  };
}

/** The members of an organization, newest first; all of them, or a page. */
export async function listMembers(
  db: Db | Tx,
  page: { organizationId: string; before?: bigint; limit?: number },
): Promise<Member[]> {
  const query = db('members')
    .where({ organization_id: page.organizationId, removed_at: null })
    .orderBy('position', 'desc');
  if (page.before !== undefined) query.where('position', '<', page.before);
  if (page.limit !== undefined) query.limit(page.limit);
  return (await query).map(member);
}

/** One member, or undefined. */
export async function findMember(
  db: Db | Tx,
  organizationId: string,
  id: string,
): Promise<Member | undefined> {
  const row = await db('members').where({ organization_id: organizationId, id, removed_at: null }).first();
  return row && member(row);
}

/** The given members that are in the organization, in the order of their ids. */
export async function findMembers(
  db: Db | Tx,
  organizationId: string,
  ids: readonly string[],
): Promise<Member[]> {
  const rows = await db('members')
    .where({ organization_id: organizationId, removed_at: null })
    .whereIn('id', [...new Set(ids)])
    .orderBy('id');
  return rows.map(member);
}

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

/** A member of type user with that wallet, whatever the case of its address; undefined when there is none. */
export async function findPerson(
  tx: Tx,
  { organizationId, memberId, wallet }: { organizationId: string; memberId: string; wallet: Wallet },
): Promise<Member | undefined> {
  const row = await tx('members')
    .where({ id: memberId, organization_id: organizationId, type: 'user', removed_at: null })
    .where({ wallet_kind: wallet.walletKind })
    .whereRaw('lower(wallet_address) = lower(?)', [wallet.walletAddress])
    .first();
  return row && member(row);
}

/** The members who have one of these wallets, whatever the case of its address. */
export async function findMembersByWallet(
  db: Db | Tx,
  organizationId: string,
  walletAddresses: readonly string[],
): Promise<Member[]> {
  const rows = await db('members')
    .where({ organization_id: organizationId, removed_at: null })
    .whereRaw('lower(wallet_address) = ANY(?)', [walletAddresses.map((address) => address.toLowerCase())]);
  return rows.map(member);
}

/** Stores new members; `setPositions` sets their positions. */
export async function insertMembers(
  tx: Tx,
  organizationId: string,
  members: readonly MemberSummary[],
): Promise<void> {
  await tx('members')
    .insert(
      members.map(({ id, name, type, walletAddress, walletKind }) => ({
        id,
        organization_id: organizationId,
        name,
        type,
        wallet_address: walletAddress,
        wallet_kind: walletKind,
        position: 0,
      })),
    )
    .onConflict('id')
    .merge();
}

/** Locks the member who has exactly this wallet; undefined when there is none. */
export async function lockMemberOfWallet(
  tx: Tx,
  { organizationId, memberId, wallet }: { organizationId: string; memberId: string; wallet: Wallet },
): Promise<Member | undefined> {
  const row = await tx('members')
    .where({
      organization_id: organizationId,
      id: memberId,
      wallet_address: wallet.walletAddress,
      wallet_kind: wallet.walletKind,
      removed_at: null,
    })
    .forNoKeyUpdate()
    .first();
  return row && member(row);
}

/** Records that a member has proved control of its wallet. Returns when it did so first. */
export async function markRegistered(tx: Tx, memberId: string): Promise<Date> {
  const [registered] = await tx('members')
    .where({ id: memberId })
    .update({
      registered_at: tx.raw('coalesce(registered_at, now())'),
      updated_at: tx.raw('CASE WHEN registered_at IS NULL THEN now() ELSE updated_at END'),
    })
    .returning('registered_at');
  return requireRow(requireRow(registered).registered_at);
}

/**
 * Gives members their name and wallet, which they may exchange among themselves. Whoever gets another wallet, or one of
 * another kind, has yet to prove control of it.
 */
export async function updateMembers(
  tx: Tx,
  members: readonly Pick<MemberSummary, 'id' | 'name' | 'walletAddress' | 'walletKind'>[],
): Promise<void> {
  // A unique index is checked row by row: these members are excluded from it while their wallets change.
  const ids = members.map(({ id }) => id);
  await tx('members').whereIn('id', ids).update({ removed_at: tx.fn.now() });
  await tx.raw(
    `UPDATE members SET name = v.name, wallet_address = v.wallet_address, wallet_kind = v.wallet_kind,
      updated_at = now(), removed_at = NULL,
      registered_at = CASE WHEN members.wallet_address = v.wallet_address AND members.wallet_kind = v.wallet_kind
        THEN registered_at END
    FROM unnest(?::text[], ?::text[], ?::text[], ?::text[]) AS v (id, name, wallet_address, wallet_kind)
    WHERE members.id = v.id`,
    [
      members.map(({ id }) => id),
      members.map(({ name }) => name),
      members.map(({ walletAddress }) => walletAddress),
      members.map(({ walletKind }) => walletKind),
    ],
  );
}

/** Removes members and their memberships in groups; the rows of the members are kept. */
export async function removeMembers(tx: Tx, ids: readonly string[]): Promise<void> {
  const now = tx.raw('now()');
  const left = await tx('group_members')
    .whereIn('member_id', [...ids])
    .delete()
    .returning('group_id');
  await tx('groups')
    .whereIn(
      'id',
      left.map(({ group_id }) => group_id),
    )
    .whereNull('deleted_at')
    .update({ updated_at: now });
  await tx('members')
    .whereIn('id', [...ids])
    .update({ removed_at: now, updated_at: now });
}

/** The admins' Safe on a network, as the signer has read it last. */
export interface AdminsSafeOnNetwork {
  readonly networkId: number;
  readonly status: AdminsSafeStatus;
  /** null where it was not read. */
  readonly owners: readonly string[] | null;
  readonly threshold: number | null;
  /** The sealed decision that was written last; null: none. */
  readonly sequence: number | null;
  /** Since when it has this status. */
  readonly since: Date;
  readonly observedAt: Date;
  readonly reason: string | null;
}

/** An organization's admins: one per organization. */
export interface Admins extends AdminSet {
  readonly id: string;
  /** Whether the admins' Safe is kept equal to them. */
  readonly onChain: boolean;
  /** The address of the key that owns the accounts. */
  readonly signingKey: string;
  /** The admins' Safe on each network where the signer has looked. */
  readonly safes: readonly AdminsSafeOnNetwork[];
}

const SAFES = `coalesce((SELECT json_agg(json_build_object('networkId', a.network_id, 'status', a.status, 'owners', a.owners,
        'threshold', a.threshold, 'sequence', a.sequence, 'since', a.since, 'observedAt', a.observed_at,
        'reason', a.reason) ORDER BY a.network_id)
      FROM admins_safes a WHERE a.organization_id = s.organization_id), '[]') AS safes`;

/** The admins of now. Members are in the order of their ids. */
export async function readAdmins(db: Db | Tx, organizationId: string): Promise<Admins> {
  const [set] = await queryRows<
    AdminColumns &
      Pick<AdminSetRow, 'id' | 'on_chain'> & { readonly signing_key: string } & {
        readonly safes: readonly (Omit<AdminsSafeOnNetwork, 'since' | 'observedAt'> & {
          readonly since: string;
          readonly observedAt: string;
        })[];
      }
  >(
    db,
    `SELECT s.id, s.on_chain, o.signing_key, ${adminColumns('s')}, ${SAFES}
      FROM admin_sets s JOIN organizations o ON o.id = s.organization_id WHERE s.organization_id = ?`,
    [organizationId],
  );
  if (!set) throw new Error(`organization ${organizationId} has no admins`);
  const { id, on_chain: onChain, signing_key: signingKey } = set;
  const safes = set.safes.map(({ since, observedAt, ...safe }) => ({
    ...safe,
    since: new Date(since),
    observedAt: new Date(observedAt),
  }));
  return { id, onChain, signingKey, safes, ...adminsInColumns(set) };
}

/** Stores the admins of a new organization. */
export async function insertAdmins(
  tx: Tx,
  organizationId: string,
  { id, memberIds, threshold, onChain }: Omit<AdminsState, 'revision'>,
): Promise<void> {
  await tx('admin_sets').insert({
    id,
    organization_id: organizationId,
    threshold,
    on_chain: onChain === true,
  });
  await tx('admin_set_members').insert(
    memberIds.map((memberId) => ({ organization_id: organizationId, member_id: memberId })),
  );
}

/** Sets the admins and their threshold. */
export async function replaceAdmins(
  tx: Tx,
  organizationId: string,
  { memberIds, threshold, onChain }: Omit<AdminsState, 'id' | 'revision'>,
): Promise<void> {
  const organization = { organization_id: organizationId };
  await tx('admin_set_members')
    .where(organization)
    .whereNotIn('member_id', [...memberIds])
    .delete();
  await tx('admin_set_members')
    .insert(memberIds.map((id) => ({ ...organization, member_id: id })))
    .onConflict(['organization_id', 'member_id'])
    .ignore();
  await tx('admin_sets')
    .where(organization)
    .update({ threshold, on_chain: onChain === true });
}
