import { inspect } from 'node:util';
import { verifyAudit } from '../../src/db/audit';
import { movementIds } from '../../src/db/movements';
import { CHANNEL_KINDS, type ChatKind } from '../../src/domain/delivery';
import { createIdentify, type Movement, ZERO_ADDRESS } from '../../src/domain/movement';
import { storeReading } from '../../src/movements/movementChanges';
import { execute, makeAccount, propose, type Shown, startApi } from '../support/api';
import { aHash, anAddress } from '../support/builders';
import { type ChatServer, startChatServer } from '../support/chatServer';
import { dismissAdmin } from '../support/decisions';
import { sendFromFunder } from '../support/funder';
import type { Answer } from '../support/http';
import { type MailServer, startMailServer } from '../support/mailServer';
import { paymentChain } from '../support/payingOrganization';
import { sign, type TestOrganization, type TestService } from '../support/service';
import { type Browser, originOf, sent, signIn } from '../support/session';
import { LOCAL_FUNDER } from '../support/stack';
import { NETWORK_ID } from '../support/transactions';
import { until } from '../support/until';

const ALL = ['asked', 'reminder', 'decided', 'failed', 'moneyIn', 'security'];
const HOSTILE = '<!channel> @everyone `x` [y](https://evil.example) & <https://evil.example|z>';

let mail: MailServer;
let chats: ChatServer;
let api: TestService;
let org: TestOrganization;
let alice: Browser;
let dave: Browser;
let named = 0;

beforeAll(async () => {
  [mail, chats] = await Promise.all([startMailServer(), startChatServer()]);
  const env = { SMTP_URL: `smtp://127.0.0.1:${mail.port}`, MAIL_FROM: 'Wallets <wallet@example.com>' };
  api = await startApi({ env });
  org = await api.createOrganization();
  [alice, dave] = await Promise.all([signIn(api, org.alice), signIn(api, org.dave)]);
});
afterAll(async () => {
  if (org) expect(await verifyAudit(api.db, org.id)).toMatchObject({ ok: true });
  await api?.stop();
  await Promise.all([mail?.stop(), chats?.stop()]);
});

async function added(browser: Browser, body: object): Promise<Shown> {
  const answer = await sent(browser, 'POST', '/channels', body);
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.body.data;
}

/** A chat of its own, and the channel that writes to it. */
async function chatOf(kind: ChatKind, occasions: readonly string[], more: object = {}) {
  named += 1;
  const url = chats.urlOf(kind, `room${named}`);
  const chatId = kind === 'telegram' ? { chatId: '-100123' } : {};
  const channel = await added(alice, { kind, url, occasions, description: 'Treasury', ...chatId, ...more });
  return { url, channel };
}

const untilShown = (url: string, text: string, count = 1) =>
  until(`${text} is shown ${count} times`, async () => {
    const found = chats.of(url).filter((message) => message.text.includes(text));
    return found.length >= count && found;
  });
const refusalOf = ({ status, body }: Answer) => [status, body.code, body.error?.details?.field ?? null];
const statusOf = async (browser: Browser, { id }: Shown) =>
  (await sent(browser, 'GET', '/channels')).body.data.find((one: Shown) => one.id === id);

/** Removes what a member manages: an organization has at most 20 channels, a member one. */
async function removeChannels(browser: Browser, occasions: readonly string[] = ALL): Promise<void> {
  const { body } = await sent(browser, 'GET', '/channels');
  for (const channel of body.data) {
    if (occasions.some((occasion) => channel.occasions.includes(occasion)))
      await sent(browser, 'DELETE', `/channels/${channel.id}`);
  }
}

/** Adds a member's own address, and confirms it with the code of the mail. */
async function ownAddress(
  browser: Browser,
  address: string,
  occasions: readonly string[] = ALL,
): Promise<Shown> {
  const channel = await added(browser, { kind: 'email', address, own: true, occasions });
  expect(channel).toMatchObject({ own: true, target: address, status: 'unconfirmed', enabled: false });
  const answer = await sent(browser, 'POST', `/channels/${channel.id}/confirm`, { code: codeTo(address) });
  expect(answer.body.data).toMatchObject({ status: 'active', enabled: true });
  return channel;
}

