import { ApiError, NoAnswer, PayloadMismatch } from '@orgwallet/client';
import { errorWithin, fieldErrors, wordsOf } from '../../../console/src/text/errors.ts';

describe('an error', () => {
  it('of the API has the request id, and its fields by their paths', () => {
    const issues = [{ field: 'items[0].name', message: 'too long' }];
    const error = new ApiError('validationError', 400, 'too long', { issues }, 'req_1');
    expect(wordsOf(error)).toEqual({
      title: 'Invalid request',
      message: 'too long',
      advice: 'Correct it, then try again.',
      requestId: 'req_1',
    });
    expect(fieldErrors(error)).toEqual({ 'items[0].name': 'too long' });
    expect(fieldErrors(new ApiError('conflict', 409, 'taken', { field: 'to' }, undefined))).toEqual({
      to: 'taken',
    });
  });

  it('of a list is that of its first entry that is wrong', () => {
    const errors = { 'ids[2]': 'not found', 'items[0].name': 'too long', idsOfOthers: 'none' };
    expect(errorWithin(errors, 'ids')).toBe('not found');
    expect(errorWithin(errors, 'items')).toBe('too long');
    expect(errorWithin(errors, 'items[0].name')).toBe('too long');
    expect(errorWithin(errors, 'items[0].na')).toBeUndefined();
  });

  it('without an answer can be tried again', () => {
    expect(wordsOf(new NoAnswer('', 'key')).advice).toBe('Try again: it takes effect at most once.');
  });

  it('of a payload says that nothing was signed', () => {
    expect(wordsOf(new PayloadMismatch('message.to', 1, 2)).message).toBe(
      'message.to: 2 (expected 1). Nothing was signed.',
    );
  });
});
