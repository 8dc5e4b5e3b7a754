import type { z } from 'zod';
import type { FieldIssue } from './errors';

/** The path of a field as callers write it: `items[1].networkIds[0]`; `body` for the whole body. */
export function fieldPath(path: readonly PropertyKey[]): string {
  const text = path.reduce<string>((before, part) => {
    if (typeof part === 'number') return `${before}[${part}]`;
    return before === '' ? String(part) : `${before}.${String(part)}`;
  }, '');
  return text === '' ? 'body' : text;
}

function describe(issue: z.core.$ZodIssue): FieldIssue[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      field: fieldPath([...issue.path, key]),
      message: 'is not a known field',
    }));
  }
  if (issue.code === 'invalid_union') {
    const closest = issue.errors.find((branch) => branch.some((inner) => inner.path.length > 0));
    if (closest) {
      return closest.flatMap((inner) => describe({ ...inner, path: [...issue.path, ...inner.path] }));
    }
  }
  return [{ field: fieldPath(issue.path), message: issue.message }];
}

/** `at least 1 item`, `at most 500 characters`, `at least 1`. */
function bound(direction: 'least' | 'most', count: number | bigint, origin: string): string {
  const counted = { array: 'item', string: 'character' }[origin];
  if (counted === undefined) return `must be at ${direction} ${count}`;
  return `must have at ${direction} ${count} ${counted}${Number(count) === 1 ? '' : 's'}`;
}

/** The message for a value of no variant of a discriminated union. */
function describeDiscriminator(
  issue: z.core.$ZodIssueInvalidUnion | z.core.$ZodRawIssue,
): string | undefined {
  const { discriminator, options, input } = issue as {
    discriminator?: string;
    options?: readonly unknown[];
    input?: unknown;
  };
  if (discriminator === undefined || !options) return undefined;
  const given = (input as { [field: string]: unknown } | undefined)?.[discriminator];
  return given === undefined ? 'is required' : `must be ${options.join(' or ')}`;
}

/** The message for an issue, in place of the schema library's own. */
export function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is required';
      return `must be ${/^[aeiou]/.test(issue.expected) ? 'an' : 'a'} ${issue.expected}`;
    case 'too_small':
      return bound('least', issue.minimum, issue.origin);
    case 'too_big':
      return bound('most', issue.maximum, issue.origin);
    case 'invalid_union':
      return describeDiscriminator(issue);
    case 'invalid_value':
      return `must be ${issue.values.map(String).join(' or ')}`;
    default:
      return undefined;
  }
}

/** Every invalid field that a schema found, in the order of the document. */
export function fieldIssues(error: z.ZodError): FieldIssue[] {
  return error.issues.flatMap(describe);
}
