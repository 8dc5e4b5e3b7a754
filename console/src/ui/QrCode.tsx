import { generate } from 'lean-qr';
import styles from './qr-code.module.css';

/** The quiet zone around a code, in modules. Source: ISO/IEC 18004. */
const QUIET = 4;

/** A text as a QR code. `of` says what it is, for those who do not see it. */
export function QrCode({ text, of }: { readonly text: string; readonly of: string }) {
  const code = generate(text);
  const places = Array.from({ length: code.size }, (_, index) => index);
  const path = places
    .flatMap((y) => places.filter((x) => code.get(x, y)).map((x) => `M${x} ${y}h1v1h-1z`))
    .join('');
  const size = code.size + 2 * QUIET;
  return (
    <svg
      className={styles.qrCode}
      role="img"
      aria-label={`QR code: ${of}`}
      viewBox={`${-QUIET} ${-QUIET} ${size} ${size}`}
      shapeRendering="crispEdges"
    >
      <path d={path} />
    </svg>
  );
}
