import { plainBeginning } from '../../domain/summary';
import type { Notice } from '../notice';

/** Longest text of a notice, in bytes: Telegram refuses a message of more than 4,096 characters. */
const MAX_TEXT_BYTES = 3_600;

/**
 * The body of `sendMessage` of a bot of Telegram. Nothing is parsed: the parts that are formatted are given by their place, in
 * UTF-16 code units, and in what is `pre` Telegram finds neither mentions, links nor commands. Source: core.telegram.org/bots/api,
 * MessageEntity.
 */
export function telegramBody({ title, lines, link }: Notice, chatId: string): object {
  const text = plainBeginning(lines.join('\n'), MAX_TEXT_BYTES);
  const before = `${title}\n`;
  return {
    chat_id: chatId,
    text: [title, text, ...(link === null ? [] : [link])].join('\n'),
    entities: [
      { type: 'bold', offset: 0, length: title.length },
      { type: 'pre', offset: before.length, length: text.length },
    ],
    link_preview_options: { is_disabled: true },
  };
}
