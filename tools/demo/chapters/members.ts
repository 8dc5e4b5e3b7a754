import type { Schema } from '@orgwallet/client';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import {
  carryOut,
  decided,
  expect,
  type Group,
  mustRefuse,
  printNote,
  propose,
  rejectIt,
  resultIds,
  type Stage,
  vote,
} from '../stage';

type Member = Schema['Member'];

/** The members that this run of the demo adds and removes. */
interface Newcomers {
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
  const { messageToSign } = await client.getRegistrationPayload({ walletAddress });
  expect(messageToSign.includes(walletAddress), 'the text to sign does not name the wallet');
  const proof = { walletAddress, signature: await wallet.signMessage({ message: messageToSign }) };
  const { registeredAt } = await client.registerWallet(proof);
  const { registeredAt: shown } = await client.getMember(bot.id);
  expect(shown === registeredAt, `${bot.id} should be registered since ${registeredAt}`);
  print.line(bot.name, `signed the text with which it proves its wallet: registered at ${registeredAt}`);
  await mustRefuse(stage, 'again', 'invalidSignature', client.registerWallet(proof));
}

/** Two members join; the bot among them registers its wallet, the person gets a new one. */
export async function newMembers(stage: Stage): Promise<Newcomers> {
  const { client, print } = stage;
  print.chapter('New members: a person and a bot');
  const botWallet = newWallet();
  const created = await carryOut(stage, {
    type: 'members.create',
    items: [
      { name: stage.named('Erin'), walletAddress: newWallet().address, type: 'user' },
      { name: stage.named('Payout Bot'), walletAddress: botWallet.address, type: 'api' },
    ],
  });
  const [erinId = '', botId = ''] = resultIds(created, 2);
  const bot = await client.getMember(botId);
  print.line('members', `Erin is ${erinId}, Payout Bot is ${botId}`);
  await register(stage, bot, botWallet);

  const { address } = newWallet();
  const taken = { items: [{ id: erinId, walletAddress: botWallet.address.toLowerCase() }] };
  await mustRefuse(stage, 'taken', 'conflict', client.proposeMembersUpdate(taken));
  const change = { id: erinId, name: stage.named('Erin Adler'), walletAddress: address };
  await carryOut(stage, { type: 'members.update', items: [change] });
  const erin = await client.getMember(erinId);
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
  const shift = await propose(stage, { type: 'groups.create', items });
  await vote(stage, shift, 'approve');

  await carryOut(stage, { type: 'members.remove', ids: [erin.id, bot.id] });
  await mustRefuse(stage, 'gone', 'notFound', client.getMember(erin.id));
  const left = await client.getGroup(group.id);
  expect(
    !left.members.some(({ id }) => id === erin.id || id === bot.id),
    `they should have left ${group.id}`,
  );
  print.line('group', `${left.name} now has ${left.members.map(({ name }) => name).join(', ')}`);

  print.line('meanwhile', `${shift.id} is approved, and names a removed member`);
  printNote(stage, await client.read(shift), 'memberRemoved');
  await decided(stage, await client.execute(shift, 'approve'), 'blocked');
  await rejectIt(stage, shift, 'Erin has left');
}
