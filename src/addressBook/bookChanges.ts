import { type AdminRequest, asAdmin } from '../credentials/adminRequest';
import {
  type AddressBookContent,
  type AddressBookEntry,
  countAddressBook,
  deleteAddressBookEntry,
  findAddressBookEntry,
  findHolders,
  insertAddressBookEntries,
  listNamedByAdmins,
  updateAddressBookEntries,
} from '../db/addressBook';
import { type AuditInput, appendAudit } from '../db/audit';
import type { Db, Tx } from '../db/database';
import type { StoredAnswer } from '../db/idempotency';
import { newId } from '../db/ids';
import { setPositions } from '../db/positions';
import type { Actor } from '../domain/actor';
import type { JsonValue } from '../domain/canonicalJson';
import { credentialDetail } from '../domain/credential';
import { foldName } from '../domain/names';
import { accept, type Result, refuse } from '../domain/refusal';
import { type Edit, type NamedAddress, placeOf, refuseExcess, refuseTaken } from './edits';

/** What a change is about. */
type BookRequest = AdminRequest;

/** What a change makes of the entries that it finds. */
type Rule = (tx: Tx) => Promise<Result<readonly Edit[]>>;

const shown = (content: AddressBookContent | undefined): JsonValue =>
  content ? { name: content.name, address: content.address, networkId: content.networkId } : null;

function auditEntry(edit: Edit, actor: Actor, credentialId: string): AuditInput {
  const { id, before, after } = edit;
  return {
    action: `addressBookEntry.${before ? (after ? 'updated' : 'removed') : 'created'}`,
    actor,
    resourceType: 'addressBookEntry',
    resourceId: id,
    details: { ...credentialDetail(credentialId), before: shown(before), after: shown(after) },
  };
}

/** Refuses edits that the book, or what the admins have named, does not permit. Reads no entry but those in their way. */
async function refuseEdits(
  tx: Tx,
  organizationId: string,
  edits: readonly Edit[],
): Promise<ReturnType<typeof refuse> | undefined> {
  const contents = edits.flatMap(({ after }) => after ?? []);
  if (contents.length === 0) return undefined;
  const excess = refuseExcess(edits, await countAddressBook(tx, organizationId));
  if (excess) return excess;
  const holders = await findHolders(tx, organizationId, {
    foldedNames: contents.map(({ foldedName }) => foldedName),
    addresses: contents.map(({ address }) => address),
  });
  return refuseTaken(edits, holders, await listNamedByAdmins(tx, organizationId));
}

async function writeEdits(tx: Tx, organizationId: string, edits: readonly Edit[]): Promise<void> {
  const created = edits.flatMap(({ before, after }) => (after && !before ? [after] : []));
  const updated = edits.flatMap(({ before, after }) => (after && before ? [after] : []));
  await insertAddressBookEntries(tx, organizationId, created);
  if (updated.length > 0) await updateAddressBookEntries(tx, updated);
  for (const { id, after } of edits) if (!after) await deleteAddressBookEntry(tx, id);
}

/**
 * Changes an address book as an admin asks, audited, and stores the answer of the request, all in one transaction: sent again, it
 * finds its answer.
 */
async function changeBook(
  db: Db,
  request: BookRequest,
  rule: Rule,
  answerOf: (tx: Tx, edits: readonly Edit[]) => StoredAnswer | Promise<StoredAnswer>,
): Promise<Result<StoredAnswer>> {
  const { organizationId, credentialId } = request;
  return asAdmin(db, request, 'addressBook', async (tx, admin) => {
    const ruled = await rule(tx);
    if (!ruled.ok) return ruled;
    const edits = ruled.value;
    const refused = await refuseEdits(tx, organizationId, edits);
    if (refused) return refused;
    await writeEdits(tx, organizationId, edits);
    const recorded = edits.map((edit) => auditEntry(edit, admin, credentialId));
    const positions = await appendAudit(tx, organizationId, recorded);
    const isCreated = edits.map(({ before }) => before === undefined);
    await setPositions(
      tx,
      'address_book_entries',
      edits.filter((_, i) => isCreated[i]).map(({ id }) => id),
      positions.filter((_, i) => isCreated[i]),
    );
    return accept(await answerOf(tx, edits));
  });
}

