import type { MemberSummary } from '../client';
import { carryOut, expect, mustRefuse, propose, rejectIt, resultIds, type Stage } from '../stage';
import { demoMember } from '../transactionSteps';

/** A named set of members. */
export interface Group {
  readonly id: string;
  readonly name: string;
  readonly members: readonly MemberSummary[];
}

function printGroup({ print }: Stage, { id, name, members }: Group): void {
  print.line('group', `${name} (${id}): ${members.map((member) => member.name).join(', ')}`);
}

/** Creates a group with the person, then adds the bot. */
export async function newGroup(
  stage: Stage,
  { erin, bot }: { readonly erin: { readonly id: string }; readonly bot: { readonly id: string } },
): Promise<Group> {
  const { client, demo, print } = stage;
  print.chapter('A group');
  const dave = demoMember(demo, 'Dave');
  const items = [{ name: stage.named('Traders'), memberIds: [dave.id, erin.id] }];
  const created = await carryOut(stage, '/groups/proposals/create', { items });
  const [id] = resultIds(created, 1);
  const memberUpdates = [
    { action: 'addMember', id: bot.id },
    { action: 'addMember', id: demoMember(demo, 'Alice').id },
  ];
  await carryOut(stage, '/groups/proposals/update', {
    items: [{ id, name: stage.named('Trading Desk'), memberUpdates }],
  });
  const group = await client.read<Group>(`/groups/${id}`);
  expect(
    group.name === stage.named('Trading Desk') && group.members.length === 4,
    `${id} should have changed`,
  );
  printGroup(stage, group);
  return group;
}

/** Two proposals about one group: the second is refused until the first is decided. */
export async function conflict(stage: Stage, group: Group): Promise<void> {
  const { client, demo, print } = stage;
  print.chapter('Two proposals about one group');
  const { id } = group;
  const bob = demoMember(demo, 'Bob');
  const first = await propose(stage, '/groups/proposals/update', {
    items: [{ id, memberUpdates: [{ action: 'removeMember', id: demoMember(demo, 'Dave').id }] }],
  });
  const second = { items: [{ id, memberUpdates: [{ action: 'addMember', id: bob.id }] }] };
  await mustRefuse(stage, 'conflict', 'conflict', client.post('/groups/proposals/update', second));
  await rejectIt(stage, first, 'Dave stays');
  await carryOut(stage, '/groups/proposals/update', second);
  printGroup(stage, await client.read<Group>(`/groups/${id}`));
}

/** Deletes the group. */
export async function groupDeleted(stage: Stage, { id }: Group): Promise<void> {
  const { client, print } = stage;
  print.chapter('The group is deleted');
  await carryOut(stage, '/groups/proposals/delete', { items: [{ id }] });
  await mustRefuse(stage, 'gone', 'notFound', client.read(`/groups/${id}`));
}
