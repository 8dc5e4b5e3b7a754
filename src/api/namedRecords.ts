import { findAccount } from '../db/accounts';
import type { Db } from '../db/database';
import { findMember } from '../db/members';
import { findPolicy } from '../db/policies';
import type { Filters } from './cursors';
import { badRequest } from './refusals';

const NAMED = {
  accountId: ['account', findAccount],
  policyId: ['policy', findPolicy],
  memberId: ['member', findMember],
  initiatorId: ['member', findMember],
  missingMemberId: ['member', findMember],
} as const;

/** Refuses filters that name what is not in the organization. Of these a page is empty. */
export async function requireNamed(db: Db, organizationId: string, filters: Filters): Promise<void> {
  for (const [field, [noun, find]] of Object.entries(NAMED)) {
    const id = filters[field];
    if (id === undefined || (await find(db, organizationId, id))) continue;
    throw badRequest([{ field, message: `${noun} not found in this organization` }]);
  }
}
