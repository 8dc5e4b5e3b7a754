import { useState } from 'react';
import { MAX_GENESIS_BYTES } from '../../domain/genesisFile.ts';
import { TextArea, TextField } from '../../ui/Field.tsx';
import { Section } from '../../ui/Page.tsx';

/** Where the genesis comes from: a file of the operator, or its text. */
export function GenesisFile({
  text,
  onText,
}: {
  readonly text: string;
  readonly onText: (text: string) => void;
}) {
  const [error, setError] = useState<string>();
  const read = async (file: File | undefined) => {
    if (!file) return;
    const isTooLarge = file.size > MAX_GENESIS_BYTES;
    setError(isTooLarge ? `${file.name} is too large for a genesis (at most 1 MB)` : undefined);
    onText(isTooLarge ? '' : await file.text());
  };
  return (
    <Section title="Genesis" id="genesis">
      <div className="card stack">
        <TextField
          type="file"
          label="File"
          accept=".json,application/json"
          hint="From the operator. It is read in this page and sent nowhere."
          error={error}
          onChange={({ target }) => void read(target.files?.[0])}
        />
        <TextArea
          label="Or its text"
          className="mono"
          rows={2}
          spellCheck={false}
          value={text}
          onChange={({ target }) => onText(target.value)}
        />
      </div>
    </Section>
  );
}
