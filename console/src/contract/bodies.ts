import './jitless.ts';
import type { OperationIntent } from '@orgwallet/client';
import type { z } from 'zod';
import { accountsCreateBody, accountsUpdateBody } from '../../../src/contract/accountChanges.ts';
import { adminsUpdateBody } from '../../../src/contract/adminChanges.ts';
import { groupsCreateBody, groupsDeleteBody, groupsUpdateBody } from '../../../src/contract/groupChanges.ts';
import {
  membersCreateBody,
  membersRemoveBody,
  membersUpdateBody,
} from '../../../src/contract/memberChanges.ts';
import type { Faults } from '../domain/faults.ts';
import { faultsIn } from './faultsIn.ts';

/** What the service reads of each kind of proposal. Policies are apart: their schema knows the functions of the standards. */
const BODIES: { readonly [Type in OperationIntent['type']]?: z.ZodType } = {
  'accounts.create': accountsCreateBody,
  'accounts.update': accountsUpdateBody,
  'admins.update': adminsUpdateBody,
  'groups.create': groupsCreateBody,
  'groups.update': groupsUpdateBody,
  'groups.delete': groupsDeleteBody,
  'members.create': membersCreateBody,
  'members.update': membersUpdateBody,
  'members.remove': membersRemoveBody,
};

/** What the service would refuse of a proposal before it looks at its state, by the paths that it names. */
export function faultsOfIntent({ type, ...body }: OperationIntent): Faults {
  const schema = BODIES[type];
  return schema ? faultsIn(schema, body) : {};
}
