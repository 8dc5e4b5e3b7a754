import { sessionToken } from '../../../src/api/sessionCookie';

const NAME = '__Host-orgwallet-session';

describe('the token of a cookie header', () => {
  it.each([
    [`${NAME}=abc`, 'abc'],
    [`a=b; ${NAME}=abc;c=d`, 'abc'],
    [undefined, undefined],
    ['', undefined],
    [NAME, undefined],
    [`${NAME}=`, undefined],
    [`${NAME}=abc; ${NAME}=def`, undefined],
    [`x${NAME}=abc`, undefined],
    [`${NAME.toLowerCase()}=abc`, undefined],
  ])('%j has %j', (header, token) => {
    expect(sessionToken(header)).toBe(token);
  });
});