const mailsTo = (address: string) => mail.mails.filter(({ to }) => to.includes(address));
const codeTo = (address: string) => /Code: (\d{8})/.exec(mailsTo(address).at(-1)?.text ?? '')?.[1] ?? '';

describe.each(CHANNEL_KINDS.filter((kind) => kind !== 'email'))('a channel of %s', (kind) => {
  afterEach(() => removeChannels(alice));

  it('is asked, with who is missing, and told of the end; it names nobody and leads to the console alone', async () => {
    const { url, channel } = await chatOf(kind, ['asked', 'decided']);
    expect(channel).toMatchObject({
      kind,
      own: false,
      target: new URL(url).host,
      status: 'active',
      reason: null,
    });
    const name = `${HOSTILE} ${kind}`;
    const proposal = await propose(api.http, org, { name });
    const [asked] = await untilShown(url, '2 signatures wanted');
    expect(asked?.mentions).toEqual([]);
    expect(asked?.links).toEqual([`${originOf(api)}/requests/${proposal.id}`]);
    expect(asked?.text).toContain('Missing: "Alice", "Bob"');
    expect(asked?.text).toContain(proposal.summary.split('\n')[0]);
    await sign(api.http, org.adminKey, proposal, org.alice, 'reject');
    await sign(api.http, org.adminKey, proposal, org.bob, 'reject');
    const executed = await execute(api.http, org.adminKey, proposal.id, 'reject');
    expect(executed.status).toBe(200);
    await untilShown(url, 'Rejected');
    expect(chats.of(url).length).toBe(2);
  });

  it('waits as long as the chat asks for, and sends each notice once', async () => {
    const { url } = await chatOf(kind, ['asked']);
    chats.limit(url, 1, 2);
    const startedAt = Date.now();
    await propose(api.http, org);
    await propose(api.http, org);
    const [first] = await untilShown(url, 'signatures wanted', 2);
    expect((first?.atMs ?? 0) - startedAt).toBeGreaterThanOrEqual(2_000);
    expect(chats.of(url).length).toBe(2);
  });

  it('is disabled once the chat is gone', async () => {
    const { url, channel } = await chatOf(kind, ['asked']);
    chats.remove(url);
    await propose(api.http, org);
    const disabled = await until('it is disabled', async () => {
      const now = await statusOf(alice, channel);
      return now.status === 'disabled' && now;
    });
    expect(disabled).toMatchObject({ reason: 'gone', enabled: false });
  });

  it('tries a notice when somebody wants it', async () => {
    const { url, channel } = await chatOf(kind, ['security']);
    const answer = await sent(alice, 'POST', `/channels/${channel.id}/test`);
    expect(answer.body.data).toMatchObject({ taken: true, message: null });
    await untilShown(url, 'A test notice');
  });
});

describe('a channel whose chat refuses every notice', () => {
  it('says why nothing was taken', async () => {
    const { url, channel } = await chatOf('slack', ['asked']);
    chats.refuse(url);
    await propose(api.http, org);
    const shown = await until('it says why', async () => {
      const now = await statusOf(alice, channel);
      return now.lastFailure !== null && now;
    });
    expect(shown).toMatchObject({ status: 'active', lastFailure: 'the receiver answered 400' });
  });
});

describe('a group of Telegram that has become a supergroup', () => {
  it('is gone: it has another id', async () => {
    const { url, channel } = await chatOf('telegram', ['asked']);
    const parameters = { migrate_to_chat_id: -1_001_557_912_345 };
    const description = 'Bad Request: group chat was upgraded to a supergroup chat';
    chats.refuse(url, JSON.stringify({ ok: false, error_code: 400, description, parameters }));
    await propose(api.http, org);
    await until('it is disabled', async () => (await statusOf(alice, channel)).reason === 'gone');
  });
});

