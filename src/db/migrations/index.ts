import type { Knex } from 'knex';
import * as initial from './001_initial';

/** One step of the schema. Steps are never changed once released; a new step follows. */
export interface Migration {
  readonly name: string;
  up(knex: Knex): Promise<void>;
}

/** Every step of the schema, in order. */
export const migrations: readonly Migration[] = [{ name: '001_initial', up: initial.up }];
