import { PayloadMismatch, type Schema } from '@orgwallet/client';
import {
  type AbiParameter,
  bytesToBigInt,
  bytesToHex,
  concat,
  decodeAbiParameters,
  encodeAbiParameters,
  type Hex,
  hexToBytes,
  keccak256,
  numberToHex,
  parseAbiParameters,
  size,
  stringToHex,
} from 'viem';

type Parameter = Schema['FunctionParameter'];

/** A value as the JSON of a list has it: numbers are texts. */
const jsonOf = (value: unknown): unknown =>
  Array.isArray(value) ? value.map(jsonOf) : typeof value === 'boolean' ? value : String(value);

/** The one text that a parameter is shown with. */
function textOf(value: unknown): string {
  const json = jsonOf(value);
  return typeof json === 'string' ? json : JSON.stringify(json);
}

const WORD = 32;

/** A type for viem, which does not know the type of functions: it is encoded as their bytes. */
const inputOf = (type: string) =>
  parseAbiParameters(type.replace(/\bfunction\b/g, 'bytes24')) as [AbiParameter];

const isDynamic = (type: string) => /\[\]|\bbytes\b|\bstring\b/.test(type);

interface Component {
  readonly type: string;
  readonly components?: readonly Component[];
}

/** The words of static types. */
const wordsOf = (components: readonly Component[]): number =>
  components.reduce((sum, { type, components: inner = [] }) => {
    const lengths = [...type.matchAll(/\[([0-9]+)\]/g)].reduce(
      (product, [, length]) => product * Number(length),
      1,
    );
    return sum + lengths * (type.startsWith('tuple') ? wordsOf(inner) : 1);
  }, 0);

/** The size of a parameter in the head, in bytes. */
const headOf = (type: string) => WORD * (isDynamic(type) ? 1 : wordsOf(inputOf(type)));

/** The bytes of a word that its type requires to be zero: from, to. */
function paddingOf(type: string): readonly [number, number] {
  if (type === 'address') return [0, 12];
  if (type === 'bool') return [0, 31];
  const [, kind, digits] = /^(uint|bytes)([0-9]+)$/.exec(type === 'function' ? 'bytes24' : type) ?? [];
  if (kind === 'uint') return [0, WORD - Number(digits) / 8];
  return kind === 'bytes' ? [Number(digits), WORD] : [0, 0];
}

/** Whether a decoded value has a text that the service cannot store. */
const hasNul = (value: unknown): boolean =>
  Array.isArray(value) ? value.some(hasNul) : typeof value === 'string' && value.includes('\0');

/** A parameter with which bytes begin: its canonical encoding, and its text. */
interface Encoded {
  readonly encoding: Hex;
  readonly text: string;
}

