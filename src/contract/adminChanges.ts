import { z } from 'zod';
import { address, adminThreshold, idOf, memberSummary } from '../domain/schemas';
import { safeOnNetwork } from './adminContract';
import { membershipUpdate } from './memberContract';
import { responseOnly, uniqueList } from './primitives';

/** The body that proposes a change of the admins. */
export const adminsUpdateBody = z
  .strictObject({
    updates: uniqueList(membershipUpdate, ({ id }) => id, ['id']),
    threshold: adminThreshold,
    onChain: z
      .strictObject({
        enabled: z.boolean(),
        ...responseOnly({ safe: address, networks: z.array(safeOnNetwork) }),
      })
      .optional()
      .meta({
        id: 'AdminsOnChainChange',
        description:
          "Whether the admins' Safe is a module of each account, with the admins as its owners; as it is now, if absent.",
      }),
    ...responseOnly({ id: idOf('adm'), members: z.array(memberSummary) }),
  })
  .transform(({ updates, threshold, onChain }) => ({
    ...{ updates, threshold },
    ...(onChain === undefined ? {} : { onChain: onChain.enabled }),
  }));
