import { type Hex, keccak256 } from 'viem';
import { describe, linesOf, restOf, visible } from './describe.ts';
import { PayloadMismatch } from './errors.ts';
import { anyId, Matcher, match } from './expectation.ts';
import { assertFormats } from './fieldFormats.ts';
import type { Before, Intent, OperationIntent, OperationType, TransactionIntent } from './intent.ts';
import { actionOf, EXPECTED_DATA, namedIn } from './operationData.ts';
import { OPERATION_SHAPES } from './operationShape.ts';
import { type Hashes, hashesOf, type Statement, statementOf, type VoteType } from './payload.ts';
import type { PinStore } from './pins.ts';
import type { Change } from './records.ts';
import { readSignedData } from './signedData.ts';
import { checkSummary, isIn } from './summary.ts';
import { callOf, isNative, spentBy } from './transactionCall.ts';

/** What else is known about what is signed. What is given is compared. */
export interface Known {
  /** The id of the proposal or transaction. */
  readonly id?: string;
  readonly vote?: VoteType;
  /** The summary that was shown: its lines as one text, as a record has it. */
  readonly summary?: string;
  /** Its `expiresAt`, as it was shown. */
  readonly expiresAt?: string;
  /** The initiator's signature, encoded as it was sent: approvals and rejections are bound to it. */
  readonly initiatorSignature?: Hex | undefined;
  readonly before?: Before;
  readonly pins?: PinStore;
  /** The id of the organization of a proposal. */
  readonly organization?: string;
  /** The address of the account of a transaction. */
  readonly account?: string;
  /** Of the token that is sent, where the intent does not have them. */
  readonly decimals?: number | undefined;
}

/** A payload that is what was asked for. */
export interface Verified extends Statement, Hashes {
  /** What it does, made from the bytes alone, line by line. */
  readonly description: string;
  /** Of a proposal: what it changes, read from the bytes. It has the fields of its kind, and no other. */
  readonly change?: Change;
  /**
   * The lines of a change that the intent does not have in so many words: they are what the service says that it was
   * before, or has added. Without an intent all of them.
   */
  readonly rest: readonly string[];
}

const seconds = (date: string) => String(Math.floor(Date.parse(date) / 1_000));

/** The longest time for which a signature may count: longer than any reasonable lifetime of a proposal. */
const MAX_LIFETIME_S = 366 * 24 * 3_600;

const validExpiry = new Matcher('a future time within 366 days', (got) => {
  const left = Number(got) - Date.now() / 1_000;
  return left > 0 && left < MAX_LIFETIME_S;
});

const visibleText = new Matcher(
  'a text without unseen characters',
  (got) => typeof got === 'string' && visible(got) === got,
);

const isTransaction = (intent: Intent): intent is TransactionIntent =>
  intent.type === 'transfer' || intent.type === 'call';

function checkTransaction(
  { typedData }: Statement,
  intent: TransactionIntent | undefined,
  { account, decimals }: Known,
): void {
  const { domain, message } = typedData;
  if (account) match('domain.verifyingContract', account, domain.verifyingContract);
  if (intent) {
    const call = callOf(intent);
    match('domain.chainId', intent.networkId, domain.chainId);
    match('domain.verifyingContract', intent.account, domain.verifyingContract);
    for (const [field, asked] of Object.entries({ ...spentBy(call), to: call.to, value: call.value })) {
      match(`message.${field}`, asked, message[field as keyof typeof message]);
    }
    match('message.data', call.data.toLowerCase(), message.data?.toLowerCase());
    if (intent.policyId) match('message.policyId', intent.policyId, message.policyId);
  }
  // A wallet shows these three beside the call: they must be what the call sends.
  for (const [field, asked] of Object.entries(spentBy(message)))
    match(`message.${field}`, asked, message[field as keyof typeof message]);
  // What a transfer of a token sends besides, nobody is shown.
  if (!isNative(message.token)) match('message.value', '0', message.value);
  checkSummary(typedData, intent, (intent?.type === 'transfer' ? intent.decimals : undefined) ?? decimals);
}

type ExpectedData = (asked: OperationIntent<OperationType>, before: Before) => unknown;

const expectedData = (intent: OperationIntent, before: Before) =>
  (EXPECTED_DATA[intent.type] as ExpectedData)(intent, before);

/** Throws TypeError for what asks for nothing: it would be compared with nothing. */
function assertIntent(intent: Intent): void {
  const type = String((intent as Intent | null)?.type);
  const isOperation = Object.hasOwn(EXPECTED_DATA, type);
  if (!isOperation && type !== 'transfer' && type !== 'call') {
    const expected = ['transfer', 'call', ...Object.keys(EXPECTED_DATA)].join(', ');
    throw new TypeError(`intent: invalid type "${type}" (expected one of ${expected})`);
  }
  if (isOperation) assertFormats(intent, '');
}

