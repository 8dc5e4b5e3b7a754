import { type Intent, type Known, type PayloadMismatch, verify } from '@orgwallet/client';
import { canonicalJson } from '../../src/domain/canonicalJson';
import { signedDataText } from '../../src/domain/signedData';
import type { Json } from './document';
import { fieldOf, type Path, valuesIn, withValue } from './leaves';
import { dataIn } from './signedData';

/** Another value of the same form. */
function another(value: Json): Json {
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'boolean') return !value;
  if (typeof value !== 'string') return 'something';
  if (/^[0-9]+$/.test(value)) return String(BigInt(value) + 1n);
  if (/^0x[0-9a-fA-F]+$/.test(value)) return `${value.slice(0, -1)}${value.endsWith('7') ? '8' : '7'}`;
  return `${value}x`;
}

/** Typed data, with the data of a proposal as JSON and not as text. */
function opened(payload: string): Json {
  const typedData = JSON.parse(payload);
  return typedData.domain.salt
    ? withValue(typedData, ['message', 'data'], dataIn(typedData.message.data))
    : typedData;
}

/** The text of typed data that was opened. */
function closed(typedData: Json): string {
  const { data } = typedData.message;
  return canonicalJson(
    typeof data === 'string' ? typedData : withValue(typedData, ['message', 'data'], signedDataText(data)),
  );
}

const isLeaf = (value: Json) =>
  typeof value !== 'object' || value === null || Object.keys(value).length === 0;

/** The payload with one value changed, for every value in it, with its field. */
export function changedPayloads(payload: string): { field: string; path: Path; payload: string }[] {
  const typedData = opened(payload);
  return [...valuesIn(typedData)]
    .filter(([, value]) => isLeaf(value))
    .map(([path, value]) => ({
      path,
      field: fieldOf(path),
      payload: closed(withValue(typedData, path, another(value))),
    }));
}

/** The field of which `verify` reports that it is not what was asked; undefined when it finds nothing. */
export function refusedField(payload: string, intent: Intent | undefined, known: Known): string | undefined {
  try {
    verify(payload, intent, known);
    return undefined;
  } catch (error) {
    if ((error as Error).name !== 'PayloadMismatch') throw error;
    return (error as PayloadMismatch).field;
  }
}
