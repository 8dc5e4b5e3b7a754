export { proposalWorkflow } from './proposal';
export { reconcileWorkflow } from './reconcile';