const contentOf = (id: string, { name, address, networkId }: NamedAddress): AddressBookContent => ({
  id,
  name,
  foldedName: foldName(name),
  address,
  networkId,
});

/** Makes the answer about one entry. */
type AnswerOfOne = (entry: AddressBookEntry) => StoredAnswer;

function existing(entry: AddressBookEntry | undefined): AddressBookEntry {
  if (!entry) throw new Error('the entry that was changed is not there');
  return entry;
}

/** Gives an address a name. Refuses a taken name or address, and more than MAX_ENTRIES. */
export function createEntry(
  db: Db,
  request: BookRequest & { readonly id: string; readonly content: NamedAddress },
  answerOf: AnswerOfOne,
): Promise<Result<StoredAnswer>> {
  const { organizationId, id, content } = request;
  const rule: Rule = async () => accept([{ id, after: contentOf(id, content) }]);
  return changeBook(db, request, rule, async (tx) =>
    answerOf(existing(await findAddressBookEntry(tx, organizationId, id))),
  );
}

const notFound = () => refuse('notFound', 'entry not found in this organization');

/** Changes an entry: what `change` does not have stays. Refuses as `createEntry` does, and with `notFound`. */
export function updateEntry(
  db: Db,
  request: BookRequest & { readonly id: string; readonly change: Partial<NamedAddress> },
  answerOf: AnswerOfOne,
): Promise<Result<StoredAnswer>> {
  const { organizationId, id, change } = request;
  const rule: Rule = async (tx) => {
    const before = await findAddressBookEntry(tx, organizationId, id);
    return before ? accept([{ id, before, after: contentOf(id, { ...before, ...change }) }]) : notFound();
  };
  return changeBook(db, request, rule, async (tx) =>
    answerOf(existing(await findAddressBookEntry(tx, organizationId, id))),
  );
}

/** Removes an entry. The answer is about what was removed. */
export function removeEntry(
  db: Db,
  request: BookRequest & { readonly id: string },
  answerOf: AnswerOfOne,
): Promise<Result<StoredAnswer>> {
  const { organizationId, id } = request;
  let removed: AddressBookEntry | undefined;
  const rule: Rule = async (tx) => {
    removed = await findAddressBookEntry(tx, organizationId, id);
    return removed ? accept([{ id, before: removed }]) : notFound();
  };
  return changeBook(db, request, rule, () => answerOf(existing(removed)));
}

/** A row of an import, and where it is. */
export interface ImportedRow extends NamedAddress {
  /** Such as `csv[line 3]`. */
  readonly at: string;
}

/** What an import did. */
interface Imported {
  readonly created: number;
  readonly updated: number;
  /** Rows that say what the book says already. */
  readonly unchanged: number;
}

/**
 * Gives each address of a file its name there: new ones are created, others get the name. All rows, or none; refuses as
 * `createEntry` does, with the line.
 */
export function importEntries(
  db: Db,
  request: BookRequest & { readonly rows: readonly ImportedRow[] },
  answerOf: (imported: Imported) => StoredAnswer,
): Promise<Result<StoredAnswer>> {
  const { organizationId, rows } = request;
  const rule: Rule = async (tx) => {
    const addresses = rows.map(({ address }) => address);
    const entries = await findHolders(tx, organizationId, { foldedNames: [], addresses });
    const byPlace = new Map(entries.map((one) => [placeOf(one), one]));
    const edits = rows.flatMap(({ at, ...content }): Edit[] => {
      const before = byPlace.get(placeOf(content));
      const id = before?.id ?? newId('adr');
      if (before?.name === content.name) return [];
      return [{ id, ...(before ? { before } : {}), after: contentOf(id, content), at }];
    });
    return accept(edits);
  };
  return changeBook(db, request, rule, (_, edits) => {
    const updated = edits.filter(({ before }) => before !== undefined).length;
    return answerOf({ created: edits.length - updated, updated, unchanged: rows.length - edits.length });
  });
}
