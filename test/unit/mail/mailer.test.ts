import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { generate } from 'selfsigned';
import { readMailSender } from '../../../src/mail/mailAddress';
import { createMailer, type Mailer, type MailerOptions } from '../../../src/mail/mailer';
import { type MailServer, type ReceivedMail, startMailServer } from '../../support/mailServer';
import { until } from '../../support/until';

const FROM = { name: 'Acme wallets', address: 'wallet@example.com' };
const MAIL = { to: 'ada@example.com', subject: 'Signature wanted', text: 'Send 1 ETH\n', id: 'org_1.42' };
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function serverWith(...options: Parameters<typeof startMailServer>): Promise<MailServer> {
  const server = await startMailServer(...options);
  ends.push(() => server.stop());
  return server;
}

function mailerTo(
  port: number,
  more: Partial<MailerOptions['server']> = {},
  others: Partial<MailerOptions> = {},
): Mailer {
  const server = { host: '127.0.0.1', port, secure: false, requireTls: false, ...more };
  const mailer = createMailer({ server, from: FROM, timeLimitMs: 2_000, ...others });
  ends.push(() => mailer.stop());
  return mailer;
}

describe('a mail', () => {
  it('arrives once, with sender, recipient, subject and text', async () => {
    const { port, mails } = await serverWith();
    const outcome = await mailerTo(port).send({ ...MAIL, subject: 'Unterschrift: „Größe“ 👍' });
    expect(outcome).toMatchObject({ status: 250 });
    expect(mails).toMatchObject([
      { from: FROM.address, to: ['ada@example.com'], subject: 'Unterschrift: „Größe“ 👍', text: MAIL.text },
    ]);
    const header = (name: string) => mails[0]?.headers.get(name);
    expect(header('from')).toEqual(['Acme wallets <wallet@example.com>']);
    expect(header('to')).toEqual(['ada@example.com']);
    expect(header('message-id')).toEqual(['<org_1.42@example.com>']);
    expect(header('auto-submitted')).toEqual(['auto-generated']);
  });

  it('has no other header or recipient, whatever its subject and text are, and the text whole', async () => {
    const { port, mails } = await serverWith();
    const mailer = mailerTo(port);
    await mailer.send(MAIL);
    // An empty one is left out; the encoding is that of the text.
    const namesOf = (mail: ReceivedMail | undefined) =>
      [...(mail?.headers.keys() ?? [])]
        .filter((name) => name !== 'subject' && name !== 'content-transfer-encoding')
        .sort();
    const names = namesOf(mails[0]);
    const texts = fc
      .array(
        fc.oneof(
          fc.string({ unit: 'grapheme', maxLength: 80 }),
          fc.constantFrom(
            '\r\nBcc: eve@evil.example',
            '\n.\n',
            '.',
            '\r\n.\r\nMAIL FROM:<e@e.ex>',
            'From x',
            '\nTo: e@e.ex',
          ),
        ),
        { maxLength: 8 },
      )
      .map((parts) => parts.join(''));
    await fc.assert(
      fc.asyncProperty(texts, texts, async (subject, text) => {
        const before = mails.length;
        expect(await mailer.send({ ...MAIL, subject, text })).toMatchObject({ status: 250 });
        const [mail, ...others] = mails.slice(before);
        expect(others).toEqual([]);
        expect(mail?.to).toEqual(['ada@example.com']);
        expect(namesOf(mail)).toEqual(names);
        for (const values of mail?.headers.values() ?? []) expect(values.length).toBe(1);
        const lines = text.replace(/\r\n|\r/g, '\n');
        expect(mail?.text.replace(/\n$/, '')).toBe(lines.replace(/\n$/, ''));
      }),
      { numRuns: 60 },
    );
  });

  it('is not sent to a file or an address that its text names', async () => {
    const { port, mails } = await serverWith();
    await mailerTo(port).send({ ...MAIL, text: 'file:///etc/passwd' });
    expect(mails[0]?.text).toBe('file:///etc/passwd\n');
  });
});

