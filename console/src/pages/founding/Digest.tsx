import { spokenHash, type VerifiedGenesis } from '@orgwallet/client';
import type { DigestComparison } from '../../domain/digestComparison.ts';
import { utf8Length } from '../../domain/utf8.ts';
import { comparisonText } from '../../text/founding.ts';
import { Copy } from '../../ui/Copy.tsx';
import { DeviceLimits } from '../../ui/DeviceLimits.tsx';
import { TextField } from '../../ui/Field.tsx';
import { HashList } from '../../ui/HashList.tsx';
import { Section } from '../../ui/Page.tsx';
import foundingStyles from './founding.module.css';

interface Props {
  readonly genesis: VerifiedGenesis;
  readonly typed: string;
  readonly comparison: DigestComparison;
  readonly onTyped: (typed: string) => void;
}

/** The digest, to be compared with that of the others. */
export function Digest({ genesis, typed, comparison, onTyped }: Props) {
  const stateBytes = utf8Length(genesis.typedData.message.state);
  return (
    <Section title="Digest" id="digest" aside={<Copy text={genesis.digest} of="the digest" />}>
      <div className="card stack">
        <p className={foundingStyles.spoken}>
          <code>{spokenHash(genesis.digest)}</code>
        </p>
        <p>
          One founder reads it aloud, another writes it on the board. Sign only if every founder has the same.
        </p>
        <TextField
          label="Digest on the board"
          className="mono"
          value={typed}
          onChange={({ target }) => onTyped(target.value)}
          {...comparisonText(comparison)}
        />
        <DeviceLimits field={stateBytes} all={stateBytes} />
        <details>
          <summary>Hashes to compare with a hardware wallet</summary>
          <HashList hashes={genesis} />
        </details>
      </div>
    </Section>
  );
}
