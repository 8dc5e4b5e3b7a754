import { plainBeginning } from '../../domain/summary';
import type { Notice } from '../notice';

/** Longest text of a notice, in bytes: Discord refuses a message of more than 2,000 characters. */
const MAX_TEXT_BYTES = 1_600;
/** SUPPRESS_EMBEDS of Discord's message flags. */
const WITHOUT_PREVIEWS = 4;

/**
 * A text that does not end the block of code around it, in which no markup, mention or link counts: what is not seen stands
 * between marks that follow each other.
 */
function discordText(text: string): string {
  return text.replaceAll('`', '`\u200b');
}

/** The body of a webhook of Discord. Source: Discord's "Execute Webhook"; nobody is mentioned, whatever the text says. */
export function discordBody({ title, lines, link }: Notice): object {
  const text = plainBeginning(discordText(lines.join('\n')), MAX_TEXT_BYTES);
  const parts = [`**${title}**`, '```', text, '```', ...(link === null ? [] : [`<${link}>`])];
  return { content: parts.join('\n'), allowed_mentions: { parse: [] }, flags: WITHOUT_PREVIEWS };
}
