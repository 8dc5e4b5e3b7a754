import { beginningOf } from '../../domain/summary';
import type { Notice } from '../notice';

/** Longest text of a block, in bytes: Slack refuses more than 3,000 characters, of what is escaped already. */
const MAX_TEXT_BYTES = 2_900;

const ENTITIES: { readonly [character: string]: string } = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** A text for Slack, in which nothing is a mention or a link. Source: docs.slack.dev, "Formatting message text", escaping. */
function slackText(text: string): string {
  return text.replace(/[&<>]/g, (character) => ENTITIES[character] ?? character);
}

/**
 * The body of an incoming webhook of Slack. What other people have written is in a block of type `plain_text`, in which no
 * markup counts; `text` is what a notification shows.
 */
export function slackBody({ title, lines, link }: Notice): object {
  const text = lines.join('\n');
  const shown = beginningOf(text, MAX_TEXT_BYTES, slackText);
  const whole = shown === text ? text : `${shown}…`;
  const plain = (content: string) => ({ type: 'plain_text', text: slackText(content), emoji: false });
  return {
    text: slackText(title),
    mrkdwn: false,
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      { type: 'header', text: plain(title) },
      { type: 'section', text: plain(whole) },
      ...(link === null
        ? []
        : [{ type: 'section', text: { type: 'mrkdwn', text: `<${slackText(link)}>`, verbatim: true } }]),
    ],
  };
}
