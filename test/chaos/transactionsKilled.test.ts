import { describeKilling, everyCase, placesLeftOut } from './killing';

/** Those behind which money is. All of them take many minutes: `npm run test:deep` tries each. */
const FIRST = [
  'signer.attemptStored',
  'signer.signTransaction:after',
  'chain.sending',
  'chain.sent',
  'chain.outcomeSeen',
  'worker.usageReserved',
  'worker.beginTransaction:after',
  'worker.usageCommitted',
  'worker.finishTransaction:after',
];

describeKilling(everyCase.filter(({ way, faultPoint }) => way === 'pay' && FIRST.includes(faultPoint)));

it('no place on the way of an execution is left out', () => {
  expect(placesLeftOut()).toEqual([]);
  expect(everyCase).toHaveLength(new Set(everyCase.map((one) => JSON.stringify(one))).size);
});
