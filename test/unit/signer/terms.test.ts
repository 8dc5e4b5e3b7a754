import { boundFees } from '../../../src/signer/boundedTerms';
import { fillNonce } from '../../../src/signer/fillNonce';
import type { SignerContext } from '../../../src/signer/signerContext';

const LONG = 'x'.repeat(1_000_000);

/** The terms of an envelope, as a message has them. */
const terms = {
  ...{ gas: '21000', maxFeePerGas: '1', maxPriorityFeePerGas: '1', head: '0', chainNonce: 0 },
  relayerAddress: `0x${'1'.repeat(40)}`,
};

/** A signer of which only the report of its refusals is asked for: the message is refused before anything else. */
const logged: string[] = [];
const context = {
  countRefusal: () => undefined,
  logger: { warn: (_: object, message: string) => logged.push(message) },
} as unknown as SignerContext;

describe('a message to the signer with a field of any size', () => {
  it.each<[string, object]>([
    ['gas', { gas: LONG }],
    ['maxFeePerGas', { maxFeePerGas: [LONG] }],
    ['relayerAddress', { relayerAddress: LONG }],
    ['relayerAddress', { relayerAddress: 'x' }],
    ['replaces', { replaces: LONG }],
    ['replaces', { replaces: 'x' }],
    ['chainNonce', { chainNonce: LONG }],
    ['terms', LONG as unknown as object],
  ])('is refused by the name of the field, in few words: %s', async (field, change) => {
    const asked = typeof change === 'string' ? change : { ...terms, ...change };
    const failed = await boundFees(context, 1, asked as typeof terms).catch((thrown) => thrown);
    expect(failed.name).toBe('SignerRefusal');
    expect(failed.message).toMatch(new RegExp(`^invalid ${field} `));
    expect(failed.message.length).toBeLessThan(300);
  });

  it('names a nonce to fill in few words', async () => {
    for (const nonce of [LONG, [LONG], { toString: 1 }]) {
      const asked = { networkId: 1, nonce: nonce as unknown as number, terms };
      const answer = await fillNonce(context, asked);
      expect(answer).toMatchObject({ refused: { code: 'stale' } });
      expect(JSON.stringify(answer).length).toBeLessThan(400);
    }
    expect(logged.every(({ length }) => length < 400)).toBe(true);
  });
});
