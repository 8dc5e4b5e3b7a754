import { fitting, listLine, plainBeginning, quotedBeginning } from './summary';
import type { ContractInteraction } from './transactionContent';

/** A parameter of a decoded call; `name` is empty where only its type is known, `value` is always a text, empty where it is `unread`. */
export interface FunctionParameter {
  readonly name: string;
  readonly type: string;
  readonly value: string;
  readonly unread?: boolean;
}

/** A call as it was decoded. */
export interface CallWords {
  readonly functionName: string;
  readonly functionParameters: readonly FunctionParameter[];
  /** Absent where the calldata is the canonical encoding. */
  readonly encodingFaults?: readonly string[];
}

/** Longest name of a function or a parameter, longest text out of the calldata, and longest list of values, in bytes of UTF-8. */
export const MAX_FUNCTION_BYTES = 48;
export const MAX_TEXT_BYTES = 120;
const MAX_LIST_BYTES = 180;

/** Longest bytes on a line, in bytes. */
const MAX_BYTES = 64;

/** A text from the calldata, in quotes; of a long one the beginning. */
function foreign(text: string): string {
  const shown = quotedBeginning(text, MAX_TEXT_BYTES);
  return shown.endsWith('"') ? shown : `${shown} (${[...text].length} characters)`;
}

/** A value of an array or tuple, as JSON has it. */
type Listed = string | boolean | readonly Listed[];

function listedText(value: Listed): string {
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'string' ? foreign(value) : `[${fitting(value, MAX_LIST_BYTES, listedText)}]`;
}

function valueText({ type, value, unread }: FunctionParameter): string {
  if (unread) return 'cannot be read';
  if (type.endsWith(']') || type.startsWith('(')) return listedText(JSON.parse(value));
  if (type === 'string') return foreign(value);
  const bytes = value.length / 2 - 1;
  if (type === 'bytes' && bytes > MAX_BYTES) return `${value.slice(0, 2 + 2 * MAX_BYTES)}… (${bytes} bytes)`;
  return value;
}

/** The parameters of a decoded call, a line for each; one without a name is counted. */
export function parameterLines({ functionParameters }: Pick<CallWords, 'functionParameters'>): string[] {
  return functionParameters.map((parameter, i) => {
    const name = parameter.name === '' ? String(i + 1) : plainBeginning(parameter.name, MAX_FUNCTION_BYTES);
    return `${name}: ${valueText(parameter)}`;
  });
}

function withText(count: number, noun: string): string {
  if (count === 0) return `without ${noun}s`;
  return `with ${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Which function of which contract is called, and how much with it. */
export function calledText(
  { contractAddress, selector }: Pick<ContractInteraction, 'contractAddress' | 'selector'>,
  { calldata, call }: { readonly calldata: string; readonly call: CallWords | null },
  maxNameBytes = MAX_FUNCTION_BYTES,
): string {
  if (call) {
    const { functionName, functionParameters } = call;
    const name = plainBeginning(functionName, maxNameBytes);
    return `Call ${name} of ${contractAddress} ${withText(functionParameters.length, 'parameter')}`;
  }
  const bytes = calldata.length / 2 - 1;
  const called =
    selector === null ? contractAddress : `the unknown function ${selector} of ${contractAddress}`;
  return `Call ${called} ${bytes === 0 ? 'without calldata' : `${withText(bytes, 'byte')} of calldata`}`;
}

/** How a call is not encoded canonically: a line, or none. */
export const encodingLines = (call: Pick<CallWords, 'encodingFaults'> | null): string[] =>
  call?.encodingFaults ? [listLine('NOT ENCODED CANONICALLY: ', call.encodingFaults)] : [];
