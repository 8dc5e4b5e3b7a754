export { type Api, createApi, type Page } from './api.ts';
export { type AuditBreak, verifyAuditEntries } from './auditEntries.ts';
export { type DepositOptions, type ExpectedDeposit, type Movement, NoDeposit } from './deposits.ts';
export { visible } from './describe.ts';
export type * from './endpoints.ts';
export * from './errors.ts';
export type { EventOptions, FeedEvent } from './events.ts';
export type { Connection } from './exchange.ts';
export {
  type Founder,
  type FoundingState,
  type GenesisMessage,
  type KnownGenesis,
  spokenHash,
  type VerifiedGenesis,
  verifyGenesis,
} from './genesis.ts';
export type * from './intent.ts';
export * from './orgwallet.ts';
export {
  type Hashes,
  hashesOf,
  type Message,
  type Statement,
  statementOf,
  type TypedData,
  type VoteType,
} from './payload.ts';
export { type Pin, type PinStore, pinInMemory } from './pins.ts';
export { type Payloads, verifyRecord } from './recordPayloads.ts';
export * from './records.ts';
export * from './signWith.ts';
export { type Known, type Verified, verify } from './verify.ts';
export {
  verifyWebhook,
  WebhookError,
  type WebhookEvent,
  type WebhookKeys,
  type WebhookOptions,
  type WebhookRequest,
} from './webhooks.ts';
