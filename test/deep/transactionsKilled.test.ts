import { describeKilling, everyCase, uncoveredFailpoints } from '../chaos/killing';

describeKilling(everyCase);

it('every failpoint of an execution is covered', () => {
  expect(uncoveredFailpoints()).toEqual([]);
  expect(everyCase).toHaveLength(new Set(everyCase.map((one) => JSON.stringify(one))).size);
});
