import { ApiError, type OperationIntent, type Proposal, type Schema } from '@orgwallet/client';
import {
  carryOut,
  decided,
  expect,
  type Group,
  mustRefuse,
  printNote,
  propose,
  rejectIt,
  type Stage,
  vote,
} from '../stage';

function printAdmins({ print }: Stage, { members, threshold }: Schema['Admins']): void {
  print.line('admins', `${members.map(({ name }) => name).join(', ')}: ${threshold} must sign`);
}

async function queuedProposal({ client }: Stage): Promise<Proposal | undefined> {
  return client.getQueuedAdminProposal().catch((error) => {
    if (error instanceof ApiError && error.code === 'notFound') return undefined;
    throw error;
  });
}

/** Restores the admins of demo.json, if an earlier run was interrupted. */
export async function adminsAsBefore(stage: Stage): Promise<void> {
  const { client, demo, print } = stage;
  const now = await client.listAdmins();
  const wanted = new Set(demo.admins.members.map(({ id }) => id));
  const present = new Set(now.members.map(({ id }) => id));
  const updates = [
    ...[...wanted].filter((id) => !present.has(id)).map((id) => ({ action: 'addMember' as const, id })),
    ...[...present].filter((id) => !wanted.has(id)).map((id) => ({ action: 'removeMember' as const, id })),
  ];
  const { threshold } = demo.admins;
  if (updates.length === 0 && now.threshold === threshold) return;
  print.line('admins', 'are restored from demo.json');
  const queued = await queuedProposal(stage);
  if (queued) await rejectIt(stage, queued, 'left over from an earlier run');
  await carryOut(stage, { type: 'admins.update', updates, threshold });
  printAdmins(stage, await client.listAdmins());
}

/**
 * An admin is removed and added again while a proposal that she has signed is open. The current admins and the current
 * threshold count.
 */
export async function adminLeaves(stage: Stage, group: Group): Promise<void> {
  const { client, demo, print } = stage;
  print.chapter('An admin is removed while a proposal is open');
  const carol = demo.admins.members.find(({ name }) => name === 'Carol');
  expect(carol !== undefined, 'demo.json has no Carol among its admins');
  const items = [{ id: group.id, name: stage.named('Desk One') }];
  const open = await propose(stage, { type: 'groups.update', items });
  await vote(stage, open, 'approve', { by: ['Alice', 'Carol'] });
  print.line('', 'ready for execution, but not executed yet');

  const removal: OperationIntent = {
    type: 'admins.update',
    updates: [{ action: 'removeMember', id: carol.id }],
    threshold: 2,
  };
  const change = await propose(stage, removal);
  await mustRefuse(
    stage,
    'one queued',
    'conflict',
    client.proposeAdminsUpdate({ updates: [], threshold: 3 }),
  );
  await decided(
    stage,
    await vote(stage, change, 'approve', { by: ['Alice', 'Bob'], execute: true }),
    'completed',
  );
  printAdmins(stage, await client.listAdmins());

  const stale = await client.read(open);
  expect(stale.approvals.length === 1, `Carol's signature still counts on ${open.id}`);
  print.line(
    'meanwhile',
    `${open.id}: ${stale.approvals.length} of ${stale.threshold}, ${stale.signatureStatus}`,
  );
  printNote(stage, stale, 'adminRemoved');
  await mustRefuse(stage, 'execute', 'thresholdNotMet', client.execute(open, 'approve'));

  print.line('', 'Carol is an admin again, and the threshold is three');
  await carryOut(stage, {
    type: 'admins.update',
    updates: [{ action: 'addMember', id: carol.id }],
    threshold: 3,
  });
  const again = await client.read(open);
  print.line(
    'meanwhile',
    `${open.id}: ${again.approvals.length} of ${again.threshold}, ${again.signatureStatus}`,
  );
  printNote(stage, again, 'adminAdded');
  printNote(stage, again, 'thresholdChanged');
  await decided(stage, await vote(stage, open, 'approve', { by: ['Bob'], execute: true }), 'completed');
  const { name } = await client.getGroup(group.id);
  expect(name === stage.named('Desk One'), `${group.id} should have its new name`);
  print.line('group', `is now called ${name}`);
  await adminsAsBefore(stage);
}
