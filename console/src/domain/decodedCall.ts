import { PayloadMismatch, type Schema } from '@orgwallet/client';
import { encodeAbiParameters, keccak256, parseAbiParameters, stringToHex } from 'viem';

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

/**
 * Makes sure that a call is decoded as its calldata says: function and parameters are encoded again. Throws
 * PayloadMismatch.
 */
export function checkDecoded({
  calldata,
  functionName,
  functionParameters = [],
}: Schema['ContractInteractionData']): void {
  if (functionName === undefined && functionParameters.length === 0) return;
  if (functionName && calldataOf(functionName, functionParameters) === calldata.toLowerCase()) return;
  const values = functionParameters.map(({ value }) => value).join(', ');
  throw new PayloadMismatch('message.data', `${functionName}(${values})`, calldata);
}
