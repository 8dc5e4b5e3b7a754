import { type Address, type Hex, keccak256, stringToHex } from 'viem';
import { isObject } from './expectation.ts';
import type { Call } from './takeover.ts';

/** A file of Safe's Transaction Builder: the calls that it puts into one transaction of a Safe. */
export interface TransactionBuilderFile {
  readonly version: '1.0';
  readonly chainId: string;
  /** ms. */
  readonly createdAt: number;
  readonly meta: {
    readonly name: string;
    readonly description: string;
    readonly txBuilderVersion: string;
    readonly createdFromSafeAddress: Address;
    readonly createdFromOwnerAddress: '';
    readonly checksum: Hex;
  };
  readonly transactions: readonly {
    readonly to: Address;
    readonly value: '0';
    readonly data: Hex;
    readonly contractMethod: null;
    readonly contractInputsValues: null;
  }[];
}

/** The version whose files these are like. */
const BUILDER_VERSION = '1.18.0';

/** The text of which the checksum is: keys are sorted and stand before the values, each of which ends with a comma. */
function checksumText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(checksumText).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value ?? null);
  const keys = Object.keys(value).sort();
  return `{${JSON.stringify(keys)}${keys.map((key) => `${checksumText(value[key])},`).join('')}}`;
}

/** The checksum of a file without one; its name does not count. Source: Safe's Transaction Builder. */
export function builderChecksum(file: { readonly meta: object }): Hex {
  return keccak256(stringToHex(checksumText({ ...file, meta: { ...file.meta, name: null } })));
}

/** Writes calls of a Safe as a file for the Transaction Builder. */
export function transactionBuilderFile(
  calls: readonly Call[],
  of: {
    readonly networkId: number;
    readonly safe: Address;
    readonly name: string;
    readonly description: string;
    readonly createdAt: Date;
  },
): TransactionBuilderFile {
  const file = {
    version: '1.0',
    chainId: String(of.networkId),
    createdAt: of.createdAt.getTime(),
    meta: {
      name: of.name,
      description: of.description,
      txBuilderVersion: BUILDER_VERSION,
      createdFromSafeAddress: of.safe,
      createdFromOwnerAddress: '',
    },
    transactions: calls.map(
      ({ to, data }) => ({ to, value: '0', data, contractMethod: null, contractInputsValues: null }) as const,
    ),
  } as const;
  return { ...file, meta: { ...file.meta, checksum: builderChecksum(file) } };
}
