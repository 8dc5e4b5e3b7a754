import type { ApprovalKey } from '../domain/approvalRef';
import type { Db, Tx } from './database';
import { isDuplicateIn, type Statement } from './rows';

/** A claim that another open approval already has. */
export interface TakenClaim {
  readonly claim: string;
  /** The approval that has it. */
  readonly holder: string;
}

/** In one order for everybody, so that nobody waits for each other. */
function inOrder(claims: readonly string[]): string[] {
  return [...new Set(claims)].sort();
}

/** Takes claims for an approval; an error where another open one has one of them. */
export function insertClaims(db: Db | Tx, { organizationId, id }: ApprovalKey, claims: readonly string[]) {
  const rows = inOrder(claims).map((claim) => ({ organization_id: organizationId, claim, approval_id: id }));
  return rows.length === 0 ? [] : [db('claims').insert(rows)];
}

/** Whether an error says that another open approval has a claim. */
export function isClaimTaken(error: unknown): boolean {
  return isDuplicateIn('claims', error);
}

/** The first of claims that an open approval has. */
export async function findTaken(
  db: Db,
  organizationId: string,
  claims: readonly string[],
): Promise<TakenClaim | undefined> {
  const holder = await db('claims')
    .where({ organization_id: organizationId })
    .whereIn('claim', inOrder(claims))
    .orderByRaw('claim COLLATE "C"')
    .first('claim', 'approval_id');
  return holder && { claim: holder.claim, holder: holder.approval_id };
}

/** Releases the claims of an approval. */
export function releaseClaims(tx: Db | Tx, id: string): Statement {
  return tx('claims').where({ approval_id: id }).delete();
}
