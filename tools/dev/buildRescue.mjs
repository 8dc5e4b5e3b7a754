// Builds the rescue page: one file that needs no other. Its Content-Security-Policy permits its own script and its own style, by
// their hashes, and no request at all.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'vite';
import { clientAlias } from './consoleModules.mjs';

const project = fileURLToPath(new URL('../..', import.meta.url));
const source = join(project, 'console', 'rescue');

const hashOf = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Replaces text that the page has to have, by exactly this. */
function put(html, from, to) {
  if (!html.includes(from)) throw new Error(`console/rescue/index.html has no ${from}`);
  return html.replace(from, () => to);
}

/** Builds the page into a file. It is readable: whoever signs with it can read what signs for them. */
export async function buildRescue(file) {
  const [{ output }] = await build({
    root: source,
    configFile: false,
    mode: 'production',
    logLevel: 'error',
    resolve: { alias: clientAlias },
    build: {
      write: false,
      target: ['chrome123', 'edge123', 'firefox120', 'safari17.5'],
      lib: { entry: join(source, 'main.ts'), formats: ['es'], fileName: 'rescue', cssFileName: 'rescue' },
      minify: false,
      cssMinify: false,
      rolldownOptions: { output: { comments: false, codeSplitting: false } },
    },
  });
  const [script, ...more] = output.filter(({ type }) => type === 'chunk');
  const style = output.find(({ fileName }) => fileName.endsWith('.css'));
  if (!script || !style || more.length > 0)
    throw new Error('the rescue page is not one script and one style');
  const code = `\n${script.code.replaceAll('</script', '<\\/script').trim()}\n`;
  const css = `\n${String(style.source).trim()}\n`;
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(code)}`,
    `style-src ${hashOf(css)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  let html = readFileSync(join(source, 'index.html'), 'utf8');
  html = put(
    html,
    'http-equiv="Content-Security-Policy" content=""',
    `http-equiv="Content-Security-Policy" content="${policy}"`,
  );
  html = put(html, '<style></style>', `<style>${css}</style>`);
  html = put(html, '<script type="module"></script>', `<script type="module">${code}</script>`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, html);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await buildRescue(process.argv[2]);
