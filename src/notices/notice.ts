import { visible } from '../domain/quoted';

/** What people are told. It links to a page of the console, and never to anything that acts. */
export interface Notice {
  /** What has happened, in words of this service alone. */
  readonly title: string;
  /** Texts of other people are among them; each is one line, on which everything can be seen. */
  readonly lines: readonly string[];
  /** A page of the console; null where no origin is set. */
  readonly link: string | null;
}

/** Makes a notice. What cannot be seen in its lines is escaped, also what would begin another line. */
export function noticeOf(title: string, lines: readonly string[], link: string | null): Notice {
  return { title, lines: lines.map(visible), link };
}
