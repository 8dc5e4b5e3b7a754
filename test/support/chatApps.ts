/** What a chat shows of a message, and whom and what it makes of it by itself. */
export interface ShownMessage {
  /** Every text in it, as a reader sees it. */
  readonly text: string;
  /** People or rooms that are notified. */
  readonly mentions: readonly string[];
  /** Addresses that can be clicked. */
  readonly links: readonly string[];
}

/** What a chat answers to a message that it does not take. */
export class MessageRefused extends Error {
  override readonly name = 'MessageRefused';
  constructor(
    readonly status: number,
    readonly answer: string,
  ) {
    super(`${status} ${answer}`);
  }
}

// biome-ignore lint/suspicious/noExplicitAny: a body that is to be checked
type Body = any;

function assertTaken(condition: boolean, status: number, answer: string): void {
  if (!condition) throw new MessageRefused(status, answer);
}

/** What Slack shows of a text, in which `<…>` are its own: `<!channel>`, `<@U1>`, `<https://…|label>`. */
function shownBySlack(text: string): ShownMessage {
  const own = [...text.matchAll(/<([^<>]*)>/g)].map(([, inside = '']) => inside);
  return {
    text: text
      .replace(/<(?:[^<>|]*\|)?([^<>]*)>/g, '$1')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&amp;', '&'),
    mentions: own.filter((inside) => /^[!@#]/.test(inside)),
    links: own.filter((inside) => /^[a-z][a-z0-9+.-]*:/i.test(inside)),
  };
}

/** What an incoming webhook of Slack takes, and shows. Source: docs.slack.dev, "Incoming webhooks", "Blocks", "Text object". */
export function readSlack(body: Body): ShownMessage {
  assertTaken(typeof body?.text === 'string' && body.text !== '', 400, 'no_text');
  assertTaken(Array.isArray(body.blocks) && body.blocks.length <= 50, 400, 'invalid_blocks');
  const texts = body.blocks.map(({ type, text }: Body) => {
    const most = type === 'header' ? 150 : 3_000;
    const isText = ['plain_text', 'mrkdwn'].includes(text?.type) && typeof text.text === 'string';
    assertTaken(['header', 'section'].includes(type) && isText, 400, 'invalid_blocks');
    assertTaken(type !== 'header' || text.type === 'plain_text', 400, 'invalid_blocks');
    assertTaken(text.text.length >= 1 && text.text.length <= most, 400, 'invalid_blocks');
    return text.text;
  });
  assertTaken(body.text.length <= 40_000, 400, 'msg_too_long');
  return shownBySlack([body.text, ...texts].join('\n'));
}

const URLS = /https?:\/\/[^\s>]+/g;

/** What a webhook of Discord takes, and shows. Source: Discord's "Execute Webhook", "Allowed Mentions". */
export function readDiscord(body: Body): ShownMessage {
  const { content } = body ?? {};
  assertTaken(typeof content === 'string' && content !== '', 400, '{"code": 50006}');
  assertTaken([...content].length <= 2_000, 400, '{"code": 50035}');
  const outside = content.replace(/```\n([\s\S]*?)\n?```/g, '');
  const isMuted = JSON.stringify(body.allowed_mentions) === '{"parse":[]}';
  const mentions = outside.match(/@everyone|@here|<[@#][!&]?\d+>/g) ?? [];
  return {
    text: content.replaceAll('\u200b', ''),
    mentions: isMuted ? [] : mentions,
    links: [...(outside.match(URLS) ?? []), ...(outside.match(/\]\([^)]*\)/g) ?? [])],
  };
}

/** What `sendMessage` of a bot of Telegram takes, and shows. Source: core.telegram.org/bots/api. */
export function readTelegram(body: Body): ShownMessage {
  const { chat_id: chatId, text, entities = [], parse_mode: parseMode } = body ?? {};
  const refuse = (why: string) =>
    JSON.stringify({ ok: false, error_code: 400, description: `Bad Request: ${why}` });
  assertTaken(typeof chatId === 'string' && chatId !== '', 400, refuse('chat_id is empty'));
  assertTaken(typeof text === 'string' && text.trim() !== '', 400, refuse('message text is empty'));
  assertTaken(text.length <= 4_096, 400, refuse('message is too long'));
  assertTaken(parseMode === undefined, 400, refuse("can't parse entities"));
  let outside = text;
  for (const { type, offset, length } of entities) {
    const fits = offset >= 0 && length >= 0 && offset + length <= text.length;
    assertTaken(fits, 400, refuse('ENTITY_BOUNDS_INVALID'));
    if (type === 'pre') outside = text.slice(0, offset) + ' '.repeat(length) + text.slice(offset + length);
  }
  return {
    text,
    mentions: outside.match(/(?<!\w)@\w+/g) ?? [],
    links: [...(outside.match(URLS) ?? []), ...(outside.match(/(?<![\w/])\/\w+/g) ?? [])],
  };
}
