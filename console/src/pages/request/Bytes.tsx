import type { Message, Payloads } from '@orgwallet/client';
import { utf8Length } from '../../domain/utf8.ts';
import { DeviceLimits } from '../../ui/DeviceLimits.tsx';
import { HashList } from '../../ui/HashList.tsx';
import { SignedLines } from '../../ui/SignedLines.tsx';
import styles from './bytes.module.css';

/** Of the lines that are signed: what a button signs is read out with it. */
export const SUMMARY_ID = 'what-is-signed';

const VOTES = [
  ['initiator', 'To sign as initiator'],
  ['approve', 'To approve'],
  ['reject', 'To reject'],
] as const;

/** How many bytes the longest field of a message has. */
function longestOf({ data = '', proposalId }: Message): number {
  const bytes = utf8Length(data);
  return proposalId ? bytes : Math.max(0, bytes / 2 - 1);
}

/** How many bytes a device gets: the longest field, and the lines of the summary. */
const allOf = (message: Message) =>
  message.summary.reduce((sum, line) => sum + utf8Length(line), longestOf(message));

/** What the payloads say, made from their bytes alone, and the hashes that a hardware wallet shows for each. */
export function Bytes({ payloads }: { readonly payloads: Payloads }) {
  const [verified] = Object.values(payloads);
  const [, ...fields] = verified?.description.split('\n') ?? [];
  const lines = verified?.typedData.message.summary ?? [];
  return (
    <div className={styles.bytes}>
      <SignedLines id={SUMMARY_ID} lines={lines} />
      {verified ? (
        <DeviceLimits field={longestOf(verified.typedData.message)} all={allOf(verified.typedData.message)} />
      ) : null}
      <details>
        <summary>All fields, decoded from the payload</summary>
        <pre>{fields.join('\n')}</pre>
      </details>
      <details>
        <summary>Hashes to compare with a hardware wallet</summary>
        {VOTES.map(([vote, title]) => {
          const hashes = payloads[vote];
          return hashes ? (
            <div key={vote}>
              <h3>{title}</h3>
              <HashList hashes={hashes} />
            </div>
          ) : null;
        })}
      </details>
    </div>
  );
}