describe('the answer of a mail server', () => {
  it('is the outcome where it refuses', async () => {
    const { port, mails } = await serverWith({
      onRcptTo: (_, __, callback) =>
        callback(Object.assign(new Error('no such mailbox'), { responseCode: 550 })),
    });
    expect(await mailerTo(port).send(MAIL)).toMatchObject({
      status: 550,
      answer: expect.stringContaining('no such mailbox'),
    });
    expect(mails).toEqual([]);
  });

  it('is refused without a login that it takes, and the password is in no message', async () => {
    const { port } = await serverWith({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: ({ password }, _, callback) =>
        password === 'correct' ? callback(null, { user: 'wallet' }) : callback(new Error('not this one')),
    });
    const outcome = await mailerTo(port, { login: { user: 'wallet', pass: 'hunter2' } }).send(MAIL);
    expect(outcome).toMatchObject({ status: 535 });
    expect(JSON.stringify(outcome)).not.toContain('hunter2');
    await expect(mailerTo(port, { login: { user: 'wallet', pass: 'hunter2' } }).verify()).rejects.toThrow(
      /535/,
    );
    expect(await mailerTo(port, { login: { user: 'wallet', pass: 'correct' } }).send(MAIL)).toMatchObject({
      status: 250,
    });
  });

  it('is waited for no longer than the time limit', async () => {
    const silent: Server = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    ends.push(() => silent.close());
    const { port } = silent.address() as { port: number };
    const outcome = await mailerTo(port, {}, { timeLimitMs: 300 }).send(MAIL);
    expect(outcome).toMatchObject({ fault: 'timeout' });
    expect(outcome.durationMs).toBeLessThan(3_000);
    expect(await mailerTo(1).send(MAIL)).toMatchObject({ fault: 'connection' });
  });

  /** A server that says something to each line, in place of what the protocol has. */
  async function lyingServer(begin: (socket: Socket) => void): Promise<number> {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      ends.push(() => socket.destroy());
      begin(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ends.push(() => server.close());
    return (server.address() as AddressInfo).port;
  }

  it('is waited for no longer than the time limit, where it comes a line at a time and never ends', async () => {
    let isClosed = false;
    const port = await lyingServer((socket) => {
      socket.write('220 ready\r\n');
      const timer = setInterval(() => socket.write('250-more\r\n'), 50);
      socket.resume().on('close', () => {
        isClosed = true;
        clearInterval(timer);
      });
    });
    const mailer = mailerTo(port, {}, { timeLimitMs: 300 });
    const outcome = await Promise.race([mailer.send(MAIL), sleep(5_000)]);
    expect(outcome).toMatchObject({ fault: 'timeout' });
    await until('the connection is closed', async () => isClosed);
    await expect(Promise.race([mailer.verify(), sleep(5_000)])).rejects.toThrow(/too long|time/i);
  });

  it.each([
    ['a greeting that is none', 'gr\u0000eeting \u001b[2J of the server\r\n'],
    ['a status that is none', '99999999999 no\r\n'],
    ['a status of four digits', '5500 no\r\n'],
    ['no line at all', '\u0000'.repeat(100_000)],
    ['too much', `550-${'x'.repeat(1_000)}\r\n`.repeat(1_100)],
  ])('is a fault without a word of the server, where it is %s', async (_, greeting) => {
    const port = await lyingServer((socket) => socket.end(greeting));
    const outcome = await mailerTo(port).send(MAIL);
    expect(outcome).toMatchObject({ fault: 'connection' });
    const { message } = outcome as { message: string };
    expect(message).toMatch(/^[ -~]{1,200}$/);
    expect(message).not.toMatch(/of the server|xxx/);
  });
});

describe('the connection to a mail server', () => {
  const requireTls = true;

  it('is encrypted before the login and the mail are sent, or nothing is', async () => {
    const passwords: unknown[] = [];
    const { port, mails } = await serverWith({
      allowInsecureAuth: true,
      onAuth: ({ password }, _, callback) => {
        passwords.push(password);
        callback(null, { user: 'wallet' });
      },
    });
    const outcome = await mailerTo(port, { requireTls, login: { user: 'wallet', pass: 'hunter2' } }).send(
      MAIL,
    );
    expect('fault' in outcome || outcome.status >= 400).toBe(true);
    expect([passwords, mails]).toEqual([[], []]);
  });

  it('is made to a server whose certificate is valid, and to no other', async () => {
    const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }]);
    const { port, mails } = await serverWith({ key, cert, disabledCommands: [] });
    const host = 'localhost';
    expect(await mailerTo(port, { host, requireTls }).send(MAIL)).toMatchObject({ fault: 'certificate' });
    expect(mails).toEqual([]);
    expect(await mailerTo(port, { host, requireTls }, { authorities: cert }).send(MAIL)).toMatchObject({
      status: 250,
    });
    expect(mails.length).toBe(1);
  });
});

describe('who mail comes from', () => {
  it.each([
    ['wallet@example.com', { name: '', address: 'wallet@example.com' }],
    ['Acme wallets <wallet@example.com>', { name: 'Acme wallets', address: 'wallet@example.com' }],
  ])('is read of %s', (text, sender) => expect(readMailSender(text)).toEqual(sender));

  it.each([
    '',
    'Acme',
    'a@b.example, c@d.example',
    'A <a@b.example>, B <c@d.example>',
    '"x@evil.example x"@internal.example',
    'user@good.example(x)evil.example',
    'a@b.example\r\nBcc: c@d.example',
    'A\r\nBcc: c@d.example <a@b.example>',
    '<a@b.example>',
  ])('is not %j', (text) => expect(readMailSender(text)).toBeUndefined());
});
