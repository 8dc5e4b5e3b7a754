import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import type { MemberSummary } from '../client';
import {
  carryOut,
  decided,
  expect,
  mustRefuse,
  printNote,
  propose,
  rejectIt,
  resultIds,
  type Stage,
  vote,
} from '../stage';
import type { Group } from './groups';

/** A member in a response. */
export interface Member extends MemberSummary {
  readonly registeredAt: string | null;
}

/** The members that this run of the demo adds and removes. */
export interface Newcomers {
  readonly erin: Member;
  readonly bot: Member;
}

function newWallet(): PrivateKeyAccount {
  return privateKeyToAccount(generatePrivateKey());
}

/** The bot proves that it controls its wallet. */
async function register(stage: Stage, bot: Member, wallet: PrivateKeyAccount): Promise<void> {
  const { client, print } = stage;
  const { address: walletAddress } = wallet;
  const { messageToSign } = await client.read<{ messageToSign: string }>(
    `/members/registrations/payload?walletAddress=${walletAddress}`,
  );
  expect(messageToSign.includes(walletAddress), 'the text to sign does not name the wallet');
  const proof = { walletAddress, signature: await wallet.signMessage({ message: messageToSign }) };
  const { registeredAt } = await client.post<{ registeredAt: string }>('/members/registrations', proof);
  const { registeredAt: shown } = await client.read<Member>(`/members/${bot.id}`);
  expect(shown === registeredAt, `${bot.id} should be registered since ${registeredAt}`);
  print.line(bot.name, `signed the text with which it proves its wallet: registered at ${registeredAt}`);
  await mustRefuse(stage, 'again', 'invalidSignature', client.post('/members/registrations', proof));
}

/** Two members join; the bot among them registers its wallet, the person gets a new one. */
export async function newMembers(stage: Stage): Promise<Newcomers> {
  const { client, print } = stage;
  print.chapter('New members: a person and a bot');
  const botWallet = newWallet();
  const created = await carryOut(stage, '/members/proposals/create', {
    items: [
      { name: stage.named('Erin'), walletAddress: newWallet().address, type: 'user' },
      { name: stage.named('Payout Bot'), walletAddress: botWallet.address, type: 'api' },
    ],
  });
  const [erinId, botId] = resultIds(created, 2);
  const bot = await client.read<Member>(`/members/${botId}`);
  print.line('members', `Erin is ${erinId}, Payout Bot is ${botId}`);
  await register(stage, bot, botWallet);

  const { address } = newWallet();
  const taken = { items: [{ id: erinId, walletAddress: botWallet.address.toLowerCase() }] };
  await mustRefuse(stage, 'taken', 'conflict', client.post('/members/proposals/update', taken));
  const change = { id: erinId, name: stage.named('Erin Adler'), walletAddress: address };
  await carryOut(stage, '/members/proposals/update', { items: [change] });
  const erin = await client.read<Member>(`/members/${erinId}`);
  expect(
    erin.name === stage.named('Erin Adler') && erin.walletAddress === address,
    `${erinId} should have changed`,
  );
  print.line('member', `${erin.name} has the wallet ${erin.walletAddress}`);
  return { erin, bot };
}

/** Removes the new members while an approved proposal names one of them: it becomes stale. */
export async function membersLeave(stage: Stage, { erin, bot }: Newcomers, group: Group): Promise<void> {
  const { client, print } = stage;
  print.chapter('Members are removed, and an approved proposal becomes stale');
  const items = [{ name: stage.named('Night Shift'), memberIds: [erin.id] }];
  const shift = await propose(stage, '/groups/proposals/create', { items });
  await vote(stage, shift, 'approve');

  await carryOut(stage, '/members/proposals/remove', { ids: [erin.id, bot.id] });
  await mustRefuse(stage, 'gone', 'notFound', client.read(`/members/${erin.id}`));
  const left = await client.read<Group>(`/groups/${group.id}`);
  expect(
    !left.members.some(({ id }) => id === erin.id || id === bot.id),
    `they should have left ${group.id}`,
  );
  print.line('group', `${left.name} now has ${left.members.map(({ name }) => name).join(', ')}`);

  print.line('meanwhile', `${shift.id} is approved, and names a removed member`);
  printNote(stage, await client.getProposal(shift), 'memberRemoved');
  await decided(stage, await client.execute(shift, 'approve'), 'blocked');
  await rejectIt(stage, shift, 'Erin has left');
}
