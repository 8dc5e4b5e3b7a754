import './stackTraces';

export { proposalWorkflow } from './proposal';
export { reconcileWorkflow } from './reconcile';
export { transactionWorkflow } from './transaction';
