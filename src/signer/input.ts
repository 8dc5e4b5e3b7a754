import { plainBeginning } from '../domain/summary';
import { SignerRefusal } from './refusal';

const ID = /^[a-z0-9_]{1,100}$/;

const MAX_SHOWN_BYTES = 100;

/** A value of a message as a refusal shows it: of a long one the beginning. It goes into logs and histories. */
export function shownInput(value: unknown): string {
  return plainBeginning(JSON.stringify(value) ?? 'nothing', MAX_SHOWN_BYTES);
}

/**
 * Throws SignerRefusal unless fields of a message to the signer have the form of ids, and `networkId` that of a number, if it is
 * among them: whoever can reach its queue writes the message.
 */
export function assertIds(input: unknown, ...fields: readonly string[]): void {
  const values = Object(input) as Readonly<Record<string, unknown>>;
  const isValid = (field: string) => {
    const value = values[field];
    return field === 'networkId' ? Number.isSafeInteger(value) : typeof value === 'string' && ID.test(value);
  };
  const wrong = fields.find((field) => !isValid(field));
  if (wrong === undefined) return;
  const expected = wrong === 'networkId' ? 'the id of a network' : 'an id';
  throw new SignerRefusal('stale', `invalid ${wrong} (expected ${expected})`);
}
