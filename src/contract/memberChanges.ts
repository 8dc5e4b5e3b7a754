import { z } from 'zod';
import { checksumAddress } from '../chain/address';
import { idOf, memberType, timestamp, walletKind } from '../domain/schemas';
import { registeredAt } from './memberContract';
import { itemsOf, nameInput, noDuplicates, nonzeroAddressInput, responseOnly } from './primitives';

/** The wallet of a member in a request, read with its checksum (EIP-55). */
const walletInput = nonzeroAddressInput.transform(checksumAddress);

const newMember = z
  .strictObject({
    name: nameInput,
    walletAddress: walletInput,
    type: memberType.default('api'),
    walletKind: walletKind.default('key'),
    ...responseOnly({ registeredAt, createdAt: timestamp, updatedAt: timestamp }),
  })
  .meta({ id: 'MemberInput' })
  .transform(({ name, walletAddress, type, walletKind: kind }) => ({
    name,
    walletAddress,
    type,
    walletKind: kind,
  }));

/** The body that proposes new members. */
export const membersCreateBody = z.strictObject({
  items: itemsOf(newMember).check(noDuplicates(({ walletAddress }) => walletAddress, ['walletAddress'])),
});

const memberChange = z
  .strictObject({
    id: idOf('mem'),
    name: nameInput.optional(),
    walletAddress: walletInput.optional(),
    walletKind: walletKind.optional(),
    type: memberType.optional().meta({ description: 'Cannot change.' }),
    ...responseOnly({ registeredAt, createdAt: timestamp, updatedAt: timestamp }),
  })
  .meta({ id: 'MemberChange' })
  .transform(({ id, name, walletAddress, walletKind: kind, type }) => ({
    id,
    ...(name === undefined ? {} : { name }),
    ...(walletAddress === undefined ? {} : { walletAddress }),
    ...(kind === undefined ? {} : { walletKind: kind }),
    ...(type === undefined ? {} : { type }),
  }));

/** The body that proposes changes of members. */
export const membersUpdateBody = z.strictObject({
  items: itemsOf(memberChange)
    .check(noDuplicates(({ id }) => id, ['id']))
    .check(noDuplicates(({ walletAddress }) => walletAddress, ['walletAddress'])),
});

/** What changes about one member. */
export type MemberChange = z.output<typeof memberChange>;

/** The body that proposes the removal of members. */
export const membersRemoveBody = z.strictObject({
  ids: itemsOf(idOf('mem')).check(noDuplicates((id) => id)),
});