/** Compares a change with the fields that its kind has: what is beside them would be shown and have no effect. */
function checkShape(message: Statement['typedData']['message'], data: unknown): Change {
  const { resourceType = '', action = '' } = message;
  const kind = `${resourceType}.${action}`;
  if (!Object.hasOwn(OPERATION_SHAPES, kind)) {
    throw new PayloadMismatch('message.action', 'a kind of operation', kind);
  }
  match('message.data', OPERATION_SHAPES[kind], data);
  return { resourceType, action, data } as Change;
}

function checkOperation(
  { typedData: { message } }: Statement,
  intent: OperationIntent | undefined,
  before: Before,
): Change {
  const text = message.data ?? '';
  const { data, text: canonical } = readSignedData(text);
  match('message.data', canonical, text);
  if (!intent) return checkShape(message, data);
  const [resourceType] = intent.type.split('.');
  match('message.resourceType', resourceType, message.resourceType);
  match('message.action', actionOf(intent), message.action);
  match('message.data', expectedData(intent, before), data);
  const summary = message.summary.join('\n');
  const missing = namedIn(intent).find((name) => !isIn(summary, name));
  // It may have no room for all.
  if (missing !== undefined && !summary.endsWith(' shown: data has all')) {
    throw new PayloadMismatch('message.summary', `a text that has ${missing}`, summary);
  }
  return checkShape(message, data);
}

/** The first payload decides which organization this is; no later one may be of another. */
function checkPin({ typedData: { domain, message } }: Statement, pins: PinStore): void {
  const [organization, salt] = [message.organization ?? '', domain.salt ?? ''];
  const pin = pins.get(organization);
  if (pin) match('message.organization', pin.organization, organization);
  if (pin) match('domain.salt', pin.salt, salt);
  else pins.set({ organization, salt });
}

function checkKnown({ subject, vote, typedData: { message } }: Statement, known: Known): void {
  const idField = subject === 'proposal' ? 'proposalId' : 'transactionId';
  match('vote', known.vote ?? vote, vote);
  match(`message.${idField}`, known.id ?? anyId(subject === 'proposal' ? 'prop' : 'txn'), message[idField]);
  if (known.summary !== undefined) match('message.summary', known.summary.split('\n'), message.summary);
  // It is shown, and what turns its direction would make it read otherwise.
  match('message.summary', visibleText, message.summary.join());
  if (known.expiresAt !== undefined) match('message.expiresAt', seconds(known.expiresAt), message.expiresAt);
  match('message.expiresAt', validExpiry, message.expiresAt);
  if (known.initiatorSignature && message.initiatorSignatureHash) {
    match(
      'message.initiatorSignatureHash',
      keccak256(known.initiatorSignature),
      message.initiatorSignatureHash,
    );
  }
}

/**
 * Makes sure that a payload is what the caller asked for, before it is signed: the message is made again from the
 * intent and compared field by field, domain and hashes are computed again. A proposal must also be of the organization
 * of the first payload (`known.pins`). Without an intent, which is for a request of somebody else, only what is
 * contradictory in itself, or unknown, is refused: show `description` to whoever decides.
 *
 * Throws PayloadMismatch with the field, what was asked and what is there; TypeError for an intent that asks for nothing,
 * such as `null`, or for an address, id or amount that is none.
 *
 * @example
 * const { digest, typedData } = verify(payload, { type: 'members.remove', ids: ['mem_…'] }, { vote: 'approve' });
 */
export function verify(payload: string, intent?: Intent, known: Known = {}): Verified {
  if (intent !== undefined) assertIntent(intent);
  const read = statementOf(payload);
  if (intent) match('primaryType', isTransaction(intent) ? 'transaction' : 'proposal', read.subject);
  checkKnown(read, known);
  if (read.subject === 'transaction') {
    checkTransaction(read, intent as TransactionIntent | undefined, known);
    return { ...read, ...hashesOf(read), description: describe(read), rest: [] };
  }
  const asked = intent as OperationIntent | undefined;
  if (known.organization) {
    match('message.organization', known.organization, read.typedData.message.organization);
  }
  const change = checkOperation(read, asked, known.before ?? {});
  if (known.pins) checkPin(read, known.pins);
  const rest = [...(asked ? restOf(expectedData(asked, {}), change.data) : linesOf(change.data, ''))];
  return { ...read, ...hashesOf(read), description: describe(read), change, rest };
}
