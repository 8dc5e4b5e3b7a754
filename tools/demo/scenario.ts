import { changedAccount, newAccount, rejection } from './chapters/accounts';
import { adminLeaves, adminsAsBefore } from './chapters/admins';
import { conflict, groupDeleted, newGroup } from './chapters/groups';
import { membersLeave, newMembers } from './chapters/members';
import { policies } from './chapters/policies';
import { contractCall, pettyCash, purse, rulesRemoved, twoDecide } from './chapters/transactions';
import type { Stage } from './stage';

/**
 * One of each organization operation, and transactions of an account. Names and wallets are unique to a run, and at its
 * end the admins are those of demo.json, so that it can be repeated. Throws when anything is not as expected.
 */
export async function runScenario(stage: Stage): Promise<void> {
  await adminsAsBefore(stage);
  const treasury = await newAccount(stage);
  await changedAccount(stage);
  await rejection(stage);
  const newcomers = await newMembers(stage);
  const group = await newGroup(stage, newcomers);
  await policies(stage, treasury, group);
  await conflict(stage, group);
  await adminLeaves(stage, group);
  await membersLeave(stage, newcomers, group);
  await groupDeleted(stage, group);
  const money = await purse(stage, treasury);
  await pettyCash(stage, money);
  await twoDecide(stage, money);
  await contractCall(stage, money);
  await rulesRemoved(stage, money);
}
