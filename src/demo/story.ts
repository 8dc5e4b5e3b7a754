import type { DemoFile } from '../dev/prepare';
import { rpc } from '../dev/rpc';
import {
  type Account,
  ApiError,
  type OrgwalletClient,
  type Proposal,
  signPayload,
  type VoteType,
  walletOf,
} from './client';
import type { Printer } from './printer';

/** Something is not as it should be; the demo ends here. */
export class NotAsExpected extends Error {
  override readonly name = 'NotAsExpected';
}

/** What the story needs: where it takes place, who acts, and how it is told. */
export interface Stage {
  readonly client: OrgwalletClient;
  readonly demo: DemoFile;
  readonly print: Printer;
  /** Where a proposal's workflow is in the Temporal UI; null when there is none. */
  linkOf(proposal: Proposal): string | null;
}

const DECISION_LIMIT_MS = 40_000;

function expect(condition: boolean, what: string): asserts condition {
  if (!condition) throw new NotAsExpected(what);
}

function show({ print, linkOf }: Stage, proposal: Proposal): void {
  print.line('proposed', proposal.summary);
  print.line('', `${proposal.id}, needs ${proposal.threshold} signatures`);
  const link = linkOf(proposal);
  if (link) print.link(link);
}

/** As many admins as it takes sign, people first. With `execute` the last signature carries the outcome out. */
async function vote(
  { client, demo, print }: Stage,
  proposal: Proposal,
  type: VoteType,
  more: { execute?: boolean; reason?: string } = {},
): Promise<Proposal> {
  const people = [...demo.admins.members].sort((one, two) => two.type.localeCompare(one.type));
  const signers = people.slice(0, proposal.threshold);
  expect(signers.length === proposal.threshold, `demo.json has fewer admins than the threshold asks for`);
  let current = proposal;
  for (const [index, admin] of signers.entries()) {
    const signature = await signPayload(walletOf(admin.privateKey), proposal, type);
    const last = index === signers.length - 1;
    current = await client.sign(proposal, type, signature, {
      ...(more.reason === undefined ? {} : { reason: more.reason }),
      execute: last && more.execute === true,
    });
    const votes = type === 'approve' ? current.approvals : current.rejections;
    expect(
      votes.some(({ id }) => id === admin.id),
      `${admin.name}'s signature is not among those of ${proposal.id}`,
    );
    const signed = type === 'approve' ? 'signed to approve' : 'signed to reject';
    print.line(
      admin.name,
      `${signed} (${votes.length} of ${proposal.threshold}): ${current.signatureStatus}`,
    );
  }
  return current;
}

async function decided(
  stage: Stage,
  proposal: Proposal,
  wanted: 'completed' | 'rejected',
): Promise<Proposal> {
  const done = await stage.client.untilDecided(proposal, DECISION_LIMIT_MS);
  const why = done.failure ? ` (${done.failure.code}: ${done.failure.message})` : '';
  expect(
    done.executionStatus === wanted,
    `proposal ${done.id} should be ${wanted} and is ${done.executionStatus ?? 'not executed'}${why}`,
  );
  return done;
}

async function codeAt(network: DemoFile['networks'][number], address: string): Promise<string> {
  return rpc<string>(network.rpcUrl, 'eth_getCode', [address, 'latest']);
}

/** Asks each chain itself, not the service, whether the account is there. */
async function checkOnChains(
  { demo, print }: Stage,
  account: Account,
  proposal: Proposal,
  networkIds: readonly number[],
): Promise<void> {
  print.line('account', `${account.name}: ${account.address}`);
  const codes = new Set<string>();
  for (const network of demo.networks.filter(({ id }) => networkIds.includes(id))) {
    const code = await codeAt(network, account.address);
    expect(code.length > 2, `there is no code at ${account.address} on ${network.name}`);
    expect(
      account.networks.some(({ id }) => id === network.id),
      `account ${account.id} does not name ${network.name}`,
    );
    codes.add(code);
    const hash = proposal.deployments?.find(({ networkId }) => networkId === network.id)?.transactionHash;
    const how = hash ? `deployed by ${hash}` : 'was there before';
    print.line('', `${network.name}: ${(code.length - 2) / 2} bytes of code; ${how}`);
  }
  expect(codes.size === 1, 'the code is not the same on each network');
}

