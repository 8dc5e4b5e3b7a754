import { wrap } from '../../../tools/demo/printer';

describe('a long line of the demo', () => {
  it.each([
    ['is broken between words', 'one two three', 8, ['one two', 'three']],
    ['is left alone where it fits', 'one two', 7, ['one two']],
    ['keeps a word whole that is longer than a line', 'a 0x1234567890 b', 5, ['a', '0x1234567890', 'b']],
    ['may be empty', '', 5, ['']],
  ])('%s', (_, text, width, lines) => expect(wrap(text, width)).toEqual(lines));
});
