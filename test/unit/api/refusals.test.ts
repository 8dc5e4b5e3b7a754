import { badRequest, errorBodyOf, Refused } from '../../../src/api/refusals';

describe('error bodies', () => {
  it('name the first bad field and list all of them', () => {
    const refused = badRequest([
      { field: 'items[0].name', message: 'is required' },
      { field: 'items[1].id', message: 'is given twice' },
    ]);
    expect(refused.status).toBe(400);
    expect(errorBodyOf(refused)).toEqual({
      error: {
        code: 'validationError',
        message: 'items[0].name: is required',
        details: {
          field: 'items[0].name',
          message: 'is required',
          issues: [
            { field: 'items[0].name', message: 'is required' },
            { field: 'items[1].id', message: 'is given twice' },
          ],
        },
      },
      code: 'validationError',
      message: 'items[0].name: is required',
    });
  });

  it('have no details when no field is to blame', () => {
    const body = errorBodyOf(new Refused({ code: 'thresholdNotMet', message: '1 of 2' }));
    expect(body).toEqual({
      error: { code: 'thresholdNotMet', message: '1 of 2' },
      code: 'thresholdNotMet',
      message: '1 of 2',
    });
  });

  it('list every condition of a policy that is not met', () => {
    const failures = [{ condition: 'amount', found: '6', wanted: 'at most 5' }];
    const refused = new Refused({ code: 'forbidden', message: 'not permitted by policy', failures });
    expect(errorBodyOf(refused).error).toEqual({
      code: 'forbidden',
      message: 'not permitted by policy',
      details: { message: 'not permitted by policy', failures },
    });
  });
});