/** The parameter with which the bytes begin; undefined where they begin with no canonical encoding of one. */
function encodedIn(type: string, bytes: Uint8Array): Encoded | undefined {
  try {
    const data = bytesToHex(bytes);
    const values = decodeAbiParameters(inputOf(type), data);
    const encoding = encodeAbiParameters(inputOf(type), values);
    return data.startsWith(encoding) && !hasNul(values) ? { encoding, text: textOf(values[0]) } : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the service shows a parameter as its bytes say it: in other words it could say something else to people. */
const isShown = ({ unread, value }: Parameter, read: Encoded | undefined): boolean =>
  unread || read === undefined ? unread === true && read === undefined && value === '' : value === read.text;

const byteCount = (count: number) => `${count} byte${count === 1 ? '' : 's'}`;

/** A parameter in the bytes: what is odd, and for a dynamic one where it begins and ends. */
interface Read extends Encoded {
  readonly dirty: number;
  readonly from: number;
  readonly end: number;
}

/** Reads a parameter that is one or more words; undefined where it has no canonical encoding. */
function readStatic(type: string, words: Uint8Array, least: number): Read | undefined {
  const padding = words.subarray(...paddingOf(type));
  const dirty = padding.filter((byte) => byte !== 0).length;
  padding.fill(0);
  const encoded = encodedIn(type, words);
  return encoded && { ...encoded, dirty, from: least, end: least };
}

/** Reads a parameter from where its word says that it begins, which is nowhere before `least`. */
function readDynamic(type: string, word: Uint8Array, bytes: Uint8Array, least: number): Read | undefined {
  const from = word.length === WORD ? Number(bytesToBigInt(word)) : -1;
  if (from < least || from > bytes.length) return undefined;
  const offset = numberToHex(WORD, { size: WORD });
  const encoded = encodedIn(type, hexToBytes(concat([offset, bytesToHex(bytes.slice(from))])));
  return encoded && { ...encoded, dirty: 0, from, end: from + size(encoded.encoding) - WORD };
}

/** How the parameters in these bytes are not encoded canonically; undefined where they are not the ones that are shown. */
function faultsOf(bytes: Uint8Array, parameters: readonly Parameter[]): string[] | undefined {
  const faults: string[] = [];
  let head = 0;
  let least = parameters.reduce((sum, { type }) => sum + headOf(type), 0);
  // Where the next dynamic parameter would begin; undefined behind one that cannot be read.
  let place: number | undefined = least;
  for (const [i, parameter] of parameters.entries()) {
    const { type } = parameter;
    const words = bytes.slice(head, head + headOf(type));
    head += headOf(type);
    const read: Read | undefined = isDynamic(type)
      ? readDynamic(type, words, bytes, least)
      : readStatic(type, words, least);
    if (!isShown(parameter, read)) return undefined;
    faults.push(
      ...oddness(read, isDynamic(type) ? place : undefined).map((odd) => `parameter ${i + 1}: ${odd}`),
    );
    if (isDynamic(type)) place = read?.end;
    least = read?.end ?? least;
  }
  const after = place === undefined ? 0 : bytes.length - place;
  return after > 0 ? [`${byteCount(after)} after its parameters`, ...faults] : faults;
}

/** What is odd about a parameter, which would begin at this place. */
function oddness(read: Read | undefined, place: number | undefined): string[] {
  if (read === undefined) return ['cannot be read'];
  const { dirty, from } = read;
  return [
    ...(dirty > 0 ? [`${byteCount(dirty)} that should be zero`] : []),
    ...(place === undefined || place === from ? [] : [`begins at byte ${from}, not ${place}`]),
  ];
}

/** The name of a function or a parameter, which no source of a contract has with other characters: they would read as more. */
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

/** How a decoded call is not encoded canonically; undefined where it is not the call that is shown. */
function encodingFaultsOf(calldata: string, functionName: string, parameters: readonly Parameter[]) {
  const names = [functionName, ...parameters.flatMap(({ name }) => name || [])];
  if (!names.every((name) => IDENTIFIER.test(name))) return undefined;
  const types = parameters.map(({ type }) => type).join(',');
  const selector = keccak256(stringToHex(`${functionName}(${types})`)).slice(0, 10);
  if (calldata.slice(0, 10).toLowerCase() !== selector) return undefined;
  try {
    return faultsOf(hexToBytes(`0x${calldata.slice(10)}`), parameters);
  } catch {
    // A type that is none.
    return undefined;
  }
}

/**
 * Makes sure that a call is decoded as its calldata says: each parameter is decoded again, and has the one text of its
 * value; how the calldata is not canonical is what the service reports. Throws PayloadMismatch.
 */
export function checkDecoded({
  calldata,
  functionName,
  functionParameters = [],
  encodingFaults = [],
}: Schema['ContractInteractionData']): void {
  const reported = encodingFaults.join('\n');
  if (functionName === undefined && functionParameters.length === 0 && reported === '') return;
  const faults =
    functionName === undefined ? undefined : encodingFaultsOf(calldata, functionName, functionParameters);
  if (faults && faults.join('\n') === reported) return;
  const values = functionParameters.map(({ value }) => value).join(', ');
  throw new PayloadMismatch('message.data', `${functionName}(${values})`, calldata);
}
