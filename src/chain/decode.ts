import type { AbiParameter, Hex } from 'viem';
import { addressOf } from './address';
import { selectorOf, standardFunctions } from './functions';
import { bytesOf } from './keccak';

/** A decoded parameter, as the API shows it. */
interface DecodedParameter {
  /** Empty where only its type is known. */
  readonly name: string;
  /** Canonical, such as `(address,uint256)[]`. */
  readonly type: string;
  /**
   * Decimal digits, a checksummed address, true or false, 0x hex of bytes, or the text itself; for arrays and tuples
   * the JSON of an array of these, numbers as texts.
   */
  readonly value: string;
  /** It cannot be read, and its value is empty; absent where it can. */
  readonly unread?: boolean;
}

/** A call, decoded from its calldata. */
interface DecodedCall {
  readonly functionName: string;
  readonly functionParameters: readonly DecodedParameter[];
  /** How its encoding is not the canonical one; absent where it is. */
  readonly encodingFaults?: readonly string[];
}

/** A type of the ABI. `size` is in bytes in the head: of the value itself, or of the offset to it. */
type AbiType = { readonly name: string; readonly dynamic: boolean; readonly size: number } & (
  | { readonly kind: 'elementary' }
  | { readonly kind: 'array'; readonly of: AbiType; readonly length: number | null }
  | { readonly kind: 'tuple'; readonly of: readonly AbiType[] }
);

/** A decoded value, as JSON represents it. */
type Value = string | boolean | readonly Value[];

const WORD = 32;
const SELECTOR_BYTES = 4;
/** The largest parameters that are shown, in characters: a deep type can make much of little calldata. */
const MAX_SHOWN_LENGTH = 1_000_000;

/** The calldata is not an encoding of the types, or not the canonical one. */
class NotEncoded extends Error {
  override readonly name = 'NotEncoded';
}

function elementary(name: string): AbiType {
  return { kind: 'elementary', name, dynamic: name === 'bytes' || name === 'string', size: WORD };
}

function arrayOf(of: AbiType, digits: string): AbiType {
  const length = digits === '' ? null : Number(digits);
  const dynamic = length === null || of.dynamic;
  // Larger than any calldata: the exact size does not matter.
  const size = dynamic ? WORD : length * of.size;
  return { kind: 'array', name: `${of.name}[${digits}]`, of, length, dynamic, size };
}

function listSize(types: readonly AbiType[]): number {
  return types.reduce((sum, { size }) => sum + size, 0);
}

function tupleOf(of: readonly AbiType[]): AbiType {
  // No compiler makes one, and a list of them could have any length.
  if (of.length === 0) throw new NotEncoded();
  const dynamic = of.some((component) => component.dynamic);
  const name = `(${of.map((component) => component.name).join(',')})`;
  return { kind: 'tuple', name, of, dynamic, size: dynamic ? WORD : listSize(of) };
}

/** Reads the types of a canonical list that begins at the parenthesis; answers where it ends. */
function readTypes(text: string, start: number): [AbiType[], number] {
  const types: AbiType[] = [];
  let at = start + 1;
  while (text[at] !== ')') {
    const [type, end] = readType(text, at);
    types.push(type);
    at = text[end] === ',' ? end + 1 : end;
  }
  return [types, at + 1];
}

const NAME = /[a-z0-9]+/y;
const SUFFIX = /\[([0-9]*)\]/y;

function readType(text: string, start: number): [AbiType, number] {
  let type: AbiType;
  let at: number;
  if (text[start] === '(') {
    const [of, end] = readTypes(text, start);
    type = tupleOf(of);
    at = end;
  } else {
    NAME.lastIndex = start;
    const name = NAME.exec(text)?.[0];
    if (name === undefined) throw new Error(`there is no type at ${start} of ${text}`);
    type = elementary(name);
    at = start + name.length;
  }
  for (;;) {
    SUFFIX.lastIndex = at;
    const suffix = SUFFIX.exec(text);
    if (!suffix) return [type, at];
    type = arrayOf(type, suffix[1] ?? '');
    at += suffix[0].length;
  }
}

function bigEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
}

