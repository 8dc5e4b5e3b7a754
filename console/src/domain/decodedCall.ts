import { PayloadMismatch, type Schema } from '@orgwallet/client';
import { encodeAbiParameters, type Hex, hexToBytes, keccak256, parseAbiParameters, stringToHex } from 'viem';

type Parameter = Schema['FunctionParameter'];

/** The value of a parameter as viem takes it. */
function argumentOf({ type, value }: Parameter): unknown {
  if (/[\])]$/.test(type)) return JSON.parse(value);
  return type === 'bool' ? value === 'true' : value;
}

/** The calldata of a decoded call; undefined where it has no encoding. */
function calldataOf(functionName: string, parameters: readonly Parameter[]): string | undefined {
  const types = parameters.map(({ type }) => type).join(',');
  try {
    const selector = keccak256(stringToHex(`${functionName}(${types})`)).slice(0, 10);
    // viem does not know the type of functions, which is encoded as their bytes.
    const inputs = types === '' ? [] : parseAbiParameters(types.replace(/\bfunction\b/g, 'bytes24'));
    return selector + encodeAbiParameters(inputs, parameters.map(argumentOf)).slice(2);
  } catch {
    return undefined;
  }
}

const byteCount = (count: number) => `${count} byte${count === 1 ? '' : 's'}`;
const bytesOf = (hex: string) => hexToBytes(hex as Hex);

/** The words that a parameter has in the head: one where it is dynamic. */
function wordsOf(type: string): number {
  if (/\[\]|\bbytes\b|\bstring\b/.test(type)) return 1;
  return tupleWords(parseAbiParameters(type.replace(/\bfunction\b/g, 'bytes24')) as readonly Component[]);
}

interface Component {
  readonly type: string;
  readonly components?: readonly Component[];
}

const tupleWords = (components: readonly Component[]): number =>
  components.reduce((sum, { type, components: inner = [] }) => {
    const lengths = [...type.matchAll(/\[([0-9]+)\]/g)].reduce(
      (product, [, length]) => product * Number(length),
      1,
    );
    return sum + lengths * (type.startsWith('tuple') ? tupleWords(inner) : 1);
  }, 0);

/** How calldata differs from the canonical one; undefined where it does not say these parameters. */
function faultsOf(calldata: string, canonical: string, types: readonly string[]): string[] | undefined {
  const [bytes, clean] = [bytesOf(calldata), bytesOf(canonical)];
  const after = bytes.length - clean.length;
  if (after < 0) return undefined;
  const faults = after === 0 ? [] : [`${byteCount(after)} after its parameters`];
  const rest = bytes.slice(0, clean.length);
  let at = 4;
  types.forEach((type, i) => {
    const [from, to] = paddingOf(type);
    let dirty = 0;
    for (let k = at + from; k < at + to; k++) {
      if (rest[k] !== 0) dirty++;
      rest[k] = 0;
    }
    if (dirty > 0) faults.push(`parameter ${i + 1}: ${byteCount(dirty)} that should be zero`);
    at += 32 * wordsOf(type);
  });
  return rest.every((byte, k) => byte === clean[k]) ? faults : undefined;
}

/** The bytes of a word that its type requires to be zero: from, to. */
function paddingOf(type: string): readonly [number, number] {
  if (type === 'address') return [0, 12];
  if (type === 'bool') return [0, 31];
  const [, kind, digits] = /^(uint|bytes)([0-9]+)$/.exec(type === 'function' ? 'bytes24' : type) ?? [];
  if (kind === 'uint') return [0, 32 - Number(digits) / 8];
  return kind === 'bytes' ? [Number(digits), 32] : [0, 0];
}

/** Whether the calldata is of this function, and none of its parameters is shown. */
function isUnread(calldata: string, functionName: string, parameters: readonly Parameter[]): boolean {
  const types = parameters.map(({ type }) => type).join(',');
  const selector = keccak256(stringToHex(`${functionName}(${types})`)).slice(0, 10);
  return calldata.startsWith(selector) && parameters.every(({ value }) => value === '');
}

const UNREAD = 'its parameters cannot be read';

/**
 * Makes sure that a call is decoded as its calldata says: function and parameters are encoded again, and how the
 * calldata differs from that is what the service reports. Throws PayloadMismatch.
 */
export function checkDecoded({
  calldata,
  functionName,
  functionParameters = [],
  encodingFaults = [],
}: Schema['ContractInteractionData']): void {
  const reported = encodingFaults.join('\n');
  if (functionName === undefined && functionParameters.length === 0 && reported === '') return;
  const bytes = calldata.toLowerCase();
  if (functionName && reported === UNREAD && isUnread(bytes, functionName, functionParameters)) return;
  const canonical = functionName && calldataOf(functionName, functionParameters);
  const types = functionParameters.map(({ type }) => type);
  if (canonical && faultsOf(bytes, canonical, types)?.join('\n') === reported) return;
  const values = functionParameters.map(({ value }) => value).join(', ');
  throw new PayloadMismatch('message.data', `${functionName}(${values})`, calldata);
}
