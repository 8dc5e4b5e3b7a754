import type { RecordRef } from '../domain/reconciliation';
import type { Refusal } from '../domain/refusal';
import type { Gone } from '../temporal/client';
import { recordWorkflowId, restartRecord } from '../temporal/records';
import { findWorkflow } from '../temporal/runs';
import type { CommandContext } from './context';
import { CommandRefused, type Output } from './output';
import { plainText, table } from './text';

/** How many of the newest records a list shows. */
export const MAX_LISTED = 100;

/** One record in a list. */
export interface ListedRecord {
  readonly id: string;
  readonly createdAt: string;
  readonly organizationId: string;
  readonly operation: string;
  /** Markdown. */
  readonly sentence: string;
  readonly failure: { readonly message: string } | null;
}

/** Lists of records are the same for every kind. `looked` is how many were looked at. */
export function tellRecords(
  output: Output,
  list: {
    readonly states: readonly object[];
    readonly rows: readonly ListedRecord[];
    readonly none: string;
    readonly looked: number;
  },
): void {
  output.result(
    list.states,
    table(
      ['id', 'created', 'organization', 'operation', 'where it stands'],
      list.rows.map((row) => [
        row.id,
        row.createdAt,
        row.organizationId,
        row.operation,
        plainText(row.sentence) + (row.failure ? ` ${row.failure.message}` : ''),
      ]),
      list.none,
    ),
  );
  if (list.looked === MAX_LISTED) output.note(`Only the newest ${MAX_LISTED} were looked at.`);
}

/** The signatures of a record, in the order in which they came. */
export function votesTable(
  votes: readonly {
    readonly type: string;
    readonly memberId: string;
    readonly signerAddress: string;
    readonly scheme: string;
    readonly createdAt: Date;
  }[],
): string {
  return table(
    ['signature', 'member', 'wallet', 'scheme', 'at'],
    votes.map((vote) => [
      vote.type,
      vote.memberId,
      vote.signerAddress,
      vote.scheme,
      vote.createdAt.toISOString(),
    ]),
    'No signatures yet.',
  );
}

/**
 * Sends an operator's message to the workflow of a record; one that is gone is started again first. Returns the state
 * that the message left. Throws CommandRefused.
 */
export async function askWorkflow<State>(
  { sender, output }: CommandContext,
  record: RecordRef,
  message: {
    /** What is asked, after "nothing is left to". */
    readonly verb: string;
    readonly send: () => Promise<
      { readonly ok: true; readonly state: State } | { readonly ok: false; readonly refusal: Refusal } | Gone
    >;
    /** How the record stands now; the sentence is Markdown. */
    readonly look: () => Promise<{ readonly closed: boolean; readonly sentence: string }>;
  },
): Promise<State> {
  const { kind, id } = record;
  let outcome = await message.send();
  if ('gone' in outcome && !(await message.look()).closed) {
    // Terminated by somebody, or lost with Temporal's data: it goes on from the record.
    const found = await findWorkflow(sender(), recordWorkflowId(record));
    if (found.status !== 'running') await restartRecord(sender(), record, found);
    output.note(`The workflow of ${id} was gone and has been started again.`);
    outcome = await message.send();
  }
  if ('gone' in outcome) {
    const { sentence } = await message.look();
    throw new CommandRefused(
      `${kind} ${id} is closed: nothing is left to ${message.verb}. ${plainText(sentence)}`,
    );
  }
  if (!outcome.ok) throw new CommandRefused(outcome.refusal.message);
  return outcome.state;
}
