import { SignerRefusal } from './refusal';

/** Throws SignerRefusal unless fields of a message to the signer are texts: whoever can reach its queue writes it. */
export function assertTexts(input: unknown, ...fields: readonly string[]): void {
  const values = Object(input) as Readonly<Record<string, unknown>>;
  const missing = fields.find((field) => typeof values[field] !== 'string');
  if (missing) throw new SignerRefusal('stale', `invalid ${missing}: expected a string`);
}
