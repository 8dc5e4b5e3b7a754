import { plainBeginning } from '../../domain/summary';
import type { Notice } from '../notice';

/** Longest text of a notice and longest subject, in bytes. */
const MAX_TEXT_BYTES = 20_000;
const MAX_SUBJECT_BYTES = 200;

/** A mail in plain text. Its subject is one line, as all lines of a notice are. */
export function mailOf({ title, lines, link }: Notice): { readonly subject: string; readonly text: string } {
  const [organization = '', about] = lines;
  const subject = [organization, about === undefined ? title : `${title}: ${about}`].join(' ');
  const text = plainBeginning(lines.join('\n'), MAX_TEXT_BYTES);
  return {
    subject: plainBeginning(subject, MAX_SUBJECT_BYTES),
    text: `${[title, '', text, ...(link === null ? [] : ['', link])].join('\n')}\n`,
  };
}
