import { metadataText, readMetadata, tagsIn, tagsText } from '../../../console/src/domain/references.ts';

it('tags are what is between commas', () => {
  expect(tagsIn(' payroll, May 2025,, ')).toEqual(['payroll', 'May 2025']);
  expect(tagsIn(tagsText(['a', 'b c']))).toEqual(['a', 'b c']);
});

it('metadata is a pair on each line, and what was shown is read again', () => {
  const metadata = { costCenter: '4711', link: 'https://example.org/a?b=c', empty: '' };
  expect(readMetadata(metadataText(metadata))).toEqual({ metadata });
  expect(readMetadata('\n')).toEqual({ metadata: {} });
});

it.each([
  ['a: 1\nb', 'Line 2 is not a name, a colon and a value.'],
  [': 1', 'Line 1 is not a name, a colon and a value.'],
  ['a: 1\na: 2', 'Line 2: a is there twice.'],
])('a bad line is named: %j', (text, error) => {
  expect(readMetadata(text)).toEqual({ error });
});
