import type { Approval } from '@orgwallet/client';
import { needsSignature, outcomesOf, type Viewer } from './eligibility.ts';

/** Where a request is in the course of things: each is in one tab. */
export type RequestTab = 'you' | 'ready' | 'progress' | 'failed' | 'done' | 'expired';

/** The tabs that the service has no list of its own for: open requests are read together. */
export const OPEN_TABS: readonly RequestTab[] = ['you', 'ready', 'progress'];

/** The order of open requests: what expires first, then what was created first. */
export const byDeadline = (one: Approval, other: Approval): number =>
  Date.parse(one.expiresAt) - Date.parse(other.expiresAt) ||
  Date.parse(one.createdAt) - Date.parse(other.createdAt);

/** The tab of a request. `now`: it expires while it is looked at. */
export function tabOf(approval: Approval, viewer: Viewer, now: number): RequestTab {
  const { executionStatus, signatureStatus, expiresAt } = approval;
  if (executionStatus === 'completed' || executionStatus === 'rejected') return 'done';
  if (executionStatus === 'failed' || executionStatus === 'blocked') return 'failed';
  if (executionStatus === 'processing') return 'progress';
  if (signatureStatus === 'expired' || now >= Date.parse(expiresAt)) return 'expired';
  const outcomes = outcomesOf(approval);
  if (outcomes.approve || outcomes.reject) return 'ready';
  return needsSignature(approval, viewer) ? 'you' : 'progress';
}
