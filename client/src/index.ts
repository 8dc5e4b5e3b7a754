export { type Api, createApi, type Page } from './api.ts';
export type * from './endpoints.ts';
export * from './errors.ts';
export type { Connection } from './exchange.ts';
export * from './records.ts';
