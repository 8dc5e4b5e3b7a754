import type { Proposal } from '@orgwallet/client';
import type { DemoFile } from '../../dev/prepare';
import { rpc } from '../../dev/rpc';
import {
  type Account,
  carryOut,
  decided,
  expect,
  mustRefuse,
  propose,
  rejectIt,
  resultIds,
  type Stage,
  vote,
} from '../stage';

async function codeAt(network: DemoFile['networks'][number], address: string): Promise<string> {
  return rpc<string>(network.rpcUrl, 'eth_getCode', [address, 'latest']);
}

/** Checks the account on each chain directly, not through the service. */
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
    const how = hash ? `deployed by ${hash}` : 'already deployed';
    print.line('', `${network.name}: ${(code.length - 2) / 2} bytes of code; ${how}`);
  }
  expect(codes.size === 1, 'the code is not the same on each network');
}

async function accountOf({ client }: Stage, proposal: Proposal): Promise<Account> {
  const [id = ''] = resultIds(proposal, 1);
  return client.getAccount(id);
}

/** An account on every network: proposed, signed, executed, checked on the chains. */
export async function newAccount(stage: Stage): Promise<Account> {
  const { client, demo, print } = stage;
  print.chapter('An account on every network');
  const networkIds = demo.networks.map(({ id }) => id);
  const items = [{ name: stage.named('Treasury'), networkIds }];
  const proposal = await propose(stage, { type: 'accounts.create', items });
  await mustRefuse(stage, 'too early', 'thresholdNotMet', client.execute(proposal, 'approve'));
  const signed = await vote(stage, proposal, 'approve');
  expect(signed.signatureStatus === 'approvalReady', `${proposal.id} should be ready for execution`);
  expect(signed.executionStatus === null, `${proposal.id} was executed before it was requested`);
  const startedAt = Date.now();
  const done = await decided(stage, await client.execute(proposal, 'approve'), 'completed');
  print.line('', `after ${((Date.now() - startedAt) / 1_000).toFixed(1)} s`);
  const account = await accountOf(stage, done);
  await checkOnChains(stage, account, done, networkIds);
  return account;
}

/** Creates an account on the first network, then renames it and adds the other networks, at the same address. */
export async function changedAccount(stage: Stage): Promise<void> {
  const { client, demo, print } = stage;
  const [first, ...others] = demo.networks;
  expect(first !== undefined && others.length > 0, 'demo.json has fewer than two networks');
  print.chapter(`An account on ${first.name}, then renamed and added to another network`);
  const items = [{ name: stage.named('Savings'), networkIds: [first.id] }];
  const done = await carryOut(stage, { type: 'accounts.create', items });
  const account = await accountOf(stage, done);
  await checkOnChains(stage, account, done, [first.id]);
  for (const network of others) {
    const code = await codeAt(network, account.address);
    expect(code === '0x', `there is code at ${account.address} on ${network.name} already`);
    print.line('', `${network.name}: not deployed yet`);
  }

  const added = others.map(({ id }) => id);
  const change = { id: account.id, name: stage.named('Reserve'), networkIds: added };
  const updated = await carryOut(stage, { type: 'accounts.update', items: [change] });
  const after = await client.getAccount(account.id);
  expect(after.name === stage.named('Reserve'), `${account.id} should have a new name`);
  expect(after.address === account.address, `the address of ${account.id} changed`);
  await checkOnChains(stage, after, updated, added);
}

/** A proposal that enough admins reject: nothing changes. */
export async function rejection(stage: Stage): Promise<void> {
  const { client, demo, print } = stage;
  print.chapter('A rejection');
  const known = new Set((await client.listAccounts()).map(({ id }) => id));
  const items = [{ name: stage.named('Slush Fund'), networkIds: demo.networks.map(({ id }) => id) }];
  const proposal = await propose(stage, { type: 'accounts.create', items });
  const done = await rejectIt(stage, proposal, 'nobody could say what it is for');
  expect(done.result?.resolution === 'rejected', `${proposal.id} has no result that says rejected`);
  resultIds(done, 0);
  const fresh = (await client.listAccounts()).filter(
    ({ id, name }) => !known.has(id) && name === stage.named('Slush Fund'),
  );
  expect(fresh.length === 0, 'the rejected account exists');
  print.line('', 'no account was created');
}
