import {
  type AbiFunction,
  type AbiParameter,
  encodeFunctionData,
  getAddress,
  type Hex,
  isAddress,
  isHex,
  parseAbi,
  size,
  toFunctionSignature,
} from 'viem';
import { INVALID_ADDRESS } from './address.ts';

/** What was typed: its value, or what is wrong with it. */
type Typed<T> = { readonly value: T } | { readonly error: string };

const WRITES = (item: { type: string; stateMutability?: string }): item is AbiFunction =>
  item.type === 'function' && item.stateMutability !== 'view' && item.stateMutability !== 'pure';

function functionsIn(text: string): readonly AbiFunction[] {
  if (/^\s*[[{]/.test(text)) {
    const read = JSON.parse(text);
    const items = Array.isArray(read) ? read : (read.abi ?? [read]);
    return items.filter(WRITES);
  }
  const lines = text
    .split('\n')
    .map((line) => line.trim().replace(/;$/, ''))
    .filter((line) => line !== '');
  const declared = lines.map((line) => (line.startsWith('function ') ? line : `function ${line}`));
  return (parseAbi(declared) as readonly AbiFunction[]).filter(WRITES);
}

/** Reads an ABI as JSON, or signatures line by line: the functions in it that change something. */
export function readAbi(text: string): Typed<readonly AbiFunction[]> {
  if (text.trim() === '') return { value: [] };
  try {
    const value = functionsIn(text);
    return value.length > 0
      ? { value }
      : { error: 'No function in it changes state (expected at least one that is not view or pure)' };
  } catch (error) {
    const { shortMessage, message } = error as Error & { shortMessage?: string };
    return {
      error: `Invalid ABI (expected JSON, or lines like mint(address to, uint256 amount)): ${shortMessage ?? message}`,
    };
  }
}

/** The name by which a function is chosen, with the types of its arguments. */
export const signatureOf = (item: AbiFunction): string => toFunctionSignature(item);

/**
 * Functions to choose from, each once: the same signature in two lists is one function. The one whose arguments have names
 * is kept.
 */
export function distinctFunctions(functions: readonly AbiFunction[]): readonly AbiFunction[] {
  const found = new Map<string, AbiFunction>();
  const isNamed = ({ inputs }: AbiFunction) => inputs.some(({ name }) => Boolean(name));
  for (const item of functions) {
    const signature = signatureOf(item);
    const before = found.get(signature);
    if (!before || (!isNamed(before) && isNamed(item))) found.set(signature, item);
  }
  return [...found.values()];
}

/** What an argument of a type looks like. */
export function exampleOf(type: string): string {
  if (type.endsWith(']')) return 'JSON, such as ["…", "…"]';
  if (type.startsWith('tuple')) return 'JSON, such as {"field": "…"}';
  if (type === 'address') return '0x and 40 hex digits';
  if (type === 'bool') return 'true or false';
  if (/^u?int/.test(type)) return 'a whole number';
  return type.startsWith('bytes') ? '0x and pairs of hex digits' : 'text';
}

function readInteger(type: string, text: string): Typed<bigint> {
  const [, unsigned = '', bits = '256'] = /^(u?)int(\d*)$/.exec(type) ?? [];
  if (!/^-?\d+$/.test(text)) return { error: 'Invalid integer (expected digits, in the smallest unit)' };
  const value = BigInt(text);
  const width = BigInt(bits || '256');
  const [least, most] =
    unsigned === 'u' ? [0n, 2n ** width - 1n] : [-(2n ** (width - 1n)), 2n ** (width - 1n) - 1n];
  return value < least || value > most ? { error: `Does not fit in ${type}` } : { value };
}

function readBytes(type: string, text: string): Typed<Hex> {
  if (!isHex(text) || text.length % 2 === 1)
    return { error: 'Invalid bytes (expected 0x and pairs of hex digits)' };
  const [, length = ''] = /^bytes(\d*)$/.exec(type) ?? [];
  return length !== '' && size(text) !== Number(length)
    ? { error: `${size(text)} bytes (expected ${length})` }
    : { value: text };
}

function readPlain(type: string, text: string): Typed<unknown> {
  if (type === 'string') return { value: text };
  const trimmed = text.trim();
  if (type === 'address') {
    return isAddress(trimmed) ? { value: getAddress(trimmed) } : { error: INVALID_ADDRESS };
  }
  if (type === 'bool') {
    return trimmed === 'true' || trimmed === 'false'
      ? { value: trimmed === 'true' }
      : { error: 'Invalid value (expected true or false)' };
  }
  if (/^u?int/.test(type)) return readInteger(type, trimmed);
  return readBytes(type, trimmed);
}

function readList(parameter: AbiParameter, given: unknown): Typed<unknown> {
  const [, type = '', length = ''] = /^(.*)\[(\d*)\]$/.exec(parameter.type) ?? [];
  if (!Array.isArray(given)) return { error: 'Invalid array (expected JSON in square brackets)' };
  if (length !== '' && given.length !== Number(length)) {
    return { error: `${given.length} entries (expected ${length})` };
  }
  const entries = given.map((entry) => readJson({ ...parameter, type }, entry));
  const wrong = entries.findIndex((entry) => 'error' in entry);
  const first = entries[wrong];
  return first && 'error' in first
    ? { error: `Entry ${wrong + 1}: ${first.error}` }
    : { value: entries.map((entry) => 'value' in entry && entry.value) };
}

function readTuple(parameters: readonly AbiParameter[], given: unknown): Typed<unknown> {
  if (typeof given !== 'object' || given === null)
    return { error: 'Invalid tuple (expected JSON in braces)' };
  const fields: { [name: string]: unknown } = {};
  for (const [index, parameter] of parameters.entries()) {
    const name = parameter.name ?? String(index);
    const read = readJson(parameter, (given as { [name: string]: unknown })[name]);
    if ('error' in read) return { error: `${name}: ${read.error}` };
    fields[name] = read.value;
  }
  return { value: fields };
}

function readJson(parameter: AbiParameter, given: unknown): Typed<unknown> {
  if (parameter.type.endsWith(']')) return readList(parameter, given);
  if (parameter.type === 'tuple') {
    return readTuple((parameter as { components?: readonly AbiParameter[] }).components ?? [], given);
  }
  // A number of JSON loses digits above 2^53.
  if (typeof given === 'number' && !Number.isSafeInteger(given)) {
    return { error: `Write ${given} in quotes: a JSON number loses digits` };
  }
  return given === undefined || typeof given === 'object'
    ? { error: `Missing (expected ${exampleOf(parameter.type)})` }
    : readPlain(parameter.type, String(given));
}

/** Reads an argument as it was typed. */
export function readArgument(parameter: AbiParameter, text: string): Typed<unknown> {
  if (!/\]$|^tuple/.test(parameter.type)) return readPlain(parameter.type, text);
  try {
    return readJson(parameter, JSON.parse(text));
  } catch {
    return { error: `Invalid JSON (expected ${exampleOf(parameter.type)})` };
  }
}

/** The calldata of a call, once every argument is right. */
export function calldataOf(item: AbiFunction, texts: readonly string[]): Hex | undefined {
  const read = item.inputs.map((parameter, index) => readArgument(parameter, texts[index] ?? ''));
  if (read.some((argument) => 'error' in argument)) return undefined;
  const args = read.map((argument) => ('value' in argument ? argument.value : undefined));
  return encodeFunctionData({ abi: [item], functionName: item.name, args });
}
