import { Client as PostgresClient } from 'pg';
import { copyRow } from './copyRow';
import { type Comparison, compare } from './figures';
import { inTurn, timed } from './measure';
import { type BenchOrganization, makeOrganization } from './organization';
import { PaymentsClient } from './paymentsClient';
import { ServiceClient } from './serviceClient';
import type { BenchStack } from './stack';

const PAGES = { warmUp: 20, counted: 100 };
const MESSAGES = { warmUp: 10, counted: 60 };
const SIGNERS = 51;
const LATE_SIGNATURE = 49;
const SIGNED_PROPOSALS = 12;
const POLICIES_AT_ONCE = 90;

/** How much an organization has. */
interface Size {
  readonly transactions: number;
  readonly openProposals: number;
  readonly policies: number;
}

const SMALL: Size = { transactions: 1_000, openProposals: 100, policies: 10 };
const LARGE: Size = { transactions: 1_000_000, openProposals: 10_000, policies: 1_000 };

/** An organization, with as many records as its size says: copies of what it has done. */
class Grown {
  private constructor(
    readonly organization: BenchOrganization,
    readonly payments: PaymentsClient,
    readonly service: ServiceClient,
  ) {}

  static async start(stack: BenchStack, size: Size): Promise<Grown> {
    const organization = await makeOrganization(stack);
    const payments = await PaymentsClient.start(stack, organization);
    const service = new ServiceClient(stack, organization);
    await service.connect(1);
    const grown = new Grown(organization, payments, service);
    const transaction = await payments.create();
    await payments.execute(await payments.executeRequest(transaction));
    const proposal = await service.create();
    for (let added = 1; added < size.policies; added += POLICIES_AT_ONCE)
      await payments.addPolicies(Math.min(POLICIES_AT_ONCE, size.policies - added));
    const copies = {
      transactionId: transaction.id,
      proposalId: proposal.id,
      organizationId: organization.id,
    };
    const postgres = new PostgresClient({ connectionString: stack.superuserUrl });
    await postgres.connect();
    try {
      // Copies have no workflows, no other rows, and a chain of hashes that does not verify: none of it is read here.
      await postgres.query("SET session_replication_role = 'replica'");
      await grown.copy(postgres, size, copies);
      await postgres.query('VACUUM ANALYZE approvals, proposals, transactions, audit_log');
    } finally {
      await postgres.end();
    }
    return grown;
  }

  private async copy(
    postgres: PostgresClient,
    size: Size,
    ids: { readonly transactionId: string; readonly proposalId: string; readonly organizationId: string },
  ): Promise<void> {
    const { transactionId, proposalId, organizationId } = ids;
    const idFrom = (id: string) => `'${id.slice(0, -8)}' || lpad(n::text, 8, '0')`;
    const ofTransaction = { where: `id = '${transactionId}'`, count: size.transactions };
    const ofProposal = { where: `id = '${proposalId}'`, count: size.openProposals };
    for (const [row, id, tables] of [
      [ofTransaction, transactionId, ['approvals', 'transactions']],
      [ofProposal, proposalId, ['approvals', 'proposals']],
    ] as const) {
      for (const table of tables) {
        const changes = { id: idFrom(id), position: 'original.position + n' };
        await copyRow(postgres, table, { ...row, changes });
      }
    }
    await copyRow(postgres, 'audit_log', {
      where: `organization_id = '${organizationId}' AND position = 1`,
      count: size.transactions,
      changes: { id: 'original.id || n', position: 'n + 10000' },
    });
    await postgres.query(
      'UPDATE audit_heads SET position = (SELECT max(position) FROM audit_log WHERE organization_id = $1) WHERE organization_id = $1',
      [organizationId],
    );
  }

  /** Connects again: the service closes connections that say nothing for a while. */
  async connect(): Promise<void> {
    await this.payments.connect(1);
    await this.service.connect(1);
  }

  close(): void {
    this.payments.close();
    this.service.close();
  }
}

async function compareGrown(
  small: Grown,
  large: Grown,
  { what, atMost, rounds }: { readonly what: string; readonly atMost: number; readonly rounds: typeof PAGES },
  work: (of: Grown, round: number) => Promise<unknown>,
): Promise<Comparison> {
  for (const one of [small, large]) await one.connect();
  const taken = await inTurn(
    { large: (round) => work(large, round), small: (round) => work(small, round) },
    rounds,
  );
  return compare(what, 'ms', { product: taken.large, base: taken.small }, { aim: { atMost } });
}

async function prepareSignatures(of: Grown, count: number): Promise<Buffer[]> {
  await of.connect();
  const requests: Buffer[] = [];
  while (requests.length < count) {
    const proposal = await of.service.create();
    requests.push(await of.service.signRequest(proposal, 0));
  }
  return requests;
}

/** The 50th signature of a proposal beside its third. */
async function measureLateSignature(stack: BenchStack): Promise<Comparison> {
  const organization = await makeOrganization(stack, { admins: SIGNERS, threshold: SIGNERS });
  const service = new ServiceClient(stack, organization);
  await service.connect(1);
  const third: number[] = [];
  const late: number[] = [];
  for (let signed = 0; signed < SIGNED_PROPOSALS; signed += 1) {
    const proposal = await service.create();
    for (let wallet = 0; wallet <= LATE_SIGNATURE; wallet += 1) {
      const request = await service.signRequest(proposal, wallet);
      const ms = await timed(() => service.sign(request));
      // The first two warm up what the organization has of its own.
      if (wallet === 2) third.push(ms);
      if (wallet === LATE_SIGNATURE) late.push(ms);
    }
  }
  service.close();
  return compare('50th signature / third', 'ms', { product: late, base: third }, { aim: { atMost: 1.3 } });
}

/** What many records cost, beside few. */
export async function measureGrowth(stack: BenchStack): Promise<Comparison[]> {
  const small = await Grown.start(stack, SMALL);
  const large = await Grown.start(stack, LARGE);
  try {
    const total = MESSAGES.warmUp + MESSAGES.counted;
    const signatures = new Map([
      [small, await prepareSignatures(small, total)],
      [large, await prepareSignatures(large, total)],
    ]);
    const page = (path: string) => (of: Grown) => of.payments.get(path);
    const pages = (what: string, path: string) =>
      compareGrown(small, large, { what: `${what} / among 1,000`, atMost: 1.2, rounds: PAGES }, page(path));
    return [
      await pages('a page of transactions among 1,000,000', '/api/v1/transactions?limit=50'),
      await pages('a page of the audit log among 1,000,000', '/api/v1/audit-logs?limit=50'),
      await compareGrown(
        small,
        large,
        { what: 'sign with 10,000 open proposals / 100', atMost: 1.1, rounds: MESSAGES },
        (of, round) => of.service.sign(signatures.get(of)?.[round] as Buffer),
      ),
      await compareGrown(
        small,
        large,
        { what: 'create a transaction among 1,000 policies / 10', atMost: 1.5, rounds: MESSAGES },
        (of) => of.payments.create(),
      ),
      await measureLateSignature(stack),
    ];
  } finally {
    small.close();
    large.close();
  }
}