describe('a code that cannot be sent', () => {
  it('leaves nothing behind, in no log', async () => {
    const other = await api.createOrganization();
    const erin = await signIn(api, other.dave);
    const address = 'erin@example.com';
    const ask = { kind: 'email', address, own: true, occasions: ['asked'] };
    let made = 0;
    for (let n = 0; n < 8; n += 1) {
      const answer = await erin.send({ method: 'POST', path: '/channels', idempotencyKey: null, body: ask });
      if (answer.status === 429) break;
      expect(answer.status).toBe(201);
      made += 1;
      await sent(erin, 'DELETE', `/channels/${answer.body.data.id}`);
    }
    expect(made).toBeLessThan(8);
    const created = await api.db('audit_log').where({ organization_id: other.id, action: 'channel.created' });
    expect(created).toHaveLength(made);
  });

  it.each([
    { kind: 'slack', more: '\u0000' },
    { kind: 'slack', more: '\ud800' },
    { kind: 'slack', more: '\r\nHost: evil.example' },
    { kind: 'slack', more: '', description: 'a\u0000b' },
    { kind: 'email', address: 'ada@example.com\r\nBcc: eve@example.com' },
    { kind: 'email', address: '"ada, eve"@example.com' },
    { kind: 'email', address: 'ada@example.com,eve@example.com' },
    { kind: 'email', address: 'Ada <ada@example.com>' },
    { kind: 'email', address: 'ada@[127.0.0.1]' },
    { kind: 'email', address: 'ada@localhost' },
  ])('is refused with $kind $more$address', async ({ more, ...given }) => {
    const url = more === undefined ? {} : { url: `${chats.urlOf('slack', 'refused')}${more}` };
    const answer = await sent(alice, 'POST', '/channels', { ...given, ...url, occasions: ['asked'] });
    expect([answer.status, answer.body.code]).toEqual([400, 'validationError']);
  });
});

describe('what is told', () => {
  it('of security: a sign-in from a new browser, a key, and the channel itself', async () => {
    const { url } = await chatOf('slack', ['security']);
    await untilShown(url, 'Channel created');
    await signIn(api, org.carol);
    const [signedIn] = await untilShown(url, 'Sign-in from a new browser');
    expect(signedIn?.text).toContain('By: "Carol"');
    const key = { name: HOSTILE, memberIds: [org.bot.id], scopes: ['read'] };
    expect((await sent(alice, 'POST', '/api-keys', key)).status).toBe(201);
    const [issued] = await untilShown(url, 'API key issued');
    expect([issued?.mentions, issued?.links]).toEqual([[], [`${originOf(api)}/keys`]]);
  });

  it('is one message where more than ten come at once, and nothing is lost', async () => {
    const { url, channel } = await chatOf('slack', ['asked']);
    chats.limit(url, 1, 600);
    await Promise.all(Array.from({ length: 13 }, () => propose(api.http, org)));
    await until('the first one waits', async () => (await statusOf(alice, channel)).status === 'failing');
    // A change tries again at once: now all of them are there.
    await sent(alice, 'POST', `/channels/${channel.id}/update`, { description: 'Once more' });
    const [digest] = await untilShown(url, ' notices');
    // A request that the log did not have yet comes after it.
    const told = Number(/(\d+) notices/.exec(digest?.text ?? '')?.[1]);
    expect(told).toBeGreaterThan(10);
    await until('each is told once', async () => told + chats.of(url).length - 1 === 13);
    expect(chats.of(url).length).toBeLessThanOrEqual(10);
    expect(digest?.links).toEqual([`${originOf(api)}/requests`]);
  });
});

