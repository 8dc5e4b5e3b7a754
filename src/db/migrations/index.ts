import type { Knex } from 'knex';
import * as core from './001_core';
import * as access from './002_access';
import * as chain from './003_chain';
import * as operations from './004_operations';
import * as policyUsage from './005_policy_usage';
import * as policyUsageWindow from './006_policy_usage_window';
import * as transactions from './007_transactions';

/** One step of the schema. Steps are never changed once released; a new step follows. */
export interface Migration {
  readonly name: string;
  up(knex: Knex): Promise<void>;
}

/** Every step of the schema, in order. */
export const migrations: readonly Migration[] = [
  { name: '001_core', up: core.up },
  { name: '002_access', up: access.up },
  { name: '003_chain', up: chain.up },
  { name: '004_operations', up: operations.up },
  { name: '005_policy_usage', up: policyUsage.up },
  { name: '006_policy_usage_window', up: policyUsageWindow.up },
  { name: '007_transactions', up: transactions.up },
];