async function accountOf({ client }: Stage, proposal: Proposal): Promise<Account> {
  const resource = proposal.result?.resources.find(({ type }) => type === 'account');
  expect(resource !== undefined, `proposal ${proposal.id} names no account as its result`);
  return client.getAccount(resource.id);
}

/** Nobody has signed yet: the service must refuse to execute. */
async function refusedTooEarly({ client, print }: Stage, proposal: Proposal): Promise<void> {
  const refusal = await client.execute(proposal, 'approve').then(
    () => undefined,
    (error: Error) => error,
  );
  if (refusal instanceof ApiError && refusal.code === 'thresholdNotMet') {
    print.line('too early', `execution refused: ${refusal.message}`);
    return;
  }
  throw refusal ?? new NotAsExpected(`${proposal.id} was executed without signatures`);
}

/** An account on every network: proposed, signed, executed, checked on the chains. */
export async function newAccount(stage: Stage): Promise<void> {
  const { client, demo, print } = stage;
  print.chapter('An account on every network');
  const networkIds = demo.networks.map(({ id }) => id);
  const proposal = await client.proposeAccounts([{ name: 'Treasury', networkIds }]);
  show(stage, proposal);
  await refusedTooEarly(stage, proposal);
  const signed = await vote(stage, proposal, 'approve');
  expect(signed.signatureStatus === 'approvalReady', `${proposal.id} should be ready for execution`);
  expect(signed.executionStatus === null, `${proposal.id} was executed before anybody asked for it`);
  const startedAt = Date.now();
  const done = await decided(stage, await client.execute(proposal, 'approve'), 'completed');
  print.line('executed', `completed in ${((Date.now() - startedAt) / 1_000).toFixed(1)} s`);
  const account = await accountOf(stage, done);
  await checkOnChains(stage, account, done, networkIds);
}

/** An account on the first network that is then added to the others, at the same address. */
export async function addNetworks(stage: Stage): Promise<void> {
  const { client, demo, print } = stage;
  const [first, ...others] = demo.networks;
  expect(first !== undefined && others.length > 0, 'demo.json has fewer than two networks');
  print.chapter(`An account on ${first.name}, then a network more`);
  const proposal = await client.proposeAccounts([{ name: 'Savings', networkIds: [first.id] }]);
  show(stage, proposal);
  const done = await decided(stage, await vote(stage, proposal, 'approve', { execute: true }), 'completed');
  const account = await accountOf(stage, done);
  await checkOnChains(stage, account, done, [first.id]);
  for (const network of others) {
    const code = await codeAt(network, account.address);
    expect(code === '0x', `there is code at ${account.address} on ${network.name} already`);
    print.line('', `${network.name}: nothing there yet`);
  }

  const added = others.map(({ id }) => id);
  const update = await client.proposeAccountChanges([{ id: account.id, networkIds: added }]);
  show(stage, update);
  const updated = await decided(stage, await vote(stage, update, 'approve', { execute: true }), 'completed');
  const after = await client.getAccount(account.id);
  expect(after.address === account.address, `the address of ${account.id} changed`);
  await checkOnChains(stage, after, updated, added);
}

/** A proposal that enough admins reject: nothing comes of it. */
export async function rejection(stage: Stage): Promise<void> {
  const { client, demo, print } = stage;
  print.chapter('A rejection');
  const before = await client.listAccounts();
  const networkIds = demo.networks.map(({ id }) => id);
  const proposal = await client.proposeAccounts([{ name: 'Slush Fund', networkIds }]);
  show(stage, proposal);
  const reason = 'nobody could say what it is for';
  const done = await decided(
    stage,
    await vote(stage, proposal, 'reject', { execute: true, reason }),
    'rejected',
  );
  expect(done.result?.resolution === 'rejected', `${proposal.id} has no result that says rejected`);
  expect(done.result.resources.length === 0, `${proposal.id} was rejected and changed something`);
  const known = new Set(before.map(({ id }) => id));
  const fresh = (await client.listAccounts()).filter(
    ({ id, name }) => !known.has(id) && name === 'Slush Fund',
  );
  expect(fresh.length === 0, 'the rejected account exists');
  print.line('rejected', `"${reason}"; no account was made`);
}
