import { z } from 'zod';
import { adminThreshold, idOf, memberSummary } from '../domain/schemas';
import { membershipUpdate } from './memberContract';
import { responseOnly, uniqueList } from './primitives';

/** The body that proposes a change of the admins. */
export const adminsUpdateBody = z
  .strictObject({
    updates: uniqueList(membershipUpdate, ({ id }) => id, ['id']),
    threshold: adminThreshold,
    ...responseOnly({ id: idOf('adm'), members: z.array(memberSummary) }),
  })
  .transform(({ updates, threshold }) => ({ updates, threshold }));
