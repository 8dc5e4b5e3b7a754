import { type AuthorizationEntry, type JournalEntry, JournalError, type RejectionEntry } from './entries';
import { recordOfRows } from './tableRows';

/** One line: an entry, and what chains it to the line before it. */
export interface JournalLine {
  /** From 1. */
  readonly line: number;
  /** SHA-256 of the text of the line before it; of the first one, zeros. */
  readonly previous: string;
  /** The lease under which it was written. */
  readonly epoch: string;
  /** ISO 8601. */
  readonly at: string;
  readonly entry: JournalEntry;
}

/**
 * The version of the lines that are written. A field that changes its name or its meaning, or that readers must know, makes
 * the next one: `upgraded` then reads the lines before, for ever.
 *
 * 1: lines without a version; a transaction has `rows`, its rows in Postgres as JSON text. 2: `record` in their place.
 */
const VERSION = 2;

type Type = JournalEntry['type'];
type EntryOf<T extends Type, E = JournalEntry> = E extends { readonly type: infer U }
  ? T extends U
    ? E
    : never
  : never;
type FieldOf<E> = E extends unknown ? keyof E : never;

const OF = { type: true, organizationId: true } as const;
const FREEZE = { ...OF, id: true } as const;
const NONCE = { accountId: true, networkId: true, safeNonce: true, safeTxHash: true } as const;
/** What an authorization and a rejection have in common. */
const DECIDED: Readonly<Record<keyof AuthorizationEntry & keyof RejectionEntry, true>> = {
  ...{ ...OF, transactionId: true, accountId: true, networkId: true, policyId: true, initiatorId: true },
  ...{ tokenAddress: true, amount: true, destination: true, replaces: true, record: true },
};

/** What a line has of each type of entry: these fields, and no others. */
const FIELDS: { readonly [T in Type]: Readonly<Record<FieldOf<EntryOf<T>>, true>> } = {
  created: { type: true, installationId: true },
  authorization: {
    ...{ ...DECIDED, ...NONCE, account: true, to: true, value: true, data: true, safeTxGas: true },
    ...{ fromBlock: true, authorizedAt: true, evidence: true },
  },
  rejection: { ...DECIDED, expiresAt: true },
  cancellation: { ...OF, transactionId: true, ...NONCE },
  outcome: { ...OF, transactionId: true, outcome: true, blockAt: true, usedAt: true },
  gas: {
    ...{ ...OF, kind: true, networkId: true, relayerAddress: true, relayerNonce: true },
    ...{ gas: true, maxFeePerGas: true },
  },
  freeze: FREEZE,
  unfreeze: FREEZE,
  cutoff: { ...OF, expiresUntil: true },
  seal: { ...OF, sequence: true, hash: true, body: true, signature: true },
  unknownExecution: { ...OF, ...NONCE, transactionHash: true },
  upkeep: { ...OF, ...NONCE, safe: true, to: true, data: true, safeTxGas: true, sequence: true },
};

/** The text of a line, without its line feed. */
export function lineText({ line, previous, epoch, at, entry }: JournalLine): string {
  const fields = Object.entries(entry).filter(([name]) => Object.hasOwn(FIELDS[entry.type], name));
  return JSON.stringify({ version: VERSION, line, previous, epoch, at, entry: Object.fromEntries(fields) });
}

/** A line as it is in a file: of this version, or of an earlier one. */
type WrittenLine = Omit<JournalLine, 'entry'> & {
  readonly version?: number;
  readonly entry: { readonly type: string; readonly rows?: string };
};

/** The entry of a line of any version, as it is today. */
function upgraded({ version = 1, entry }: WrittenLine): JournalEntry {
  const { rows, ...rest } = entry;
  const hasRows = version === 1 && rows !== undefined;
  return (hasRows ? { ...rest, record: recordOfRows(rows) } : entry) as JournalEntry;
}

const DAMAGED = 'the file was damaged or changed: restore it from its backup (docs/runbook.md)';

/** Parses the text of a line, of this version or of an earlier one. Throws JournalError. */
export function parseLine(text: string): JournalLine {
  let parsed: WrittenLine | null;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new JournalError(`invalid JSON: ${DAMAGED}`);
  }
  if (typeof parsed?.entry?.type !== 'string') throw new JournalError(`it has no entry: ${DAMAGED}`);
  const { version = 1, line, previous, epoch, at, entry } = parsed;
  if (version > VERSION || !Object.hasOwn(FIELDS, entry.type)) {
    throw new JournalError(
      `version ${version} of "${entry.type}" is of a newer build, and this one reads up to ${VERSION}: start the newer one`,
    );
  }
  return { line, previous, epoch, at, entry: upgraded(parsed) };
}

/** Throws JournalError unless a line is the one of this number, after the one with this hash. */
export function assertFollows(parsed: JournalLine, line: number, previous: string): void {
  if (parsed.line !== line) throw new JournalError(`its number is ${parsed.line}: ${DAMAGED}`);
  if (parsed.previous !== previous) {
    throw new JournalError(`it does not follow the line before it: ${DAMAGED}`);
  }
}
