import type { Destination } from '../db/destinations';
import type { ChannelKind, ChatKind, DeliveryOutcome } from '../domain/delivery';
import type { Mailer, MailOutcome } from '../mail/mailer';
import { discordBody } from '../notices/formats/discord';
import { mailOf } from '../notices/formats/mail';
import { slackBody } from '../notices/formats/slack';
import { telegramBody } from '../notices/formats/telegram';
import type { Notice } from '../notices/notice';
import type { OutboundOutcome, OutboundSender } from '../outbound/sender';
import { deliveryOutcomeOf } from './deliveryOutcome';

/** What notices are sent with. */
export interface NoticeTools {
  readonly outbound: Pick<OutboundSender, 'post'>;
  /** Null: no mail is sent here. */
  readonly mailer: Pick<Mailer, 'send'> | null;
  readonly signal?: AbortSignal | undefined;
}

/** Where a notice is sent to. */
export interface NoticeReceiver extends Pick<Destination, 'url'> {
  readonly kind: ChannelKind;
  readonly chatId: string | null;
}

/** The scheme of an address of mail in the URL of a destination. */
export const MAILTO = 'mailto:';

/** Answers with which a chat says that nothing can be sent there any more, besides 410. */
const GONE: { readonly [kind in ChannelKind]: readonly number[] } = {
  slack: [404],
  discord: [404],
  telegram: [401, 403, 404],
  email: [],
};

/** What Telegram says with 400 of a chat that is not there under its id: a group that became a supergroup has another one. */
const GONE_CHAT = /"migrate_to_chat_id":|chat not found/;

/** The pause that the body of an answer asks for, in ms. Telegram and Discord write it there, in seconds. */
function retryAfterIn(answer: string): number | undefined {
  const [, seconds] = /"retry_after":\s*(\d{1,6}(?:\.\d+)?)/.exec(answer) ?? [];
  return seconds === undefined ? undefined : Math.ceil(Number(seconds) * 1_000);
}

const chatOutcome = (kind: ChannelKind, sent: OutboundOutcome) =>
  deliveryOutcomeOf(sent, ({ status, answer, retryAfterMs }) => ({
    isGone:
      status === 410 ||
      GONE[kind].includes(status) ||
      (kind === 'telegram' && status === 400 && GONE_CHAT.test(answer)),
    // It does not take this message, at whatever time.
    isRefused: status === 400 || status === 413,
    retryAfterMs: retryAfterMs ?? (status === 429 ? retryAfterIn(answer) : undefined),
  }));

const mailOutcome = (sent: MailOutcome) =>
  // 535: this installation could not log in, which is not about this mail.
  deliveryOutcomeOf(sent, ({ status }) => ({ isRefused: status >= 550 && status < 560 }));

/** How a notice is written for a chat. */
const BODY_OF: {
  readonly [kind in ChatKind]: (notice: Notice, chatId: string) => object;
} = { slack: slackBody, discord: discordBody, telegram: telegramBody };

/** Sends a notice once. `id` is the same for the same notice. Never throws for what the receiver does. */
export async function sendNotice(
  { outbound, mailer, signal }: NoticeTools,
  receiver: NoticeReceiver,
  notice: Notice,
  id: string,
): Promise<DeliveryOutcome> {
  const { kind, url, chatId } = receiver;
  if (kind !== 'email') {
    const body = JSON.stringify(BODY_OF[kind](notice, chatId ?? ''));
    const headers = { 'content-type': 'application/json; charset=utf-8', 'user-agent': 'orgwallet-notices' };
    return chatOutcome(kind, await outbound.post({ url, headers, body, signal }));
  }
  if (!mailer) {
    const message = 'no mail is sent here: SMTP_URL is not set';
    return deliveryOutcomeOf({ fault: 'refused', message, durationMs: 0 }, () => ({}));
  }
  return mailOutcome(await mailer.send({ to: url.slice(MAILTO.length), ...mailOf(notice), id, signal }));
}
