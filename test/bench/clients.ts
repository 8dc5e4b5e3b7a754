import { randomUUID } from 'node:crypto';
import { type Client, WithStartWorkflowOperation } from '@temporalio/client';
import { bareLife, bareUpdate, bareWorkflow } from './bareWorkflow';
import { HttpsConnection, requestBytes } from './connection';
import { approval, type BenchOrganization } from './organization';
import type { BenchStack } from './stack';

/** The service as a client sees it. */
export class ServiceClient {
  private connections: readonly HttpsConnection[] = [];

  constructor(
    private readonly stack: BenchStack,
    private readonly organization: BenchOrganization,
  ) {}

  /** Opens connections and asks once on each; the service closes those that say nothing. */
  async connect(count: number): Promise<void> {
    this.close();
    const { httpsPort, ca } = this.stack;
    this.connections = await Promise.all(
      Array.from({ length: count }, () => HttpsConnection.open(httpsPort, ca)),
    );
    const request = requestBytes({ path: '/api/v1/networks', key: this.organization.key });
    await Promise.all(this.connections.map((_, connection) => this.send(request, 200, connection)));
  }

  close(): void {
    for (const connection of this.connections) connection.close();
  }

  private async send(request: Buffer, status: number, connection = 0): Promise<string> {
    const answer = await this.connections[connection]?.send(request);
    if (answer?.status !== status) throw new Error(`the service answered ${answer?.status}: ${answer?.body}`);
    return answer.body;
  }

  createRequest(): Buffer {
    return requestBytes({
      path: '/api/v1/accounts/proposals/create',
      key: this.organization.key,
      body: { items: [{ name: `Treasury ${randomUUID()}`, networkIds: [31_337, 31_338] }] },
    });
  }

  async create(connection = 0, request = this.createRequest()): Promise<ProposalShown> {
    return JSON.parse(await this.send(request, 201, connection)).data;
  }

  async signRequest(proposal: ProposalShown, wallet: number): Promise<Buffer> {
    const signer = this.organization.wallets[wallet];
    if (!signer) throw new Error(`there is no wallet ${wallet}`);
    const signature = await approval(signer, proposal.signingPayloads.approvePayload);
    return requestBytes({
      path: `/api/v1/accounts/proposals/${proposal.id}/signatures`,
      key: this.organization.key,
      body: { type: 'approve', signature },
    });
  }

  async sign(request: Buffer, connection = 0): Promise<void> {
    await this.send(request, 200, connection);
  }

  getRequest(proposal: ProposalShown): Buffer {
    return requestBytes({ path: `/api/v1/accounts/proposals/${proposal.id}`, key: this.organization.key });
  }
}

export interface ProposalShown {
  readonly id: string;
  readonly signingPayloads: { readonly approvePayload: string };
}

/** The bare workflow as a client sees it. */
export class BareClient {
  constructor(
    private readonly client: Client,
    private readonly taskQueue: string,
  ) {}

  async startWithUpdate(workflowId: string = randomUUID()): Promise<string> {
    await this.client.workflow.executeUpdateWithStart(bareUpdate, {
      updateId: randomUUID(),
      startWorkflowOperation: new WithStartWorkflowOperation(bareWorkflow, {
        workflowId,
        taskQueue: this.taskQueue,
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
      }),
    });
    return workflowId;
  }

  async update(workflowId: string): Promise<void> {
    await this.client.workflow.getHandle(workflowId).executeUpdate(bareUpdate, { updateId: randomUUID() });
  }

  /** The whole life of a workflow that ends when it has got so many updates. */
  async live(updates: number): Promise<void> {
    const workflowId = randomUUID();
    const start = new WithStartWorkflowOperation(bareLife, {
      workflowId,
      args: [updates],
      taskQueue: this.taskQueue,
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
    });
    await this.client.workflow.executeUpdateWithStart(bareUpdate, {
      updateId: randomUUID(),
      startWorkflowOperation: start,
    });
    for (let sent = 1; sent < updates; sent += 1) await this.update(workflowId);
    await this.client.workflow.getHandle(workflowId).result();
  }
}