describe('money in', () => {
  let account: Shown;
  const ETHER = 10n ** 18n;
  const title = 'Money in';

  beforeAll(async () => {
    account = await makeAccount(api.http, org, { networkIds: [NETWORK_ID] });
  });
  afterEach(async () => {
    for (const browser of [alice, dave]) await removeChannels(browser, ['moneyIn']);
  });

  /** A movement of a block that the chain worker never reads. */
  function movementOf(more: Partial<Movement> = {}) {
    const movement: Movement = {
      ...{ accountId: account.id, direction: 'in', kind: 'native', cause: 'transfer', tokenId: null },
      ...{ tokenAddress: ZERO_ADDRESS, amount: ETHER, counterparty: anAddress(), transactionHash: aHash() },
      ...{ block: { number: 2n ** 40n, hash: aHash() }, logIndex: 0, safeTxHash: null },
      ...more,
    };
    const made = createIdentify(movementIds(NETWORK_ID))(movement);
    return { ...made, status: 'confirmed' as const };
  }
  type Made = ReturnType<typeof movementOf>;
  const store = (
    { added = [], changed = [], reversed = [] }: { added?: Made[]; changed?: Made[]; reversed?: Made[] },
    time = new Date(),
  ) =>
    api.db.transaction((tx) =>
      storeReading(
        tx,
        { networkId: NETWORK_ID, listed: [], isAnnounced: () => true },
        { added, changed, reversed, timeOf: () => time },
      ),
    );
  /** Stores one that is told, so that all before it is as well. */
  async function passed(url: string, count: number) {
    await store({ added: [movementOf({ amount: 7n * ETHER })] });
    const shown = await untilShown(url, '7 "ETH"');
    expect(chats.of(url).map(({ text }) => text)).toHaveLength(count);
    return shown;
  }

  it('is told once of a deposit, with what, from whom, to which account, and its page', async () => {
    const { url } = await chatOf('slack', ['moneyIn']);
    await ownAddress(dave, 'money@example.com', ['moneyIn']);
    const entry = { name: `The bank ${HOSTILE}`, address: LOCAL_FUNDER.address, networkId: null };
    await api.http.send({ key: org.adminKey, path: '/api/v1/address-book', body: entry });
    const pay = { to: account.address, value: `0x${(3n * ETHER).toString(16)}` };
    const hash = await sendFromFunder(paymentChain(api).rpcUrl, pay);
    const [told] = await untilShown(url, title);
    expect([told?.mentions, told?.links]).toEqual([[], [`${originOf(api)}/accounts/${account.id}`]]);
    for (const text of [
      '3 "ETH" to',
      account.address,
      'From: "The bank <!channel> @everyone',
      `(${LOCAL_FUNDER.address})`,
      hash,
    ]) {
      expect(told?.text).toContain(text);
    }
    await until('the member is told', async () =>
      mailsTo('money@example.com').some(({ subject }) => subject.includes('Money in: 3 "ETH"')),
    );
    // Its past is read once more, and then what is new.
    const own = { account_id: account.id };
    for (const table of ['account_proofs', 'account_scans']) await api.db(table).where(own).delete();
    await sendFromFunder(paymentChain(api).rpcUrl, { ...pay, value: `0x${(4n * ETHER).toString(16)}` });
    await untilShown(url, '4 "ETH" to');
    await until('its past was read again', async () => {
      const scan = await api.db('account_scans').where(own).first();
      return scan !== undefined && scan.next_block >= scan.until_block;
    });
    await passed(url, 3);
  });

  it('is nothing that was not asked for, is worth nothing, is our own, imitates somebody or is old', async () => {
    const { url } = await chatOf('slack', ['moneyIn']);
    const other = await makeAccount(api.http, org, { networkIds: [NETWORK_ID] });
    const wallet = org.dave.wallet.address;
    const lookAlike = `${wallet.slice(0, 5)}${'0'.repeat(34)}${wallet.slice(-3)}`;
    await store({
      added: [
        movementOf({ kind: 'erc20', tokenAddress: anAddress() }),
        movementOf({ amount: 0n }),
        movementOf({ direction: 'out' }),
        movementOf({ counterparty: other.address }),
        movementOf({ counterparty: lookAlike }),
      ],
    });
    await store({ added: [movementOf()] }, new Date(Date.now() - 3_600_000));
    await passed(url, 1);
  });

  it('is told when it was reversed, where it was told, and again when it is there again', async () => {
    const { url } = await chatOf('slack', ['moneyIn']);
    const movement = movementOf({ amount: 2n * ETHER });
    await store({ added: [movement] });
    await untilShown(url, title);
    // In another block, with all confirmations again: nothing new.
    await store({ changed: [movement] });
    const unconfirmed = { ...movementOf(), status: 'pending' as never };
    await store({ added: [unconfirmed] });
    await store({ reversed: [movement, unconfirmed] });
    const [reversed] = await untilShown(url, 'Money in reversed');
    expect(reversed?.text).toContain('2 "ETH" to');
    await store({ changed: [movement] });
    await untilShown(url, '2 "ETH" to', 3);
    await passed(url, 4);
  });

  it('is one message for one reading, without what was reversed since', async () => {
    const { url, channel } = await chatOf('slack', ['moneyIn']);
    await api
      .db('destinations')
      .where({ id: channel.id })
      .update({ disabled_for: null, paused_for: 'operator' });
    const gone = movementOf({ amount: 5n * ETHER });
    await store({ added: [gone, ...Array.from({ length: 24 }, () => movementOf())] });
    await store({ reversed: [gone] });
    await api.db('destinations').where({ id: channel.id }).update({ paused_for: null });
    const [told] = await untilShown(url, '24 transfers to');
    expect(told?.text).toContain('and 14 more');
    expect(told?.text).not.toContain('5 "ETH"');
  });

  it('is one message where more than ten readings come at once', async () => {
    const { url, channel } = await chatOf('slack', ['moneyIn']);
    await api.db('destinations').where({ id: channel.id }).update({ paused_for: 'operator' });
    for (let n = 0; n < 12; n += 1) await store({ added: [movementOf()] });
    await api.db('destinations').where({ id: channel.id }).update({ paused_for: null });
    const [digest] = await untilShown(url, '12 notices');
    expect(digest?.text).toContain('1. Money in: 1 "ETH" to');
    expect(chats.of(url)).toHaveLength(1);
  });
});

