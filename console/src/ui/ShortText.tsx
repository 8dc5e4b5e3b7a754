import { Tooltip, TooltipAnchor, TooltipProvider } from '@ariakit/react/tooltip';
import { announce } from '../state/announcement.ts';
import styles from './short-text.module.css';
import { useCopy } from './useCopy.ts';

interface Props {
  /** An address, an id or a hash. */
  readonly text: string;
  /** What it is, such as `address of Treasury`. */
  readonly of: string;
  readonly head?: number;
  readonly tail?: number;
}

/** The ends of an address, an id or a hash. The whole of it is shown on focus and copied on a click. */
export function ShortText({ text, of, head = 8, tail = 6 }: Props) {
  const { isCopied, copy } = useCopy(text);
  const copyAndSay = async () => {
    if (await copy()) announce('Copied');
  };
  return (
    <TooltipProvider timeout={200}>
      <TooltipAnchor
        render={<button type="button" className={styles.shortText} onClick={() => void copyAndSay()} />}
      >
        <span className="hidden-visually">Copy {of}, </span>
        <code>{text.length > head + tail + 1 ? `${text.slice(0, head)}…${text.slice(-tail)}` : text}</code>
        <svg className={styles.shortTextIcon} viewBox="0 0 16 16" aria-hidden="true">
          {isCopied ? <path d="M3 8.5 6.5 12 13 4.5" /> : <path d="M5.5 5.5h7v8h-7zM3.5 10.5v-8h7" />}
        </svg>
      </TooltipAnchor>
      <Tooltip className={styles.wholeText}>
        <code>{text}</code>
      </Tooltip>
    </TooltipProvider>
  );
}

/** An id of the service: `acc_…` and its last digits, where ids differ. */
export function ShortId({ id, of }: { readonly id: string; readonly of: string }) {
  return <ShortText text={id} of={of} head={id.indexOf('_') + 1} tail={6} />;
}
