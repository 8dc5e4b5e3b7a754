import type { z } from 'zod';
import { describeIssue, fieldIssues, fieldPath } from '../contract/issues';
import type { FieldIssue } from '../domain/refusal';
import { badRequest } from './refusals';
import { unstorablePart } from './text';

/** Throws a validationError that names the bad fields. */
function refuseIssues(error: z.ZodError): never {
  const [first = { field: 'body', message: 'is invalid' }, ...others]: FieldIssue[] = fieldIssues(error);
  throw badRequest([first, ...others]);
}

/** Reads a value with a schema. Refuses with validationError. */
export function parseWith<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value, { error: describeIssue });
  return parsed.success ? parsed.data : refuseIssues(parsed.error);
}

/** Reads the query of a URL with a strict schema. Refuses unknown, repeated and unstorable parameters with validationError. */
export function parseQuery<Schema extends z.ZodType>(schema: Schema, url: string): z.output<Schema> {
  const start = url.indexOf('?');
  if (start < 0) return parseWith(schema, {});
  const parameters = new URLSearchParams(url.slice(start + 1));
  const values = new Map<string, string>();
  for (const [name, value] of parameters) {
    const found = unstorablePart(value);
    if (found !== undefined)
      throw badRequest([{ field: fieldPath([name]), message: `must not contain ${found}` }]);
    if (values.has(name)) throw badRequest([{ field: fieldPath([name]), message: 'is given twice' }]);
    values.set(name, value);
  }
  return parseWith(schema, Object.fromEntries(values));
}
