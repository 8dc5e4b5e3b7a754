import './jitless.ts';
import type { OperationIntent } from '@orgwallet/client';
import { policiesBodies } from '../../../src/contract/policyContract.ts';
import type { Faults } from '../domain/faults.ts';
import { faultsIn } from './faultsIn.ts';

const BODIES = {
  'policies.add': policiesBodies.add,
  'policies.update': policiesBodies.update,
  'policies.remove': policiesBodies.remove,
} as const;

/** An entry of a list that is typed with one on each line. */
const LINE = /\.(?:destinationAddresses|allowedFunctions)\[(\d+)\]$/;

function withLine(path: string, message: string): string {
  const [, index] = LINE.exec(path) ?? [];
  return index === undefined ? message : `Line ${Number(index) + 1}: ${message}`;
}

/** What the service would refuse of a proposal of policies before it looks at its state, by the paths that it names. */
export function faultsOfPolicies({ type, ...body }: OperationIntent<keyof typeof BODIES>): Faults {
  const faults = Object.entries(faultsIn(BODIES[type], body));
  return Object.fromEntries(faults.map(([path, message]) => [path, withLine(path, message)]));
}
