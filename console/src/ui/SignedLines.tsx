import { Sentence } from './Sentence.tsx';
import styles from './signed-lines.module.css';

/** The lines that somebody signs, as the service has written them. */
export function SignedLines({ lines, id }: { readonly lines: readonly string[]; readonly id?: string }) {
  return (
    <ul id={id} className={styles.lines}>
      {lines.map((line, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line can be there twice, and none moves
        <li key={`${i} ${line}`}>
          <Sentence text={line} whole />
        </li>
      ))}
    </ul>
  );
}
