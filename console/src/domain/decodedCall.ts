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

/** The value of a parameter as viem takes it. */
function argumentOf({ type, value }: Parameter): unknown {
  if (/[\])]$/.test(type)) return JSON.parse(value);
  return type === 'bool' ? value === 'true' : value;
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

/** The canonical encoding of a parameter with which the bytes begin; undefined where they begin with none. */
function encodingIn(type: string, bytes: Uint8Array): Hex | undefined {
  try {
    const data = bytesToHex(bytes);
    const values = decodeAbiParameters(inputOf(type), data);
    const encoded = encodeAbiParameters(inputOf(type), values);
    return data.startsWith(encoded) && !hasNul(values) ? encoded : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the service shows a parameter as its encoding says it. */
function isShown(parameter: Parameter, encoding: Hex | undefined): boolean {
  if (parameter.unread || encoding === undefined) {
    return parameter.unread === true && encoding === undefined && parameter.value === '';
  }
  try {
    return encodeAbiParameters(inputOf(parameter.type), [argumentOf(parameter)]) === encoding;
  } catch {
    return false;
  }
}

const byteCount = (count: number) => `${count} byte${count === 1 ? '' : 's'}`;

/** A parameter in the bytes: its canonical encoding, what is odd, and for a dynamic one where it begins and ends. */
interface Read {
  readonly encoding: Hex;
  readonly dirty: number;
  readonly from: number;
  readonly end: number;
}

/** Reads a parameter that is one or more words; undefined where it has no canonical encoding. */
function readStatic(type: string, words: Uint8Array, least: number): Read | undefined {
  const padding = words.subarray(...paddingOf(type));
  const dirty = padding.filter((byte) => byte !== 0).length;
  padding.fill(0);
  const encoding = encodingIn(type, words);
  return encoding && { encoding, dirty, from: least, end: least };
}

/** Reads a parameter from where its word says that it begins, which is nowhere before `least`. */
function readDynamic(type: string, word: Uint8Array, bytes: Uint8Array, least: number): Read | undefined {
  const from = word.length === WORD ? Number(bytesToBigInt(word)) : -1;
  if (from < least || from > bytes.length) return undefined;
  const offset = numberToHex(WORD, { size: WORD });
  const encoding = encodingIn(type, hexToBytes(concat([offset, bytesToHex(bytes.slice(from))])));
  return encoding && { encoding, dirty: 0, from, end: from + size(encoding) - WORD };
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
    if (!isShown(parameter, read?.encoding)) return undefined;
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

/** How a decoded call is not encoded canonically; undefined where it is not the call that is shown. */
function encodingFaultsOf(calldata: string, functionName: string, parameters: readonly Parameter[]) {
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
 * Makes sure that a call is decoded as its calldata says: each parameter is decoded and encoded again, and how the
 * calldata is not canonical is what the service reports. Throws PayloadMismatch.
 */
export function checkDecoded({
  calldata,
  functionName,
  functionParameters = [],
  encodingFaults = [],
}: Schema['ContractInteractionData']): void {
  const reported = encodingFaults.join('\n');
  if (functionName === undefined && functionParameters.length === 0 && reported === '') return;
  const faults = functionName && encodingFaultsOf(calldata, functionName, functionParameters);
  if (faults && faults.join('\n') === reported) return;
  const values = functionParameters.map(({ value }) => value).join(', ');
  throw new PayloadMismatch('message.data', `${functionName}(${values})`, calldata);
}
