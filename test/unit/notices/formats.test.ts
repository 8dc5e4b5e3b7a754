import fc from 'fast-check';
import type { ChatKind } from '../../../src/domain/delivery';
import { unseenIn, visible } from '../../../src/domain/quoted';
import { discordBody } from '../../../src/notices/formats/discord';
import { mailOf } from '../../../src/notices/formats/mail';
import { slackBody } from '../../../src/notices/formats/slack';
import { telegramBody } from '../../../src/notices/formats/telegram';
import { type Notice, noticeOf } from '../../../src/notices/notice';
import { readDiscord, readSlack, readTelegram, type ShownMessage } from '../../support/chatApps';

const PAGE = 'https://wallet.example.com/requests/txn_01jz8k3v5fe5ht0n2m6w9r4xyz?a=1&b=2';

/** What somebody may have called a member, a token or an organization. */
const hostile = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 30 }),
      fc.constantFrom(
        ...[
          '<!channel>',
          '<!here|x>',
          '<@U12345678>',
          '<#C1>',
          '<https://evil.example|Approve>',
          '&lt;!channel&gt;',
        ],
        ...[
          '@everyone',
          '@here',
          '<@&1>',
          '<@!123>',
          '[](@everyone)',
          '[Approve](https://evil.example)',
          '```',
          '``',
        ],
        ...[
          '`',
          '\n```\n@everyone',
          '@alice',
          '/start',
          '#pay',
          'https://evil.example',
          '*',
          '_',
          '~',
          '||',
          '>',
          '\\',
        ],
        ...[
          '\r\nBcc: eve@evil.example',
          '\n.\n',
          '\u202e',
          '\u200b',
          '\u0000',
          '\u001b[2J',
          '𝕏',
          '👩‍👩‍👧',
          '&amp;',
        ],
      ),
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(''));
const notice = fc
  .tuple(fc.array(hostile, { minLength: 1, maxLength: 12 }), fc.constantFrom(PAGE, null))
  .map(([lines, link]): Notice => noticeOf('2 signatures wanted', ['"Acme"', ...lines], link));

const CHATS: { readonly [chat in ChatKind]: (notice: Notice) => ShownMessage } = {
  slack: (one) => readSlack(slackBody(one)),
  discord: (one) => readDiscord(discordBody(one)),
  telegram: (one) => readTelegram(telegramBody(one, '-100123')),
};

describe.each(Object.entries(CHATS))('a notice in %s', (_, send) => {
  it('is taken, mentions nobody and links to the console alone, whatever others have written', () => {
    fc.assert(
      fc.property(notice, (one) => {
        const { mentions, links } = send(one);
        expect(mentions).toEqual([]);
        expect(links.map((link) => link.replaceAll('&amp;', '&'))).toEqual(
          one.link === null ? [] : [one.link],
        );
      }),
    );
  });

  it('shows what was written as it was, as long as there is room', () => {
    fc.assert(
      fc.property(fc.array(hostile, { minLength: 1, maxLength: 3 }), (texts) => {
        const lines = texts.map((text) => [...text].slice(0, 60).join(''));
        expect(send(noticeOf('Executed', ['"Acme"', ...lines], PAGE)).text).toContain(
          lines.map(visible).join('\n').replaceAll('\u200b', ''),
        );
      }),
    );
  });

  it('shows the beginning of what is too long', () => {
    const one = noticeOf('Executed', ['&<`@'.repeat(5_000)], PAGE);
    expect(send(one).text).toMatch(/[&<`@]…/);
    expect(send(one).links.length).toBe(1);
  });
});

describe('a notice as a mail', () => {
  it('has a subject of one line, and lines of which everything is seen', () => {
    fc.assert(
      fc.property(notice, (one) => {
        const { subject, text } = mailOf(one);
        expect(unseenIn(subject)).toBeUndefined();
        expect(Buffer.byteLength(subject)).toBeLessThanOrEqual(203);
        for (const line of text.split('\n')) expect(unseenIn(line)).toBeUndefined();
        expect(text.split('\n').at(-2)).toBe(one.link ?? one.lines.at(-1));
      }),
    );
  });
});
