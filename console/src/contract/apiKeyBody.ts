import './jitless.ts';
import type { Schema } from '@orgwallet/client';
import { newApiKey } from '../../../src/contract/apiKeyContract.ts';
import type { Faults } from '../domain/faults.ts';
import { faultsIn } from './faultsIn.ts';

/** What the service would refuse of a new key before it looks at its members, by the paths that it names. */
export const faultsOfApiKey = (asked: Schema['NewApiKeyRequest']): Faults => faultsIn(newApiKey, asked);
