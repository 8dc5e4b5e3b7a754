import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { type Request, type Response, Router } from 'express';
import { exchangeOf } from './exchange';
import type { PageAddition } from './pageAddition';
import { PAGE_HEADERS } from './pageHeaders';
import { pathNotFound, Refused } from './refusals';

/** One form in which a file can be sent. */
interface Form {
  readonly encoding: 'br' | 'gzip' | 'identity';
  readonly bytes: Buffer;
  readonly etag: string;
}

/** A file of the console, the smallest form first. */
interface ConsoleFile {
  readonly type: string;
  readonly forms: readonly Form[];
}

const TYPES: { readonly [extension: string]: string } = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
};
const ENCODINGS = { '.br': 'br', '.gz': 'gzip' } as const;

const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
    "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  ...PAGE_HEADERS,
};

const INDEX = '/index.html';
/** The last file that a build writes. */
const FINISHED = '.built-from';
/** Paths that are not pages of the console, and those below them. */
const NO_PAGE = /^\/(api|docs|openapi\.json|session|sessions|assets)(\/|$)/;
const IMMUTABLE = 'public, max-age=31536000, immutable';

function formOf(bytes: Buffer, encoding: Form['encoding']): Form {
  return {
    encoding,
    bytes,
    etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
  };
}

/** Reads a built console, by the paths of its files: what is not in it cannot be asked for. */
function readConsole(dir: string): ReadonlyMap<string, ConsoleFile> {
  const names = readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(dir, join(entry.parentPath, entry.name)))
    .filter((name) => name !== FINISHED);
  const known = new Set(names);
  const files = new Map<string, ConsoleFile>();
  for (const name of names.filter((one) => !(extname(one) in ENCODINGS))) {
    const compressed = Object.entries(ENCODINGS).filter(([extension]) => known.has(name + extension));
    files.set(`/${name.split(sep).join('/')}`, {
      type: TYPES[extname(name)] ?? 'application/octet-stream',
      forms: [
        ...compressed.map(([extension, encoding]) =>
          formOf(readFileSync(join(dir, name + extension)), encoding),
        ),
        formOf(readFileSync(join(dir, name)), 'identity'),
      ],
    });
  }
  return files;
}

/**
 * The files of a folder; read again when the console has been built again. Undefined while there is no finished build: files
 * that were read meanwhile may be of two builds.
 */
function consoleIn(dir: string): () => ReadonlyMap<string, ConsoleFile> | undefined {
  let read: { readonly files: ReadonlyMap<string, ConsoleFile>; readonly builtAtMs: number } | undefined;
  const finishedAtMs = () => statSync(join(dir, FINISHED), { throwIfNoEntry: false })?.mtimeMs;
  return () => {
    const builtAtMs = finishedAtMs();
    if (builtAtMs === undefined) return undefined;
    if (read?.builtAtMs !== builtAtMs) {
      const files = readConsole(dir);
      if (finishedAtMs() !== builtAtMs) return undefined;
      read = { files, builtAtMs };
    }
    return read.files;
  };
}

function sendFile(request: Request, response: Response, { type, forms }: ConsoleFile, caching: string): void {
  const accepted = request.acceptsEncodings(forms.map(({ encoding }) => encoding));
  const form = forms.find(({ encoding }) => encoding === accepted) ?? forms.at(-1);
  if (!form) throw pathNotFound();
  const { encoding, bytes, etag } = form;
  for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
  response.setHeader('Cache-Control', caching);
  response.setHeader('Vary', 'Accept-Encoding');
  response.setHeader('ETag', etag);
  if (request.headers['if-none-match'] === etag) {
    response.statusCode = 304;
    response.end();
    return;
  }
  response.setHeader('Content-Type', type);
  if (encoding !== 'identity') response.setHeader('Content-Encoding', encoding);
  response.setHeader('Content-Length', bytes.length);
  response.end(request.method === 'HEAD' ? undefined : bytes);
}

/** A page with these elements before its first script; as it is without any. */
function withHead(file: ConsoleFile, head: string): ConsoleFile {
  if (head === '') return file;
  const { type, forms } = file;
  const page = forms.at(-1)?.bytes.toString('utf8') ?? '';
  return { type, forms: [formOf(Buffer.from(page.replace('<script', () => `${head}<script`)), 'identity')] };
}

/** True for what a browser asks for when it opens a page, whatever the page's address. */
function isPage({ path, headers }: Request): boolean {
  return path === '/' || (!NO_PAGE.test(path) && (headers.accept ?? '').includes('text/html'));
}

function absent(reason: string): Refused {
  return new Refused({ code: 'notFound', message: `there is no console here: ${reason}` });
}

/**
 * Serves the built console: its files, and its page at every other path that a browser opens. Without `origins` nobody
 * could sign in, so there is none.
 */
export function consoleRoutes({
  consoleDir,
  origins,
  pageAddition,
}: {
  consoleDir: string;
  origins: readonly string[];
  pageAddition?: PageAddition | undefined;
}): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const built = consoleIn(consoleDir);
  const current = () => {
    if (origins.length === 0) return 'the setting ORIGINS names no origin';
    return built() ?? 'it is not built (npm run build)';
  };

  const headFor = (request: Request, isIndex: boolean) =>
    isIndex && pageAddition ? pageAddition.head(request) : '';

  router.get('/{*path}', (request, response, next) => {
    const { path } = request;
    const files = current();
    const page = isPage(request);
    if (typeof files === 'string') {
      if (page) throw absent(files);
      next();
      return;
    }
    const index = files.get(INDEX);
    const file = files.get(path) ?? (page ? index : undefined);
    if (!file) {
      next();
      return;
    }
    const isAsset = path.startsWith('/assets/');
    exchangeOf(response).route = isAsset ? '/assets' : '/';
    const head = headFor(request, file === index);
    sendFile(request, response, withHead(file, head), isAsset ? IMMUTABLE : 'no-cache');
  });
  return router;
}
