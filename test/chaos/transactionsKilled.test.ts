import { describeKilling, everyCase, placesLeftOut } from './killing';

/** Those behind which money is. All of them take many minutes: `npm run test:deep` tries each. */
const FIRST = ['signer.attemptStored', 'chain.sent'];

describeKilling(everyCase.filter(({ way, faultPoint }) => way === 'pay' && FIRST.includes(faultPoint)));

it('no place on the way of an execution is left out', () => {
  expect(placesLeftOut()).toEqual([]);
  expect(everyCase).toHaveLength(new Set(everyCase.map((one) => JSON.stringify(one))).size);
});
