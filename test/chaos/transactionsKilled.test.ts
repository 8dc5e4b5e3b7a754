/** @deep */
import { DEEP } from '../support/suite';
import { describeKilling, everyCase, placesLeftOut } from './killing';

/** Those behind which money is. All of them take many minutes. */
const FIRST = ['signer.attemptStored', 'chain.sent'];

describeKilling(
  DEEP ? everyCase : everyCase.filter(({ way, failpoint }) => way === 'pay' && FIRST.includes(failpoint)),
);

it('every failpoint of an execution is covered', () => {
  expect(placesLeftOut()).toEqual([]);
  expect(everyCase).toHaveLength(new Set(everyCase.map((one) => JSON.stringify(one))).size);
});
