import type { Config } from './config';
import type { SharedSettings } from './domain/settingDifferences';
import { readPayloadKeys } from './temporal/payloadCodec';

/** The ids of the keys that encrypt payloads. Throws where the file cannot be read. */
function payloadKeysOf({ payloadKeysFile }: Config['temporal']): SharedSettings['payloadKeys'] {
  if (payloadKeysFile === undefined) return null;
  const { current, keys } = readPayloadKeys(payloadKeysFile);
  return { current, ids: [...keys.keys()] };
}

/** The settings of this process that the signer must have as the other processes do. Nothing of them is secret. */
export function sharedSettings(config: Config): SharedSettings {
  const { proposalLifetimeMs, maxGas, signerNetworkId, networks, temporal } = config;
  return {
    proposalLifetimeMs,
    maxGas: String(maxGas),
    signerNetworkId,
    networks: networks.map(
      ({ id, name, nativeAsset, relayers, confirmations, maxFeePerGas, dataFee = null }) => ({
        ...{ id, name, nativeAsset, relayers, confirmations, dataFee },
        maxFeePerGas: String(maxFeePerGas),
      }),
    ),
    payloadKeys: payloadKeysOf(temporal),
  };
}