describe('the own address of a member', () => {
  it('gets a code, and nothing else before it is confirmed with it', async () => {
    const address = 'carol@example.com';
    const carol = await signIn(api, org.carol);
    const channel = await added(carol, { kind: 'email', address, own: true, occasions: ALL });
    const path = `/channels/${channel.id}`;
    await propose(api.http, org);
    const [asking] = mailsTo(address);
    expect(asking?.text).toContain(`${originOf(api)}/notifications`);
    const code = codeTo(address);
    const wrong = code === '00000000' ? '00000001' : '00000000';
    expect(refusalOf(await sent(carol, 'POST', `${path}/confirm`, { code: wrong }))).toEqual([
      ...[400, 'validationError', 'code'],
    ]);
    expect((await sent(carol, 'POST', `${path}/update`, { enabled: true })).status).toBe(409);
    expect((await sent(carol, 'POST', `${path}/code`)).status).toBe(200);
    expect(refusalOf(await sent(carol, 'POST', `${path}/confirm`, { code }))[0]).toBe(400);
    expect((await sent(carol, 'POST', `${path}/confirm`, { code: codeTo(address) })).body.data.status).toBe(
      'active',
    );
    expect(mailsTo(address).length).toBe(2);
    expect((await sent(carol, 'POST', `${path}/code`)).status).toBe(409);
    const stored = inspect([
      await api.db('audit_log').where({ organization_id: org.id }),
      await api.db('channels').where({ destination_id: channel.id }),
    ]);
    expect(stored).not.toContain(address);
    expect(stored).not.toContain(code);
  });

  it('is not confirmed by the right code after five wrong ones', async () => {
    const bob = await signIn(api, org.bob);
    const channel = await added(bob, {
      kind: 'email',
      address: 'guess@example.com',
      own: true,
      occasions: ALL,
    });
    const code = codeTo('guess@example.com');
    for (let n = 0; n < 5; n += 1) {
      await sent(bob, 'POST', `/channels/${channel.id}/confirm`, { code: String(n).padStart(8, '9') });
    }
    expect((await sent(bob, 'POST', `/channels/${channel.id}/confirm`, { code })).status).toBe(400);
    expect((await sent(bob, 'DELETE', `/channels/${channel.id}`)).status).toBe(200);
  });

  it('is asked while its member can sign, told of the end of what they signed, and of nothing else', async () => {
    const other = await api.createOrganization();
    const [one, two] = await Promise.all([signIn(api, other.alice), signIn(api, other.dave)]);
    const [ofAdmin, ofOther] = ['admin@example.com', 'other@example.com'];
    await ownAddress(one, ofAdmin, ['asked', 'decided']);
    await ownAddress(two, ofOther, ['asked', 'decided']);
    const signedByBoth = await propose(api.http, other, { name: HOSTILE });
    const asked = await until('the admin is asked', async () =>
      mailsTo(ofAdmin).find(({ text }) => text.includes('2 signatures wanted')),
    );
    expect(asked.subject).toMatch(/2 signatures wanted/);
    expect(asked.text).toContain(`${originOf(api)}/requests/${signedByBoth.id}`);
    for (const member of [other.alice, other.bob]) {
      await sign(api.http, other.adminKey, signedByBoth, member, 'reject');
    }
    await execute(api.http, other.adminKey, signedByBoth.id, 'reject');
    await until('the admin is told of the end', async () =>
      mailsTo(ofAdmin).some(({ text }) => text.startsWith('Rejected')),
    );
    expect(mailsTo(ofAdmin).length).toBe(3);
    expect(mailsTo(ofOther).length).toBe(1);
  });

  it('gets nothing once its member was removed', async () => {
    const other = await api.createOrganization();
    const [carol, admin] = [await signIn(api, other.carol), await signIn(api, other.alice)];
    await ownAddress(carol, 'removed@example.com', ['asked']);
    await ownAddress(admin, 'staying@example.com', ['asked']);
    const before = mailsTo('removed@example.com').length;
    await dismissAdmin(api.db, other, other.carol.id);
    const proposal = await propose(api.http, other);
    await until('who stays is asked', async () =>
      mailsTo('staying@example.com').some(({ text }) => text.includes(proposal.id)),
    );
    expect(mailsTo('removed@example.com')).toHaveLength(before);
    expect((await carol.send({ path: '/channels', idempotencyKey: null })).status).toBe(401);
  });

  it('is of one member, whom alone it is shown to', async () => {
    const channel = await ownAddress(dave, 'dave@example.com');
    const again = { kind: 'email', address: 'dave2@example.com', own: true, occasions: ALL };
    expect(refusalOf(await sent(dave, 'POST', '/channels', again)).slice(0, 2)).toEqual([409, 'conflict']);
    expect(await statusOf(alice, channel)).toBeUndefined();
    for (const path of ['confirm', 'update', 'code', 'test']) {
      const body = path === 'confirm' ? { code: '00000000' } : path === 'update' ? {} : undefined;
      expect((await sent(alice, 'POST', `/channels/${channel.id}/${path}`, body)).status).toBe(404);
    }
    expect((await sent(alice, 'DELETE', `/channels/${channel.id}`)).status).toBe(404);
    expect((await sent(dave, 'DELETE', `/channels/${channel.id}`)).body.data.id).toBe(channel.id);
  });
});

