import { randomUUID } from 'node:crypto';
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
    const answer = await this.connections[connection]?.sendAgain(request);
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

  async get(request: Buffer, connection = 0): Promise<string> {
    return this.send(request, 200, connection);
  }
}

interface ProposalShown {
  readonly id: string;
  readonly signingPayloads: { readonly approvePayload: string };
}
