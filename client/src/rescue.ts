export {
  buildRescueKit,
  checkRescueKit,
  type KitNetwork,
  type KnownOrganization,
  kitHash,
  type RescueKit,
  rescueKit,
  type SealedHead,
  type Takeover,
  verifyRescueKit,
} from './rescueKit.ts';
export { type RescueSafes, rescueSafes, SAFE_CONTRACTS, safeAddress } from './safes.ts';
export {
  type AdminsTransaction,
  type Call,
  executionData,
  MAX_TAKEN,
  SENTINEL,
  safeAbi,
  safeTypedData,
  signatureOfCaller,
  type TakenAccount,
  takeoverCalls,
  takeoverGas,
  together,
} from './takeover.ts';
export { builderChecksum, type TransactionBuilderFile } from './transactionBuilder.ts';
