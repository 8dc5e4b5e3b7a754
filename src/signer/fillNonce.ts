import { FILLER_GAS } from '../chain/gas';
import { envelopePayload } from '../db/attempts';
import type { Tx } from '../db/database';
import type { Envelope } from '../db/envelopes';
import type { Reservation } from '../db/reservations';
import type { EnvelopeTerms } from '../domain/terms';
import { failpoint } from '../failpoints';
import { boundFees } from './boundedTerms';
import { assertIds, shownInput } from './input';
import {
  ROLLED_BACK,
  refusalsAsValues,
  SignerRefusal,
  type SigningResult,
  TemporaryRefusal,
} from './refusal';
import { relayerKeyOf } from './relayerKeys';
import { type GasOf, gasOf, reservedBefore, reserveEnvelope, signReserved } from './signEnvelope';
import { networkOf, type SignerContext, withNetwork } from './signerContext';
import { reservationAt } from './store/reservations';
import { envelopeAtNonce, hasUndecidedAbove, insertFiller } from './store/signedAttempts';
import { isObsoleteHere } from './upkeep/obsolete';

/** A filled nonce is for no organization. */
const FILLING: GasOf = { kind: 'filler', organizationId: null };

/** A nonce of a relayer to fill. */
interface ToFill {
  readonly networkId: number;
  readonly relayerAddress: string;
  readonly nonce: number;
  /** The envelope to replace at this nonce. */
  readonly replaces: string | undefined;
}

/** What holds a nonce now, if it may be filled; or the filler that it has. Throws SignerRefusal. */
async function assertFillable(
  context: SignerContext,
  tx: Tx,
  { replaces, ...at }: ToFill,
): Promise<{ filled: Envelope } | { reserved: Reservation } | { obsolete: Envelope | undefined }> {
  const { networkId, relayerAddress, nonce } = at;
  const of = `of relayer ${relayerAddress} on ${networkOf(context, networkId).name}`;
  const reserved = await reservationAt(tx, at);
  if (reserved) {
    // A crash came before its filler was signed.
    if ((await envelopePayload(tx, reserved)).kind === 'filler') return { reserved };
    throw new SignerRefusal('stale', `nonce ${nonce} ${of} is being signed for`);
  }
  const present = await envelopeAtNonce(tx, at);
  if (present) {
    const payload = await envelopePayload(tx, present);
    if (String(present.id) !== replaces) {
      if (payload.kind === 'filler') return { filled: present };
      throw new SignerRefusal('stale', `nonce ${nonce} ${of} is used`);
    }
    if (!(await isObsoleteHere(context, tx, present, payload))) {
      throw new SignerRefusal('stale', `nonce ${nonce} ${of} has an undecided attempt`);
    }
  }
  if (!(await hasUndecidedAbove(tx, at))) {
    throw new SignerRefusal('stale', `no undecided envelope waits for nonce ${nonce} ${of}`);
  }
  return { obsolete: present };
}

/**
 * Signs an empty transfer of the relayer to itself at an unused nonce, so that later envelopes can continue. It fills
 * only a nonce below an undecided envelope of the relayer, and replaces only an envelope whose attempt is decided:
 * whoever asks, a filler can only unblock what is signed.
 */
export async function fillNonce(
  context: SignerContext,
  input: { networkId: number; nonce: number; terms: EnvelopeTerms },
): Promise<SigningResult> {
  return refusalsAsValues(context, async () => {
    assertIds(input, 'networkId');
    const { networkId, nonce } = input;
    if (!Number.isSafeInteger(nonce) || nonce < 0) {
      throw new SignerRefusal('stale', `invalid nonce ${shownInput(nonce)} (expected an integer from 0)`);
    }
    const terms = await boundFees(context, networkId, input.terms);
    const { address } = relayerKeyOf(context, networkId, terms.relayerAddress);
    const found = await withNetwork(context, networkId, async (tx) => {
      const { replaces } = terms;
      const at = { networkId, relayerAddress: address, nonce };
      const fillable = await assertFillable(context, tx, { ...at, replaces });
      if ('filled' in fillable) return fillable;
      const request = {
        about: FILLING,
        networkId,
        terms: { ...terms, gas: String(FILLER_GAS) },
        gas: { least: FILLER_GAS, most: FILLER_GAS },
      };
      if ('reserved' in fillable) {
        const { attemptId } = fillable.reserved;
        const before = await reservedBefore(context, tx, { ...request, attemptId }, fillable.reserved);
        // The nonce and the relayer that were asked for.
        return { reserved: { ...before, relayerAddress: address, relayerNonce: nonce } };
      }
      const { obsolete } = fillable;
      if (obsolete && (obsolete.relayerAddress !== address || obsolete.relayerNonce !== nonce)) {
        throw new TemporaryRefusal(
          'rollback',
          `chain_envelopes ${obsolete.id} is not at nonce ${nonce}: ${ROLLED_BACK}`,
        );
      }
      const attemptId = await insertFiller(tx, networkId, address);
      const position = obsolete ? { replaces: obsolete } : { at: nonce };
      return { reserved: await reserveEnvelope(context, tx, { ...request, attemptId, ...position }) };
    });
    if ('filled' in found) return { envelopeId: String(found.filled.id) };
    failpoint('signer.fillerStored');
    await context.gasBudget.append(gasOf(found.reserved, FILLING));
    const id = await signReserved(context, found.reserved, { to: address, data: '0x' });
    return { envelopeId: String(id) };
  });
}
