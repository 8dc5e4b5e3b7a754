import { useSession } from '../../api/useSession.ts';
import { brokenText, namesOfBroken, unbrokenText } from '../../text/auditProof.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Copy } from '../../ui/Copy.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { ShortText } from '../../ui/ShortText.tsx';
import auditStyles from './audit.module.css';
import type { AuditProof } from './useAuditProof.ts';

function Command({ text }: { readonly text: string }) {
  return (
    <p className="row">
      <code>{text}</code> <Copy text={text} of="the command" />
    </p>
  );
}

/** What this page has found: it computes every hash that it shows again. */
function Status({ proof: { list, breaks } }: { readonly proof: AuditProof }) {
  if (breaks.size > 0) {
    return (
      <Notice tone="danger" title="The audit log is broken" urgent>
        <p>
          {brokenText(breaks.size, list.entries.length)}: {namesOfBroken(breaks)}. The entries below say what
          differs. Report it to your operator.
        </p>
      </Notice>
    );
  }
  return (
    <p className="row">
      <Badge tone="good">Verified</Badge>
      <span>{unbrokenText(list)}</span>
    </p>
  );
}

/** The last hash, to be compared with what the command of the operator prints. */
function Newest({ proof: { list } }: { readonly proof: AuditProof }) {
  const [newest] = list.entries;
  if (!newest || list.isFiltered) return null;
  return (
    <p>
      Here entry {newest.position} is the newest one, with the hash{' '}
      <ShortText text={newest.hash} of={`hash of entry ${newest.position}`} />
    </p>
  );
}

/** What proves the log: what this page has checked, and the commands for what it cannot. */
export function Proof({
  count,
  proof,
}: {
  /** How many entries are shown. */
  readonly count: number;
  readonly proof: AuditProof | undefined;
}) {
  const { organization } = useSession();
  return (
    <section className={`card ${auditStyles.auditProof} stack-small`} aria-labelledby="proof">
      <h2 id="proof">Proof</h2>
      {count > 0 && !proof ? <p className="muted">Checking {count} entries…</p> : null}
      {count > 0 && proof ? <Status proof={proof} /> : null}
      <details className={auditStyles.auditCommands}>
        <summary>
          Not proved by this page: that the newest entries are all there, that nobody has recomputed all
          hashes, and the signatures of the seals
        </summary>
        <div className="stack-small">
          <p>
            An operator verifies the whole chain in the database: the command names the first broken entry, or
            prints the last hash, to be kept in another place:
          </p>
          <Command text={`./orgwallet audit verify --org ${organization.id}`} />
          {proof ? <Newest proof={proof} /> : null}
          <p>
            On the host of the signer, the proof of all decisions is written to a file. Anybody can check it
            offline, from the signatures of the founders on:
          </p>
          <Command text={`./orgwallet audit export --org ${organization.id} --out proof.jsonl`} />
          <Command text="./orgwallet audit prove proof.jsonl" />
        </div>
      </details>
    </section>
  );
}
