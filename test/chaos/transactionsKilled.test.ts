/** @deep */
import { DEEP } from '../support/suite';
import { describeKilling, everyCase, uncoveredFailpoints } from './killing';

/** The money has left, and nothing about it is stored yet. All cases take many minutes. */
const first = everyCase.filter(({ scenario, failpoint }) => scenario === 'pay' && failpoint === 'chain.sent');

describeKilling(DEEP ? everyCase : first);

it('every failpoint of an execution is covered', () => {
  expect(uncoveredFailpoints()).toEqual([]);
  expect(everyCase).toHaveLength(new Set(everyCase.map((one) => JSON.stringify(one))).size);
});
