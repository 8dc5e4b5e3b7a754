import { Impact } from '../../../ui/Impact.tsx';
import { Section } from '../../../ui/Page.tsx';
import { SignedLines } from '../../../ui/SignedLines.tsx';
import { ErrorNotice, Loading } from '../../../ui/States.tsx';
import type { usePreview } from './usePreview.ts';

function Preview({ query }: Pick<ReturnType<typeof usePreview>, 'query'>) {
  const { data, error, isPlaceholderData, refetch } = query;
  if (error) return <ErrorNotice error={error} retry={() => void refetch()} />;
  if (!data) return <Loading what="what the admins sign" />;
  return (
    <div className="stack" aria-live="polite" aria-busy={isPlaceholderData}>
      <SignedLines lines={data.summary.split('\n')} />
      <h3>What it would have permitted</h3>
      <Impact impact={data} />
    </div>
  );
}

/** What the admins will sign of the policy that is typed, and which of the last transactions it would have permitted. */
export function PolicyPreview({ query, isComplete }: ReturnType<typeof usePreview>) {
  return (
    <Section title="What the admins sign" id="preview">
      <div className="card">
        {isComplete ? (
          <Preview query={query} />
        ) : (
          <p className="muted">
            Fill in every field to read the sentences that the admins sign, and which of the last transactions
            it would have permitted.
          </p>
        )}
      </div>
    </Section>
  );
}
