import type { ValidateFunction } from 'ajv';
import Ajv2020 from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { STATUS_BY_CODE } from '../../src/contract/errors';
import { document, placeOfPath, resolve } from './document';
import type { Answer, Ask, Listener } from './http';
import { noteReached } from './reached';
import { tableFaults } from './tableConformance';

interface DocumentedResponse {
  readonly headers?: { readonly [name: string]: unknown };
  readonly content?: {
    readonly [type: string]:
      | { readonly schema: object; readonly examples?: { readonly [code: string]: unknown } }
      | undefined;
  };
}

interface DocumentedOperation {
  readonly operationId: string;
  readonly responses: { readonly [status: string]: DocumentedResponse };
}

const ERROR_SCHEMA = { $ref: 'openapi#/components/schemas/Error' };
/** Documented headers that not every answer has. */
const OCCASIONAL_HEADERS = ['Idempotency-Replayed'];
/** Not for API keys: the document is about these. */
const OPEN_PATHS = ['/openapi.json', '/docs', '/.well-known'];
/** Of the console, which is a folder of files. */
const PAGE = /^(text\/(html|javascript|css)|image\/)/;

// OpenAPI has keywords of its own beside those of JSON Schema 2020-12.
// Compiling the schemas dominates the time of these checks. Each named schema is compiled once, on first use.
const ajv = new Ajv2020({ strict: false, allErrors: true, inlineRefs: false, code: { optimize: false } });
addFormats(ajv);
ajv.addSchema({ $id: 'openapi', components: document.components });

const validators = new Map<string, ValidateFunction>();

/** The references of a schema, as the validator finds them. */
function absolute(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"openapi#/components/'));
}

function checkBody(what: string, schema: object, body: unknown): void {
  const text = JSON.stringify(absolute(schema));
  const validate = validators.get(text) ?? ajv.compile(JSON.parse(text));
  validators.set(text, validate);
  if (!validate(body)) {
    throw new Error(`${what}: the body is not as documented: ${ajv.errorsText(validate.errors)}`);
  }
}

const templates = Object.keys(document.paths)
  // A literal segment is not a parameter's value.
  .sort((one, two) => one.split('{').length - two.split('{').length)
  .map((template) => ({
    template,
    pattern: new RegExp(`^${placeOfPath(template).replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  }));

/** The operation that a request is for; undefined for a path or a method that is not documented. */
export function findOperation(method: string, url: string): DocumentedOperation | undefined {
  const path = url.split('?')[0] ?? '';
  const found = templates.find(({ pattern }) => pattern.test(path));
  const verb = method === 'HEAD' ? 'get' : method.toLowerCase();
  return found && document.paths[found.template][verb];
}

function checkError(what: string, answer: Answer): void {
  checkBody(what, ERROR_SCHEMA, answer.body);
  const { error, code, message } = answer.body;
  if (code !== error.code || message !== error.message) {
    throw new Error(`${what}: code and message at top level are not those in error`);
  }
  if (STATUS_BY_CODE[error.code as keyof typeof STATUS_BY_CODE] !== answer.status) {
    throw new Error(`${what}: ${error.code} has another status`);
  }
}

/** The part of a checked answer that its faults are about. */
interface Checked {
  readonly what: string;
  readonly method: string;
  readonly answer: Answer;
}

function headerOf({ headers }: Answer, name: string) {
  return headers[name.toLowerCase()];
}

function checkEveryAnswer({ what, method, answer }: Checked): void {
  if (headerOf(answer, 'X-Request-Id') === undefined) throw new Error(`${what}: there is no X-Request-Id`);
  if ((method === 'HEAD' || answer.status === 204) && answer.text !== '') {
    throw new Error(`${what}: there must be no body`);
  }
}

/** A path or a method that is not documented: refused, except for a preflight. */
function checkUndocumented({ what, method, answer }: Checked): void {
  if (method === 'OPTIONS' && answer.status === 204) return;
  if (answer.status < 400) throw new Error(`${what}: there is no such operation`);
  if (method !== 'HEAD') checkError(what, answer);
}

/** A file in place of JSON, for who accepts one. Source: RFC 4180. */
const FILE_TYPE = 'text/csv';
const TYPES = ['application/json; charset=utf-8', `${FILE_TYPE}; charset=utf-8; header=present`];
const typeOf = (answer: Answer) => String(headerOf(answer, 'Content-Type')).split(';')[0] ?? '';
const isFile = (answer: Answer) => typeOf(answer) === FILE_TYPE;

function checkHeaders({ what, answer }: Checked, documented: DocumentedResponse): void {
  for (const name of Object.keys(documented.headers ?? {})) {
    if (!OCCASIONAL_HEADERS.includes(name) && headerOf(answer, name) === undefined) {
      throw new Error(`${what}: the header ${name} is missing`);
    }
  }
  const type = String(headerOf(answer, 'Content-Type'));
  if (!TYPES.includes(type)) throw new Error(`${what}: the content type is ${type}`);
}

function checkDocumented({ what, method, answer }: Checked, operation: DocumentedOperation): void {
  const response = operation.responses[String(answer.status)];
  const documented: DocumentedResponse | undefined = response && resolve(response);
  if (!documented) throw new Error(`${what}: ${operation.operationId} has no such status`);
  const type = typeOf(answer);
  const content = documented.content?.[type];
  if (!content) throw new Error(`${what}: no body of type ${type} is documented`);
  checkHeaders({ what, method, answer }, documented);
  if (isFile(answer)) return;
  if (method === 'HEAD') return;
  checkBody(what, content.schema, answer.body);
  if (answer.status < 400) return;
  checkError(what, answer);
  if (!(answer.body.code in (content.examples ?? {}))) {
    throw new Error(`${what}: ${operation.operationId} does not document ${answer.body.code}`);
  }
}

/** What a session gets that no key does: a refusal of the page that has used it. */
function isOfOtherOrigin({ headers }: Ask, { status }: Answer): boolean {
  return status === 403 && headers?.cookie !== undefined;
}

/** Throws unless an answer is one that openapi.json promises for its request: status, headers, body. */
function checkAgainstDocument(ask: Ask & { method: string }, answer: Answer): void {
  const { method, path } = ask;
  const what = `${method} ${path} → ${answer.status} ${answer.text.slice(0, 300)}`;
  const checked = { what, method, answer };
  checkEveryAnswer(checked);
  const isPage = PAGE.test(String(headerOf(answer, 'Content-Type') ?? '')) || answer.status === 304;
  if ((isPage || OPEN_PATHS.some((open) => path.startsWith(open))) && answer.status < 400) return;
  const operation = findOperation(method, path);
  if (isOfOtherOrigin(ask, answer)) checkError(what, answer);
  else if (operation) checkDocumented(checked, operation);
  else checkUndocumented(checked);
}

/** Throws unless an answer is one that openapi.json and the tables of the interface page promise for its request. */
export const checkAnswer: Listener = (ask, answer) => {
  checkAgainstDocument(ask, answer);
  if (isOfOtherOrigin(ask, answer) || isFile(answer)) return;
  const faults = tableFaults(ask, answer);
  if (faults.length === 0) return;
  const what = `${ask.method} ${ask.path} → ${answer.status} ${answer.text.slice(0, 300)}`;
  throw new Error(`${what}: not as the interface page says: ${faults.join('; ')}`);
};

/** Checks an answer that a service has given, and counts what its operation has shown of itself. */
export const checkConformance: Listener = (ask, answer) => {
  checkAnswer(ask, answer);
  const operation = findOperation(ask.method, ask.path);
  if (operation) noteReached(operation.operationId, answer.status);
};
