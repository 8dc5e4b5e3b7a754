import { z } from 'zod';
import { memberType, registeredAt, walletKind } from '../contract/members';
import {
  address,
  idOf,
  itemsOf,
  nameInput,
  noDuplicates,
  responseOnly,
  timestamp,
} from '../contract/primitives';
import { findMembers, type Member, updateMembers } from '../db/members';
import { isSameAddress } from '../domain/address';
import { accept, type Outcome, refuse } from '../domain/refusal';
import { quoted } from '../domain/signing';
import { isSameWallet, type WalletKind, walletText } from '../domain/wallet';
import { defineOperation, type Notice } from './kind';
import {
  changeMembers,
  describeMember,
  unknownMember,
  walletInput,
  walletInUse,
  walletSubject,
  walletWarnings,
} from './members';
import { sentence } from './words';

const item = z
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

export const membersUpdateBody = z.strictObject({
  items: itemsOf(item)
    .check(noDuplicates(({ id }) => id, ['id']))
    .check(noDuplicates(({ walletAddress }) => walletAddress, ['walletAddress'])),
});

const data = z.object({
  items: z.array(z.object({ id: idOf('mem'), name: z.string(), walletAddress: address, walletKind })),
});

/** What changes about one member. */
interface Change {
  readonly name?: string;
  readonly walletAddress?: string;
  readonly walletKind?: WalletKind;
}

function describeChange(member: Member, { name, ...wallet }: Change): string {
  const after = { ...member, ...wallet };
  const changes = [
    ...(name === undefined ? [] : [`the name to ${quoted(name)}`]),
    ...(isSameAddress(member.walletAddress, after.walletAddress)
      ? []
      : [`the wallet to ${walletText(after)}`]),
    ...(member.walletKind === after.walletKind ? [] : [`the wallet kind to ${after.walletKind}`]),
  ];
  return `change ${changes.join(' and ')}`;
}

/** What an item changes about a member. Refuses another type, and an empty change. */
function planChange(
  member: Member,
  { name, walletAddress, walletKind: kind, type }: z.output<typeof item>,
  field: string,
): Outcome<Change> {
  if (type !== undefined && type !== member.type) {
    return refuse(
      'validationError',
      `the type of member ${member.id} is ${member.type} and cannot change`,
      `${field}.type`,
    );
  }
  const moves = walletAddress !== undefined && !isSameAddress(walletAddress, member.walletAddress);
  const change: Change = {
    ...(name === undefined || name === member.name ? {} : { name }),
    ...(moves ? { walletAddress } : {}),
    ...(kind === undefined || kind === member.walletKind ? {} : { walletKind: kind }),
  };
  if (Object.keys(change).length > 0) return accept(change);
  return refuse('validationError', `nothing about member ${member.id} would change`, field);
}

/** The notes about a wallet that changes: on what names its member, and on what names its new address. */
function walletNotices(before: Member, { walletAddress, walletKind: kind }: Change): Notice[] {
  const { id, name } = before;
  const changed: Notice = {
    subject: `member:${id}`,
    code: 'walletChanged',
    message: `the wallet of member ${quoted(name)} (${id}) changed from ${walletText(before)} to ${walletText(
      {
        walletAddress: walletAddress ?? before.walletAddress,
        walletKind: kind ?? before.walletKind,
      },
    )}`,
  };
  if (walletAddress === undefined) return kind === undefined ? [] : [changed];
  const taken: Notice = {
    subject: walletSubject(walletAddress),
    code: 'walletTaken',
    message: `${walletAddress} is now the wallet of member ${quoted(name)} (${id})`,
  };
  return [changed, taken];
}

