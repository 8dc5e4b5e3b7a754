import './stackTraces';

export { backfillWorkflow } from './backfill';
export { deliveryWorkflow } from './delivery';
export { proposalWorkflow } from './proposal';
export { reconcileWorkflow } from './reconcile';
export { transactionWorkflow } from './transaction';
