import type { z } from 'zod';
import type { FieldIssue } from '../domain/refusal';

/** The most issues in an answer. */
export const MAX_ISSUES = 100;
/** The longest key or path in an answer, in UTF-16 units: a caller may have sent a longer one. */
const MAX_FIELD_LENGTH = 200;
const HALF_CHARACTER = /[\ud800-\udbff]$/;

/** A text from a request, not longer than an answer repeats it. */
export function shortened(text: string): string {
  return text.length <= MAX_FIELD_LENGTH
    ? text
    : `${text.slice(0, MAX_FIELD_LENGTH).replace(HALF_CHARACTER, '')}…`;
}

/** The path of a field as callers write it, shortened: `items[1].networkIds[0]`; `body` for the whole body. */
export function fieldPath(path: readonly PropertyKey[]): string {
  const text = path.reduce<string>((before, part) => {
    if (typeof part === 'number') return `${before}[${part}]`;
    return before === '' ? String(part) : `${before}.${String(part)}`;
  }, '');
  return text === '' ? 'body' : shortened(text);
}

function describe(issue: z.core.$ZodIssue): FieldIssue[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, MAX_ISSUES).map((key) => ({
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

/** The invalid fields that a schema found, in the order of the document: the first `MAX_ISSUES`. */
export function fieldIssues(error: z.ZodError): FieldIssue[] {
  return error.issues.slice(0, MAX_ISSUES).flatMap(describe).slice(0, MAX_ISSUES);
}