describe('a channel of the organization', () => {
  it('is managed by admins alone', async () => {
    const { channel } = await chatOf('slack', ['asked']);
    const body = { kind: 'slack', url: chats.urlOf('slack', 'x'), occasions: ['asked'] };
    expect((await sent(dave, 'POST', '/channels', body)).status).toBe(403);
    expect((await sent(dave, 'POST', `/channels/${channel.id}/update`, {})).status).toBe(403);
    expect((await sent(dave, 'POST', `/channels/${channel.id}/test`)).status).toBe(403);
    expect((await sent(dave, 'DELETE', `/channels/${channel.id}`)).status).toBe(403);
    expect((await sent(dave, 'GET', '/channels')).body.data.map(({ id }: Shown) => id)).not.toContain(
      channel.id,
    );
  });

  it('shows the host of its URL and no more of it, nor does the audit log', async () => {
    const { url, channel } = await chatOf('slack', ['asked']);
    const texts = [
      (await sent(alice, 'GET', '/channels')).text,
      inspect(await api.db('audit_log').where({ resource_id: channel.id })),
    ];
    for (const text of texts) expect(text).not.toContain(new URL(url).pathname);
    expect((await sent(alice, 'DELETE', `/channels/${channel.id}`)).body.data).toMatchObject({
      id: channel.id,
    });
    await propose(api.http, org);
    expect(chats.of(url)).toEqual([]);
  });

  it.each([
    ['url', { kind: 'slack', url: 'http://169.254.169.254/latest' }],
    ['url', { kind: 'discord', url: 'http://[::ffff:10.0.0.1]/' }],
    ['url', { kind: 'slack', url: 'file:///etc/passwd' }],
    ['url', { kind: 'slack', url: 'https://user:password@hooks.example/' }],
    ['chatId', { kind: 'telegram', url: 'http://127.0.0.1/bot1/sendMessage', chatId: 'me' }],
    ['address', { kind: 'email', address: '"a@evil.example x"@internal.example' }],
    ['address', { kind: 'email', address: 'a@b.example, c@d.example' }],
    ['address', { kind: 'email', address: 'a@b.example\r\nBcc: c@d.example' }],
    ['occasions', { kind: 'slack', url: 'http://127.0.0.1/x', occasions: [] }],
    ['kind', { kind: 'pager' }],
  ])('is refused with its field %s: %j', async (field, body) => {
    const answer = await sent(alice, 'POST', '/channels', { occasions: ['asked'], ...body });
    expect(refusalOf(answer)).toEqual([400, 'validationError', field]);
  });
});
