import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Address, createPublicClient, type Hex, http } from 'viem';
import { projectRoot } from '../dev/parts';
import type { DemoFile } from '../dev/prepare';
import { proposalWorkflowId } from '../temporal/ids';
import { ApiError, type Client, createClient, signPayload } from './client';

/** The parts of a proposal that the demo reads. */
interface Proposal {
  readonly id: string;
  readonly resourceType: 'accounts';
  readonly signatureStatus: string;
  readonly executionStatus: string | null;
  readonly threshold: number;
  readonly approvals: readonly { readonly name: string }[];
  readonly rejections: readonly { readonly name: string }[];
  readonly summary: string;
  readonly signingPayloads?: { readonly approvePayload: string; readonly rejectPayload: string };
  readonly result?: { readonly resources: readonly { readonly id: string }[] };
  readonly failure?: { readonly message: string };
}

interface Account {
  readonly id: string;
  readonly name: string;
  readonly address: Address;
  readonly networks: readonly { readonly id: number; readonly name: string }[];
}

const EXECUTION_LIMIT_MS = 45_000;
const begunAt = Date.now();

function say(line = ''): void {
  process.stdout.write(`${line}\n`);
}

function step(title: string): void {
  say();
  say(`▸ ${title}  (${((Date.now() - begunAt) / 1_000).toFixed(1)} s)`);
}

function demand(condition: boolean, what: string): void {
  if (!condition) throw new Error(`not as expected: ${what}`);
}

function readDemoFile(): DemoFile {
  const file = join(resolve(projectRoot(), process.env.ORGWALLET_DATA_DIR || '.data'), 'demo.json');
  if (!existsSync(file)) throw new Error(`${file} is not there: run npm start first, in another terminal`);
  return JSON.parse(readFileSync(file, 'utf8'));
}

async function play(demo: DemoFile, api: Client): Promise<void> {
  const [alice, bob] = demo.admins.members;
  const [one, two] = demo.networks;
  if (!alice || !bob || !one || !two) throw new Error('demo.json has too few admins or networks');

  const link = ({ id, resourceType }: Proposal) => {
    const workflowId = proposalWorkflowId(demo.organizationId, resourceType, id);
    return `${demo.temporalUiUrl}/namespaces/default/workflows/${encodeURIComponent(workflowId)}`;
  };
  const tell = (proposal: Proposal) => {
    const { approvals, rejections, threshold, signatureStatus, executionStatus } = proposal;
    say(`  ${proposal.id}: ${signatureStatus}, execution ${executionStatus ?? 'not begun'}`);
    say(`  ${approvals.length} approvals and ${rejections.length} rejections of ${threshold} needed`);
    if (demo.temporalUiUrl) say(`  ${link(proposal)}`);
  };

  const propose = async (operation: 'create' | 'update', items: unknown[]) => {
    const proposal = await api.post<Proposal>(`/accounts/proposals/${operation}`, { items });
    say(`  asked: ${proposal.summary}`);
    tell(proposal);
    return proposal;
  };
  const sign = async (proposal: Proposal, admin: typeof alice, type: 'approve' | 'reject') => {
    const payload = proposal.signingPayloads?.[`${type}Payload`] ?? '';
    const signature = await signPayload(admin.privateKey as Hex, payload);
    const signed = await api.post<Proposal>(`/accounts/proposals/${proposal.id}/signatures`, {
      type,
      signature,
    });
    say(`  ${admin.name} has signed to ${type}`);
    tell(signed);
    return signed;
  };
  const execute = async (proposal: Proposal, type: 'approve' | 'reject') => {
    let current = await api.post<Proposal>(`/accounts/proposals/${proposal.id}/execute`, { type });
    for (
      const end = Date.now() + EXECUTION_LIMIT_MS;
      current.executionStatus === 'processing';
      await sleep(500)
    ) {
      if (Date.now() > end) throw new Error(`${proposal.id} is still being executed`);
      current = await api.get<Proposal>(`/accounts/proposals/${proposal.id}`);
    }
    tell(current);
    const wanted = type === 'approve' ? 'completed' : 'rejected';
    demand(
      current.executionStatus === wanted,
      `${current.executionStatus}: ${current.failure?.message ?? ''}`,
    );
    return current;
  };
  const checkCode = async (account: Account, networks: readonly (typeof one)[]) => {
    for (const network of networks) {
      const client = createPublicClient({ transport: http(network.rpcUrl) });
      const code = await client.getCode({ address: account.address });
      demand(
        code !== undefined && code !== '0x',
        `there is no code at ${account.address} on ${network.name}`,
      );
      say(
        `  ${network.name} (${network.id}): ${((code ?? '0x').length - 2) / 2} bytes of code at ${account.address}`,
      );
    }
  };
  const accountOf = (proposal: Proposal) =>
    api.get<Account>(`/accounts/${proposal.result?.resources[0]?.id}`);

  step(`A shared wallet on ${one.name} and ${two.name}`);
  const treasury = await propose('create', [{ name: 'Treasury', networkIds: [one.id, two.id] }]);

  step('Too early: one approval is not enough');
  await sign(treasury, alice, 'approve');
  try {
    await execute(treasury, 'approve');
    throw new Error('not as expected: it was executed below its threshold');
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'thresholdNotMet') throw error;
    say(`  refused: ${error.message}`);
  }

  step('The second approval, and the execution');
  await sign(treasury, bob, 'approve');
  const account = await accountOf(await execute(treasury, 'approve'));

  step('One address on both chains');
  await checkCode(account, [one, two]);
  for (const { networkId, asset, displayAmount } of await api.get<
    { networkId: number; asset: { symbol: string }; displayAmount: string | null }[]
  >(`/accounts/${account.id}/balances`)) {
    say(`  network ${networkId}: ${displayAmount ?? 'unavailable'} ${asset.symbol}`);
  }

  step(`A second wallet, on ${one.name} alone`);
  const created = await propose('create', [{ name: 'Payroll', networkIds: [one.id] }]);
  await sign(created, alice, 'approve');
  await sign(created, bob, 'approve');
  const payroll = await accountOf(await execute(created, 'approve'));

  step(`An update: ${payroll.name} gets ${two.name} as well`);
  const update = await propose('update', [{ id: payroll.id, networkIds: [two.id] }]);
  await sign(update, alice, 'approve');
  await sign(update, bob, 'approve');
  await execute(update, 'approve');
  await checkCode(await api.get<Account>(`/accounts/${payroll.id}`), [one, two]);

  step('A proposal that two admins reject');
  const unwanted = await propose('update', [{ id: payroll.id, name: 'Slush Fund' }]);
  await sign(unwanted, alice, 'reject');
  await sign(unwanted, bob, 'reject');
  await execute(unwanted, 'reject');
  demand((await api.get<Account>(`/accounts/${payroll.id}`)).name === 'Payroll', 'the account was renamed');
  say('  the account keeps its name');

  step('Done');
  say('  Look at the whole story: npx orgwallet proposals list, npx orgwallet audit verify');
  if (demo.temporalUiUrl) say(`  and in the Temporal UI: ${demo.temporalUiUrl}`);
}

const demo = readDemoFile();
const [apiKey] = demo.apiKeys;
play(demo, createClient({ baseUrl: demo.baseUrl, apiKey: apiKey?.key ?? '', caFile: demo.caFile })).then(
  () => process.exit(0),
  (error) => {
    process.stderr.write(`\nThe demo failed: ${(error as Error).message}\n`);
    process.exit(1);
  },
);