const hexOf = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}`;

function areZero(bytes: Uint8Array): boolean {
  for (const byte of bytes) if (byte !== 0) return false;
  return true;
}

/** The value of one word, of a type that one word holds. */
function readWord(name: string, word: Uint8Array): Value {
  const assert = (holds: boolean) => {
    if (!holds) throw new NotEncoded();
  };
  if (name === 'address') {
    assert(areZero(word.subarray(0, 12)));
    return addressOf(word.subarray(12));
  }
  if (name === 'bool') {
    assert(areZero(word.subarray(0, WORD - 1)) && (word[WORD - 1] ?? 2) <= 1);
    return word[WORD - 1] === 1;
  }
  const [, kind, digits] = /^(uint|int|bytes)([0-9]+)$/.exec(name === 'function' ? 'bytes24' : name) ?? [];
  if (kind === 'bytes') {
    assert(areZero(word.subarray(Number(digits))));
    return hexOf(word.subarray(0, Number(digits)));
  }
  const bits = Number(digits);
  const number = bigEndian(word);
  if (kind === 'uint') {
    assert(number >> BigInt(bits) === 0n);
    return String(number);
  }
  if (kind !== 'int') throw new Error(`unknown type ${name}`);
  const signed = BigInt.asIntN(256, number);
  assert(BigInt.asIntN(bits, signed) === signed);
  return String(signed);
}

/**
 * Reads calldata from its beginning to its end, in the order in which an encoder writes it. It stops as soon as the
 * result would be too long to show.
 *
 * Not viem's decoder: calldata is hostile. viem follows offsets wherever they point, so that bytes can be left out or
 * read twice, and little calldata can decode to gigabytes.
 */
class Reader {
  /** The required position of the next dynamic value: nothing is read twice, and no byte is skipped. */
  private tail = 0;
  /** Minimum length of the values read so far, in characters. */
  private shown = 0;

  constructor(private readonly bytes: Uint8Array) {}

  private show(characters: number): void {
    this.shown += characters;
    if (this.shown > MAX_SHOWN_LENGTH) throw new NotEncoded();
  }

  private take(from: number, length: number): Uint8Array {
    if (from + length > this.bytes.length) throw new NotEncoded();
    return this.bytes.subarray(from, from + length);
  }

  private takeLength(): number {
    const length = bigEndian(this.take(this.tail, WORD));
    this.tail += WORD;
    if (length > BigInt(this.bytes.length)) throw new NotEncoded();
    return Number(length);
  }

  /** A text or bytes, padded with zeros to whole words. */
  private takeBytes(): Uint8Array {
    const length = this.takeLength();
    const padded = Math.ceil(length / WORD) * WORD;
    const bytes = this.take(this.tail, padded);
    if (!areZero(bytes.subarray(length))) throw new NotEncoded();
    this.tail += padded;
    return bytes.subarray(0, length);
  }

  /** The members of a list whose heads begin where the tail is now. */
  private readList(types: readonly AbiType[], size: number): Value[] {
    const base = this.tail;
    this.take(base, size);
    this.tail = base + size;
    let head = base;
    return types.map((type) => {
      const value = this.read(type, base, head);
      head += type.size;
      return value;
    });
  }

  /** A number of consecutive members; refused before anything of that size is allocated. */
  private readMembers(
    of: AbiType,
    length: number,
    read: (types: AbiType[], size: number) => Value[],
  ): Value[] {
    const size = length * of.size;
    if (size > this.bytes.length) throw new NotEncoded();
    return read(
      Array.from({ length }, () => of),
      size,
    );
  }

  private readStatic(type: AbiType, head: number): Value {
    if (type.kind === 'elementary') return readWord(type.name, this.take(head, WORD));
    this.show('[]'.length);
    let at = head;
    const readOne = (of: AbiType) => {
      const value = this.readStatic(of, at);
      at += of.size;
      return value;
    };
    if (type.kind === 'tuple') return type.of.map(readOne);
    return this.readMembers(type.of, type.length ?? 0, (types) => types.map(readOne));
  }

  private read(type: AbiType, base: number, head: number): Value {
    if (!type.dynamic) return this.readStatic(type, head);
    if (bigEndian(this.take(head, WORD)) !== BigInt(this.tail - base)) throw new NotEncoded();
    if (type.kind === 'tuple') return this.readList(type.of, listSize(type.of));
    if (type.kind === 'array') {
      const length = type.length ?? this.takeLength();
      return this.readMembers(type.of, length, (types, size) => this.readList(types, size));
    }
    return type.name === 'bytes' ? hexOf(this.takeBytes()) : this.readText();
  }

  private readText(): string {
    let text: string;
    try {
      text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(this.takeBytes());
    } catch (error) {
      throw error instanceof NotEncoded ? error : new NotEncoded();
    }
    // Postgres cannot store it.
    if (text.includes('\0')) throw new NotEncoded();
    return text;
  }

  /** The parameters of a call: all of the bytes. */
  readAll(types: readonly AbiType[]): Value[] {
    const values = this.readList(types, listSize(types));
    if (this.tail !== this.bytes.length) throw new NotEncoded();
    return values;
  }

  /**
   * A parameter of a call by itself, with where its dynamic part begins and ends: nowhere before `least`, so that nothing is
   * read twice. null where it has no canonical encoding there.
   */
  readAlone(type: AbiType, head: number, least: number): { value: Value; from: number; end: number } | null {
    try {
      const from = type.dynamic ? Number(bigEndian(this.take(head, WORD))) : least;
      if (from < least) return null;
      this.tail = from;
      return { value: this.read(type, 0, head), from, end: this.tail };
    } catch (error) {
      if (error instanceof NotEncoded) return null;
      throw error;
    }
  }
}

const shownAs = (value: Value) => (typeof value === 'string' ? value : JSON.stringify(value));

function decodeAs(
  signature: string,
  inputs: readonly AbiParameter[],
  parameters: Uint8Array,
): DecodedCall | null {
  const start = signature.indexOf('(');
  try {
    const [types] = readTypes(signature, start);
    const values = new Reader(parameters).readAll(types);
    const functionParameters = types.map(({ name: type }, i) => {
      const value = values[i] ?? '';
      return { name: inputs[i]?.name ?? '', type, value: shownAs(value) };
    });
    const length = functionParameters.reduce((sum, { value }) => sum + value.length, 0);
    return length > MAX_SHOWN_LENGTH ? null : { functionName: signature.slice(0, start), functionParameters };
  } catch (error) {
    if (error instanceof NotEncoded) return null;
    throw error;
  }
}

/** The signature of a known function and the names of its parameters; null for another. */
function knownFunction(
  calldata: string,
  signatures: readonly string[],
): { signature: string; inputs: readonly AbiParameter[] } | null {
  if (calldata.length < 2 + 2 * SELECTOR_BYTES) return null;
  const selector = calldata.slice(0, 10).toLowerCase();
  const standard = standardFunctions().get(selector);
  const own = signatures.find((entry) => !entry.startsWith('0x') && selectorOf(entry) === selector);
  const signature = own ?? standard?.signature;
  if (signature === undefined) return null;
  return { signature, inputs: standard?.signature === signature ? standard.abi.inputs : [] };
}

const parametersOf = (calldata: string) => bytesOf(`0x${calldata.slice(10)}` as Hex);

/**
 * Decodes a call whose function is known: one of `signatures` (canonical, as a policy names them; selectors among them
 * are skipped), else a standard one. Returns null for any other function, and for calldata that is not
 * the canonical encoding of the decoded parameters.
 *
 * The work is linear in the size of the calldata: each value begins where the previous one ends. `calldata` is
 * 0x hex of whole bytes. Source: Solidity ABI specification.
 */
export function decodeCall(calldata: string, signatures: readonly string[]): DecodedCall | null {
  const known = knownFunction(calldata, signatures);
  return known && decodeAs(known.signature, known.inputs, parametersOf(calldata));
}

/** The bytes of a word that its type requires to be zero: from, to. None where the type has no such bytes. */
function paddingOf(name: string): readonly [number, number] {
  if (name === 'address') return [0, 12];
  if (name === 'bool') return [0, WORD - 1];
  const [, kind, digits] = /^(uint|bytes)([0-9]+)$/.exec(name === 'function' ? 'bytes24' : name) ?? [];
  if (kind === 'uint') return [0, WORD - Number(digits) / 8];
  return kind === 'bytes' ? [Number(digits), WORD] : [0, 0];
}

/** Sets the padding of a parameter that is one word to zero, in place; answers how many bytes were not. */
function clearPadding(type: AbiType, word: Uint8Array): number {
  if (type.kind !== 'elementary') return 0;
  const padding = word.subarray(...paddingOf(type.name));
  const dirty = padding.filter((byte) => byte !== 0).length;
  padding.fill(0);
  return dirty;
}

const byteCount = (count: number) => `${count} byte${count === 1 ? '' : 's'}`;

/** The parameters that can be read where the encoding is not canonical (null for others), and what is odd. */
function readLaxly(
  types: readonly AbiType[],
  bytes: Uint8Array,
): { values: (Value | null)[]; faults: string[] } {
  const reader = new Reader(bytes);
  const faults: string[] = [];
  let head = 0;
  let least = listSize(types);
  // Where the next dynamic part would begin; null behind one that cannot be read.
  let place: number | null = least;
  const values = types.map((type, i) => {
    const at = head;
    head += type.size;
    const fault = (text: string) => faults.push(`parameter ${i + 1}: ${text}`);
    const dirty = clearPadding(type, bytes.subarray(at, head));
    const read = reader.readAlone(type, at, least);
    if (!read) {
      fault('cannot be read');
      if (type.dynamic) place = null;
      return null;
    }
    if (dirty > 0) fault(`${byteCount(dirty)} that should be zero`);
    if (type.dynamic) {
      if (place !== null && read.from !== place) fault(`begins at byte ${read.from}, not ${place}`);
      least = read.end;
      place = read.end;
    }
    return read.value;
  });
  const after = place === null ? 0 : bytes.length - place;
  return { values, faults: after > 0 ? [`${byteCount(after)} after its parameters`, ...faults] : faults };
}

/**
 * Reads a call for people: as decodeCall, but a known function is named whatever its encoding, since contracts accept
 * more than the canonical one. What is odd is reported beside the parameters, and those that have no canonical encoding
 * of their own are marked. null as well where the parameters are too long to show. Nothing is permitted by what this reads.
 */
export function readCall(calldata: string, signatures: readonly string[]): DecodedCall | null {
  const canonical = decodeCall(calldata, signatures);
  const known = canonical ? null : knownFunction(calldata, signatures);
  if (!known) return canonical;
  const { signature, inputs } = known;
  const start = signature.indexOf('(');
  const types = typesOf(signature, start);
  if (!types) return null;
  const { values, faults } = readLaxly(types, parametersOf(calldata));
  const functionParameters = types.map(({ name: type }, i) => {
    const parameter = { name: inputs[i]?.name ?? '', type };
    const value = values[i] ?? null;
    return value === null
      ? { ...parameter, value: '', unread: true }
      : { ...parameter, value: shownAs(value) };
  });
  const length = functionParameters.reduce((sum, { value }) => sum + value.length, 0);
  if (faults.length === 0 || length > MAX_SHOWN_LENGTH) return null;
  return { functionName: signature.slice(0, start), functionParameters, encodingFaults: faults };
}

/** The types of a signature; null for one that no compiler makes. */
function typesOf(signature: string, start: number): AbiType[] | null {
  try {
    return readTypes(signature, start)[0];
  } catch (error) {
    if (error instanceof NotEncoded) return null;
    throw error;
  }
}

/**
 * Why calldata of a restricted function is refused: contracts accept encodings that nobody who approves the call can read as
 * what it does. Null where it is the canonical encoding, and for any other function.
 */
export function restrictedEncodingFault(calldata: string): string | null {
  const known = standardFunctions().get(calldata.slice(0, 10).toLowerCase());
  if (!known?.restricted || decodeCall(calldata, []) !== null) return null;
  return `calls the restricted function ${known.signature} and must then be its canonical ABI encoding, without other bytes`;
}
