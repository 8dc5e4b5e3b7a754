export { proposalWorkflow } from './proposal';
