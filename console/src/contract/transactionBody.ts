import './jitless.ts';
import { z } from 'zod';
import { transactionFields } from '../../../src/contract/transactionContract.ts';
import type { Faults } from '../domain/faults.ts';
import { faultsIn } from './faultsIn.ts';

const body = z.strictObject(transactionFields);

/** What the service would refuse of a transaction before it looks at its state, by its fields. What is undefined is missing. */
export function faultsOfTransaction(
  typed: {
    readonly [Field in keyof z.input<typeof body>]: z.input<typeof body>[Field] | undefined;
  },
): Faults {
  return faultsIn(body, typed);
}
