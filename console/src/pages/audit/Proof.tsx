import { useSession } from '../../api/useSession.ts';
import { Copy } from '../../ui/Copy.tsx';

function Command({ text }: { readonly text: string }) {
  return (
    <p className="row">
      <code>{text}</code> <Copy text={text} of="the command" />
    </p>
  );
}

/** What proves the log, and how: a page that reads it from the service cannot. */
export function Proof() {
  const { organization } = useSession();
  return (
    <details className="card audit-proof">
      <summary>
        <b>Proof</b> <span className="muted">not checked by this page: how to verify the log</span>
      </summary>
      <div className="stack-small">
        <p>
          Each entry carries the hash of the one before it, and the database refuses to change or remove one.
          This page shows the log as the service reads it. An operator verifies the whole chain: the command
          names the first broken entry, or prints the last hash, to be kept in another place:
        </p>
        <Command text={`npx orgwallet audit verify --org ${organization.id}`} />
        <p>
          On the host of the signer, the proof of all decisions is written to a file. Anybody can check it
          offline, from the signatures of the founders on:
        </p>
        <Command text={`npx orgwallet audit export --org ${organization.id} --out proof.jsonl`} />
        <Command text="npx orgwallet audit prove proof.jsonl" />
      </div>
    </details>
  );
}
