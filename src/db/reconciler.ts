import type { Note, ProposalAction, ResourceType } from '../domain/proposal';
import type { Db, Row } from './database';
import { lockProposal, readNow, updateProposal } from './proposals';

/** What the reconciler has to know of an open proposal. */
export interface OpenProposal {
  readonly organizationId: string;
  readonly proposalId: string;
  readonly resourceType: ResourceType;
  readonly action: ProposalAction;
  readonly processing: boolean;
  /** By the database's clock, in milliseconds. */
  readonly ageMs: number;
  /** Since its record last changed, in milliseconds. */
  readonly unchangedMs: number;
  /** Networks that it names and the deployment does not have, as far as no note says so. */
  readonly goneNetworks: readonly number[];
}

const NETWORK_GONE = 'networkGone';
const PAGE = 1_000;

/** What a note about a network that is gone says. */
function networkGoneMessage(networkId: number): string {
  return `this deployment no longer has the network ${networkId} that the proposal names: as long as it is missing, nothing can be done there. Reject it, or let it expire, unless the network comes back`;
}

function notYetNoted(names: readonly string[] | null, notes: readonly Note[] | null): number[] {
  const noted = new Set(notes?.filter(({ code }) => code === NETWORK_GONE).map(({ message }) => message));
  return (names ?? [])
    .map((name) => Number(name.slice('network:'.length)))
    .filter((networkId) => !noted.has(networkGoneMessage(networkId)));
}

/** Every open proposal of every organization, a page at a time, in the order of their ids. */
export async function* openProposals(
  db: Db,
  networkIds: readonly number[],
): AsyncGenerator<readonly OpenProposal[]> {
  const known = networkIds.map((id) => `network:${id}`);
  for (let after = ''; ; ) {
    const { rows } = await db.raw<{ rows: Row[] }>(
      `SELECT id, organization_id, resource_type, action, execution_status = 'processing' AS processing,
          (extract(epoch FROM now() - created_at) * 1000)::float8 AS age_ms,
          (extract(epoch FROM now() - updated_at) * 1000)::float8 AS unchanged_ms,
          gone.names AS gone, CASE WHEN gone.names IS NOT NULL THEN notes END AS notes
        FROM proposals, LATERAL (
          SELECT array_agg(name) AS names FROM unnest(names) AS name
          WHERE name LIKE 'network:%' AND name <> ALL (?::text[])
        ) gone
        WHERE closed_at IS NULL AND id > ? ORDER BY id LIMIT ?`,
      [known, after, PAGE],
    );
    if (rows.length > 0) {
      yield rows.map((row) => ({
        organizationId: row.organization_id,
        proposalId: row.id,
        resourceType: row.resource_type,
        action: row.action,
        processing: row.processing === true,
        ageMs: row.age_ms,
        unchangedMs: row.unchanged_ms,
        goneNetworks: notYetNoted(row.gone, row.notes),
      }));
    }
    if (rows.length < PAGE) return;
    after = rows.at(-1).id;
  }
}

/** How many proposals are open that were made at least so long ago, and when that was, by the database's clock. */
export async function countOpenProposals(
  db: Db,
  milliseconds: number,
): Promise<{ count: number; before: Date }> {
  const { rows } = await db.raw<{ rows: { count: number; before: Date }[] }>(
    `SELECT count(proposals.id)::integer AS count, before
      FROM (SELECT now() - make_interval(secs => ?::float8 / 1000) AS before) AS time
      LEFT JOIN proposals ON closed_at IS NULL AND created_at < before
      GROUP BY before`,
    [milliseconds],
  );
  const [counted] = rows;
  if (!counted) throw new Error('the database counted nothing');
  return counted;
}

/** Those of the given proposals that have been closed for at least so long. */
export async function closedFor(
  db: Db,
  proposalIds: readonly string[],
  milliseconds: number,
): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    `SELECT id FROM proposals WHERE id = ANY (?::text[])
      AND closed_at < now() - make_interval(secs => ?::float8 / 1000)`,
    [[...proposalIds], milliseconds],
  );
  return rows.map(({ id }) => id);
}

/** The message under which a run that was started again records itself. */
export function restoredMessageId(runId: string): string {
  return `restored/${runId}`;
}

/** How often the workflow of a proposal was started again in the last hour. */
export async function restoredLastHour(
  db: Db,
  { organizationId, proposalId }: { organizationId: string; proposalId: string },
): Promise<number> {
  const { rows } = await db.raw<{ rows: { count: number }[] }>(
    `SELECT count(*)::integer AS count FROM audit_log
      WHERE organization_id = ? AND resource_id = ? AND action = 'proposal.restored'
        AND created_at > now() - interval '1 hour'`,
    [organizationId, proposalId],
  );
  return rows[0]?.count ?? 0;
}

/** Says once on an open proposal that networks it names are gone. False when that has been said, or it is closed. */
export async function noteGoneNetworks(
  db: Db,
  { organizationId, proposalId, goneNetworks }: OpenProposal,
): Promise<boolean> {
  return db.transaction(async (tx) => {
    const now = await readNow(tx, organizationId, { lock: 'share' });
    const record = await lockProposal(tx, organizationId, proposalId);
    if (!record || record.closed) return false;
    const missing = notYetNoted(
      goneNetworks.map((id) => `network:${id}`),
      record.notes,
    );
    if (missing.length === 0) return false;
    const at = now.time.toISOString();
    const added = missing.map((id) => ({ at, code: NETWORK_GONE, message: networkGoneMessage(id) }));
    await updateProposal(tx, proposalId, { notes: [...record.notes, ...added] });
    return true;
  });
}