/** New names or wallets for members. */
export const membersUpdate = defineOperation({
  resourceType: 'members',
  action: 'update',
  requests: [
    {
      id: 'proposeMembersUpdate',
      path: '/members/proposals/update',
      summary: 'Propose changes of members',
      description:
        'With a new wallet, or another kind of it, earlier signatures no longer count, and control must be proved again.',
      body: membersUpdateBody,
      exampleBody: {
        items: [
          {
            id: 'mem_01jz8k3v5fe5ht0n2m6w9r4xyz',
            name: 'Dave',
            walletAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
          },
        ],
      },
    },
  ],
  data,

  async observe(outside, { items }) {
    const stated = items.filter((item) => (item.walletAddress ?? item.walletKind) !== undefined);
    const members = await outside.findMembers(stated.map(({ id }) => id));
    const wallets = stated.flatMap((item) =>
      members.filter(({ id }) => id === item.id).map((member) => ({ ...member, ...item })),
    );
    return accept(await walletWarnings(outside, wallets));
  },

  async plan(context, { items }, notes) {
    const ids = items.map(({ id }) => id);
    const members = await findMembers(context.tx, context.organizationId, ids);
    const unknown = unknownMember(members, ids, (i) => `items[${i}].id`);
    if (unknown) return unknown;
    const taken = await walletInUse(context, items);
    if (taken) return taken;
    const planned: { member: Member; change: Change }[] = [];
    for (const [i, item] of items.entries()) {
      const member = members.find(({ id }) => id === item.id);
      if (!member) throw new Error(`member ${item.id} was found a moment ago`);
      const change = planChange(member, item, `items[${i}]`);
      if (!change.ok) return change;
      planned.push({ member, change: change.value });
    }
    const wallets = planned.flatMap(({ change: { walletAddress } }) =>
      walletAddress === undefined ? [] : walletSubject(walletAddress),
    );
    const subjects = [...ids.map((id) => `member:${id}`), ...wallets];
    return accept({
      data: {
        items: planned.map(({ member: { id, name, walletAddress, walletKind: kind }, change }) => ({
          id,
          name,
          walletAddress,
          walletKind: kind,
          ...change,
        })),
      },
      plan: { changes: planned.map(({ change }) => change) },
      summary: sentence(
        'Update',
        'member',
        planned.map(({ member, change }) => `${describeMember(member)}: ${describeChange(member, change)}`),
        '; ',
      ),
      claims: subjects,
      names: subjects,
      notes,
    });
  },

  async apply(context, { id: proposalId, data: { items }, plan: { changes } }) {
    const { tx, organizationId } = context;
    const members = await findMembers(
      tx,
      organizationId,
      items.map(({ id }) => id),
    );
    const updates: { before: Member; change: Change }[] = [];
    for (const [i, signed] of items.entries()) {
      const before = members.find(({ id }) => id === signed.id);
      const change = changes[i] ?? {};
      if (!before) {
        return refuse('conflict', `member ${describeMember(signed)} has left the organization`);
      }
      const after = { ...before, ...change };
      if (after.name !== signed.name || !isSameWallet(after, signed)) {
        return refuse(
          'conflict',
          `member ${signed.id} would be ${quoted(after.name)} with the wallet ${walletText(after)}, not ` +
            `${quoted(signed.name)} with the wallet ${walletText(signed)}`,
        );
      }
      updates.push({ before, change });
    }
    const taken = await walletInUse(
      context,
      updates.map(({ before, change }) => ({ id: before.id, ...change })),
    );
    if (taken) return taken;
    const changed = await changeMembers(tx, (savepoint) => updateMembers(savepoint, items));
    if (!changed.ok) return changed;
    return accept({
      resources: items.map(({ id }) => ({ type: 'member' as const, id, uri: `/api/v1/members/${id}` })),
      audit: updates.map(({ before, change }) => ({
        action: 'member.updated',
        resourceType: 'member',
        resourceId: before.id,
        details: {
          before: {
            ...(change.name === undefined ? {} : { name: before.name }),
            ...(change.walletAddress === undefined ? {} : { walletAddress: before.walletAddress }),
            ...(change.walletKind === undefined ? {} : { walletKind: before.walletKind }),
          },
          after: { ...change },
          proposalId,
        },
      })),
      notices: updates.flatMap(({ before, change }) => walletNotices(before, change)),
    });
  },
});
