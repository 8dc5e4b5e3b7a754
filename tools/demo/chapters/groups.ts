import type { OperationIntent } from '@orgwallet/client';
import { carryOut, expect, type Group, mustRefuse, propose, rejectIt, resultIds, type Stage } from '../stage';
import { demoMember } from '../transactionSteps';

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
  const created = await carryOut(stage, { type: 'groups.create', items });
  const [id = ''] = resultIds(created, 1);
  const memberUpdates = [
    { action: 'addMember' as const, id: bot.id },
    { action: 'addMember' as const, id: demoMember(demo, 'Alice').id },
  ];
  await carryOut(stage, {
    type: 'groups.update',
    items: [{ id, name: stage.named('Trading Desk'), memberUpdates }],
  });
  const group = await client.getGroup(id);
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
  const first = await propose(stage, {
    type: 'groups.update',
    items: [{ id, memberUpdates: [{ action: 'removeMember', id: demoMember(demo, 'Dave').id }] }],
  });
  const second: OperationIntent = {
    type: 'groups.update',
    items: [{ id, memberUpdates: [{ action: 'addMember', id: bob.id }] }],
  };
  await mustRefuse(stage, 'conflict', 'conflict', client.propose(second));
  await rejectIt(stage, first, 'Dave stays');
  await carryOut(stage, second);
  printGroup(stage, await client.getGroup(id));
}

/** Deletes the group. */
export async function groupDeleted(stage: Stage, { id }: Group): Promise<void> {
  const { client, print } = stage;
  print.chapter('The group is deleted');
  await carryOut(stage, { type: 'groups.delete', items: [{ id }] });
  await mustRefuse(stage, 'gone', 'notFound', client.getGroup(id));
}
