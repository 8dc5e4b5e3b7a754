import { z } from 'zod';
import { idOf, memberSummary, timestamp } from '../domain/schemas';
import { membershipUpdate } from './memberContract';
import { itemsOf, nameInput, noDuplicates, responseOnly, uniqueList } from './primitives';

const newGroup = z
  .strictObject({
    name: nameInput,
    memberIds: uniqueList(idOf('mem'), (id) => id),
    ...responseOnly({ members: z.array(memberSummary), createdAt: timestamp, updatedAt: timestamp }),
  })
  .meta({ id: 'GroupInput' })
  .transform(({ name, memberIds }) => ({ name, memberIds }));

/** The same group a second time; of equal names alone the state of the organization decides. */
const contentOf = ({ name, memberIds }: z.output<typeof newGroup>) =>
  JSON.stringify([name, [...memberIds].sort()]);

/** The body that proposes new groups. */
export const groupsCreateBody = z.strictObject({ items: itemsOf(newGroup).check(noDuplicates(contentOf)) });

const groupChange = z
  .strictObject({
    id: idOf('grp'),
    name: nameInput.optional(),
    memberUpdates: uniqueList(membershipUpdate, ({ id }) => id, ['id']).optional(),
    ...responseOnly({ members: z.array(memberSummary), createdAt: timestamp, updatedAt: timestamp }),
  })
  .meta({ id: 'GroupChange' })
  .transform(({ id, name, memberUpdates }) => ({
    id,
    ...(name === undefined ? {} : { name }),
    ...(memberUpdates === undefined ? {} : { memberUpdates }),
  }));

/** The body that proposes changes of groups. */
export const groupsUpdateBody = z.strictObject({
  items: itemsOf(groupChange).check(noDuplicates(({ id }) => id, ['id'])),
});

/** What changes about one group. */
export type GroupChange = z.output<typeof groupChange>;

const groupToDelete = z
  .strictObject({
    id: idOf('grp'),
    ...responseOnly({
      name: z.string(),
      members: z.array(memberSummary),
      createdAt: timestamp,
      updatedAt: timestamp,
    }),
  })
  .meta({ id: 'GroupToDelete' })
  .transform(({ id }) => ({ id }));

/** The body that proposes the deletion of groups. */
export const groupsDeleteBody = z.strictObject({
  items: itemsOf(groupToDelete).check(noDuplicates(({ id }) => id, ['id'])),
});
