/** A network, as far as all processes must agree about it. */
interface SharedNetwork {
  readonly id: number;
  readonly name: string;
  readonly nativeAsset: { readonly symbol: string; readonly name: string; readonly decimals: number };
  readonly relayers: number;
  readonly confirmations: number;
  /** Wei, decimal digits. */
  readonly maxFeePerGas: string;
  readonly dataFee: string | null;
}

/** The settings that the signer must have as the other processes do: it verifies what they have made with them. */
export interface SharedSettings {
  readonly proposalLifetimeMs: number;
  /** Decimal digits. */
  readonly maxGas: string;
  readonly signerNetworkId: number;
  readonly networks: readonly SharedNetwork[];
  /** The ids of the keys that encrypt payloads, without the keys; null where nothing can be decrypted. */
  readonly payloadKeys: { readonly current: string | null; readonly ids: readonly string[] } | null;
}

/** A setting that differs, and what follows from it. */
interface SettingDifference {
  /** Such as `PROPOSAL_LIFETIME`, `relayers of network 1`. */
  readonly setting: string;
  /** As they are here, and at the signer. */
  readonly here: string;
  readonly signer: string;
  readonly effect: string;
  /** False where work goes on. */
  readonly isHolding: boolean;
}

/** A setting with its values for people, and what follows where they differ; null: nothing. */
interface Compared extends Omit<SettingDifference, 'effect' | 'isHolding'> {
  readonly effect: string | null;
  /** Absent: true. */
  readonly isHolding?: boolean;
}

const HOUR_MS = 3_600_000;
const hours = (ms: number) => `${ms / HOUR_MS} h`;

const assetText = ({ nativeAsset: { symbol, name, decimals } }: SharedNetwork) =>
  `${symbol} (${name}, ${decimals} decimals)`;

function comparedNetwork(here: SharedNetwork, signer: SharedNetwork): readonly Compared[] {
  const compared = (
    field: keyof SharedNetwork,
    effect: string | null,
    shown: (network: SharedNetwork) => string = (network) => String(network[field] ?? 'none'),
  ): Compared => ({
    setting: `${field} of network ${here.id}`,
    here: shown(here),
    signer: shown(signer),
    effect,
  });
  const otherSummary = 'it makes another summary of a transaction, and refuses to sign it';
  const isLower = BigInt(signer.maxFeePerGas) < BigInt(here.maxFeePerGas);
  return [
    compared('name', otherSummary),
    compared('nativeAsset', otherSummary, assetText),
    compared('relayers', 'it holds the payments of other relayers'),
    compared('confirmations', 'payments wait until both have theirs'),
    compared('maxFeePerGas', isLower ? 'it signs no higher fee, and payments wait' : null),
    compared('dataFee', 'it counts the gas of a payment otherwise, and may refuse it'),
  ];
}

function comparedNetworks(here: SharedSettings, signer: SharedSettings): readonly Compared[] {
  return here.networks.flatMap((network): readonly Compared[] => {
    const same = signer.networks.find(({ id }) => id === network.id);
    if (same) return comparedNetwork(network, same);
    return [
      {
        setting: `network ${network.id}`,
        here: network.name,
        signer: 'none',
        effect: 'it signs nothing for it',
      },
    ];
  });
}

const keysText = (keys: SharedSettings['payloadKeys']) =>
  keys ? `${keys.ids.join(', ')} (current: ${keys.current ?? 'none'})` : 'none';

/** Whether one process can decrypt what another one encrypts. */
function canDecrypt(reader: SharedSettings['payloadKeys'], writer: SharedSettings['payloadKeys']): boolean {
  const current = writer?.current ?? null;
  return current === null || (reader?.ids.includes(current) ?? false);
}

function comparedLifetime(here: number, signer: number): Compared {
  const isHolding = signer < here;
  return {
    setting: 'PROPOSAL_LIFETIME',
    here: hours(here),
    signer: hours(signer),
    effect: isHolding
      ? 'it signs nothing that expires later than that from now'
      : 'it holds nothing; shorten it there once what was requested before has expired',
    isHolding,
  };
}

/**
 * The settings that the signer has otherwise than a process of the service, with what follows; none that make no difference,
 * such as a higher ceiling of the signer.
 */
export function settingDifferences(here: SharedSettings, signer: SharedSettings): SettingDifference[] {
  const isDecrypted =
    canDecrypt(here.payloadKeys, signer.payloadKeys) && canDecrypt(signer.payloadKeys, here.payloadKeys);
  const all: readonly Compared[] = [
    comparedLifetime(here.proposalLifetimeMs, signer.proposalLifetimeMs),
    {
      setting: 'MAX_GAS',
      here: here.maxGas,
      signer: signer.maxGas,
      effect: BigInt(signer.maxGas) < BigInt(here.maxGas) ? 'it refuses what needs more gas' : null,
    },
    {
      setting: 'SIGNER_NETWORK',
      here: String(here.signerNetworkId),
      signer: String(signer.signerNetworkId),
      effect: 'it asks another network about contract wallets, and refuses their signatures',
    },
    ...comparedNetworks(here, signer),
    {
      setting: 'TEMPORAL_PAYLOAD_KEYS_FILE',
      here: keysText(here.payloadKeys),
      signer: keysText(signer.payloadKeys),
      effect: isDecrypted ? null : 'one of them cannot decrypt what the other one sends',
    },
  ];
  return all.flatMap(({ effect, isHolding = true, ...compared }) =>
    compared.here === compared.signer || effect === null ? [] : [{ ...compared, effect, isHolding }],
  );
}
