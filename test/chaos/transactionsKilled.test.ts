/** @deep */
import { DEEP } from '../support/suite';
import { describeKilling, everyCase, placesLeftOut } from './killing';

/** The money has left, and nothing about it is stored yet. All cases take many minutes. */
const first = everyCase.filter(({ way, failpoint }) => way === 'pay' && failpoint === 'chain.sent');

describeKilling(DEEP ? everyCase : first);

it('every failpoint of an execution is covered', () => {
  expect(placesLeftOut()).toEqual([]);
  expect(everyCase).toHaveLength(new Set(everyCase.map((one) => JSON.stringify(one))).size);
});
