import { z } from 'zod';
import { address, idOf, timestamp } from '../domain/schemas';
import { accountNetworks } from './accountContract';
import { itemsOf, nameInput, networkIdsInput, noDuplicates, responseOnly } from './primitives';

const newAccount = z
  .strictObject({
    name: nameInput,
    networkIds: networkIdsInput,
    ...responseOnly({ address, networks: accountNetworks, createdAt: timestamp, updatedAt: timestamp }),
  })
  .meta({ id: 'AccountInput' })
  .transform(({ name, networkIds }) => ({ name, networkIds }));

/** The same account a second time; of equal names alone the state of the organization decides. */
const contentOf = ({ name, networkIds }: z.output<typeof newAccount>) =>
  JSON.stringify([name, [...networkIds].sort((one, two) => one - two)]);

/** The body that proposes new accounts. */
export const accountsCreateBody = z.strictObject({
  items: itemsOf(newAccount).check(noDuplicates(contentOf)),
});

const accountChange = z
  .strictObject({
    id: idOf('acc'),
    name: nameInput.optional(),
    networkIds: networkIdsInput.optional().meta({ description: 'Networks to add.' }),
    ...responseOnly({ address, networks: accountNetworks, createdAt: timestamp, updatedAt: timestamp }),
  })
  .refine((one) => one.name !== undefined || one.networkIds !== undefined, 'changes nothing')
  .meta({ id: 'AccountChange' })
  .transform(({ id, name, networkIds }) => ({
    id,
    ...(name === undefined ? {} : { name }),
    ...(networkIds === undefined ? {} : { networkIds }),
  }));

/** The body that proposes changes of accounts. */
export const accountsUpdateBody = z.strictObject({
  items: itemsOf(accountChange).check(noDuplicates(({ id }) => id, ['id'])),
});

/** What changes about one account. */
export type AccountChange = z.output<typeof accountChange>;
