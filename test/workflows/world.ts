import { randomUUID } from 'node:crypto';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { deriveAccount } from '../../src/chain/safeAccount';
import { verifyAudit } from '../../src/db/audit';
import type { Db } from '../../src/db/database';
import { newId } from '../../src/db/ids';
import type { VoteType } from '../../src/domain/approval';
import type { ProposalState } from '../../src/domain/proposal';
import { approvalWorkflowId } from '../../src/temporal/ids';
import { approvalMessages, type MessageResult, type SignMessage } from '../../src/temporal/messages';
import { PROPOSE, proposalPath, read, type Shown, UPDATE } from '../support/api';
import { decided } from '../support/decisions';
import {
  type ServiceOptions,
  sharedService,
  signPayload,
  startTestService,
  type TestMember,
  type TestOrganization,
  type TestService,
} from '../support/service';
import { endpointOf, rpc } from '../support/stack';
import { until } from '../support/until';

/** A running service, and a client that reaches Temporal past the API. */
export interface World extends TestService {
  readonly temporal: Client;
}

/** The service that test files share, or one of its own where it needs other settings. */
export async function startWorld(options?: ServiceOptions): Promise<World> {
  const service = options ? await startTestService(options) : await sharedService();
  const { address, namespace } = service.config.temporal;
  const connection = await Connection.connect({ address });
  return {
    ...service,
    temporal: new Client({ connection, namespace }),
    async stop() {
      await connection.close();
      await service.stop();
    },
  };
}

/** What a pass of the reconciler finds where there is nothing. */
export const NOTHING_FOUND = {
  ...{ open: 0, running: 0, compared: 0, restarted: 0, closed: 0 },
  ...{ refreshed: 0, noted: 0, postponed: 0, failed: 0, repairs: [] },
};

/** The messages of a proposal's workflow. */
export const messages = approvalMessages<ProposalState>();

let made = 0;

/** Proposes a new account. */
export async function proposeAccount(
  world: TestService,
  org: TestOrganization,
  networkIds: readonly number[] = [31337],
): Promise<Shown> {
  made += 1;
  return proposeWith(world, org, PROPOSE, { name: `Account ${made}`, networkIds });
}

/** Proposes another name for an account: a change that needs no chain. */
export async function proposeName(
  world: TestService,
  org: TestOrganization,
  accountId: string,
  name: string,
): Promise<Shown> {
  return proposeWith(world, org, UPDATE, { id: accountId, name });
}

async function proposeWith(world: TestService, org: TestOrganization, path: string, item: object) {
  const answer = await world.http.send({ key: org.adminKey, path, body: { items: [item] } });
  if (answer.status !== 201) throw new Error(`proposing → ${answer.status} ${answer.text}`);
  return answer.body.data;
}

/** Stores an account that stands on no chain, for proposals that only change its name. */
export async function storeAccount(db: Db, org: TestOrganization, given?: string): Promise<string> {
  const id = newId('acc');
  const name = given ?? `Stored ${id}`;
  const { address } = deriveAccount((await decided(db, org)).signingKey, id);
  await org.decide([{ type: 'account', id, after: { id, name, address, networkIds: [31337] } }]);
  await db('account_networks').insert({ account_id: id, network_id: 31337 });
  return id;
}

/** The workflow of a proposal. */
export function workflowOf(world: World, org: TestOrganization, proposal: Shown): WorkflowHandle {
  return world.temporal.workflow.getHandle(
    approvalWorkflowId({
      subject: 'proposal',
      organizationId: org.id,
      resourceType: proposal.resourceType,
      id: proposal.id,
    }),
  );
}

/** How many local activities a workflow has finished. */
export async function activitiesOf(handle: WorkflowHandle): Promise<number> {
  const { events } = await handle.fetchHistory();
  return (events ?? []).filter((event) => event.markerRecordedEventAttributes?.markerName).length;
}

/** A member's vote as a message to the workflow. */
export async function voteOf(
  member: TestMember,
  proposal: Shown,
  type: VoteType = 'approve',
): Promise<SignMessage> {
  return { type, signature: await signPayload(member, proposal.signingPayloads[`${type}Payload`]) };
}

/** Sends a vote straight to the workflow. */
export async function vote(
  world: World,
  org: TestOrganization,
  proposal: Shown,
  member: TestMember,
  type: VoteType = 'approve',
  more: { execute?: boolean; updateId?: string } = {},
): Promise<MessageResult<ProposalState>> {
  const { updateId = randomUUID(), ...rest } = more;
  const message = { ...(await voteOf(member, proposal, type)), ...rest };
  return workflowOf(world, org, proposal).executeUpdate(messages.sign, { updateId, args: [message] });
}

/** The proposal as the API shows it. */
export function show(world: TestService, org: TestOrganization, proposal: Shown): Promise<Shown> {
  return read(world.http, org.readKey, proposalPath(proposal.id, '', proposal.resourceType));
}

/** Waits until the API shows the proposal in that execution status. */
export function untilStatus(
  world: TestService,
  org: TestOrganization,
  proposal: Shown,
  status: string,
): Promise<Shown> {
  return until(`proposal ${proposal.id} is ${status}`, async () => {
    const shown = await show(world, org, proposal);
    return shown.executionStatus === status && shown;
  });
}

/** Waits until the workflow has ended, and returns its result. */
export async function ended(
  world: World,
  org: TestOrganization,
  proposal: Shown,
): Promise<ProposalState | null> {
  const handle = workflowOf(world, org, proposal);
  await until(`${handle.workflowId} has ended`, async () => {
    const { status } = await handle.describe();
    return status.name !== 'RUNNING';
  });
  return handle.result();
}

/** The actions of the audit entries about a proposal, in their order. */
export async function auditOf(db: Db, proposal: { id: string }): Promise<string[]> {
  return db('audit_log').where({ resource_id: proposal.id }).orderBy('position').pluck('action');
}

/** Fails unless an organization's audit chain holds. */
export async function expectSoundAudit(db: Db, org: TestOrganization): Promise<void> {
  expect(await verifyAudit(db, org.id)).toMatchObject({ ok: true });
}

/** Sets what the service's relayer has on a network, in wei; answers its address. */
export async function setRelayerBalance(world: TestService, networkId: number, wei: bigint): Promise<string> {
  const network = world.config.networks.find(({ id }) => id === networkId);
  const relayer = await world
    .db('relayers')
    .where({ network_id: BigInt(networkId) })
    .first('address');
  if (!network || !relayer) throw new Error(`there is no relayer on ${networkId}`);
  await rpc(endpointOf(network), 'anvil_setBalance', [relayer.address, `0x${wei.toString(16)}`]);
  return relayer.address;
}
