// `npm run dev`: the console with hot reload, in front of a service that runs. The service sees requests of its own page.
import { request } from 'node:https';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { generate } from 'selfsigned';
import { createServer } from 'vite';
import { clientAlias, portableModules } from './consoleModules.mjs';

const project = fileURLToPath(new URL('../..', import.meta.url));
const DEFAULT_SERVICE = 'https://localhost:8443';
const PORT = 5173;
/** What a development server adds to its page: the demo wallets. */
const ADDITION = /<meta name="demo-wallets".*?<\/script>/s;

/** The page that the service sends; empty while there is none. */
function readPage(service) {
  return new Promise((resolve) => {
    const asked = request(service, { rejectUnauthorized: false }, (response) => {
      const parts = [];
      response.on('data', (part) => parts.push(part));
      response.on('end', () => resolve(Buffer.concat(parts).toString('utf8')));
    });
    asked.on('error', () => resolve(''));
    asked.end();
  });
}

const demoWalletsOf = (service) => ({
  name: 'demo-wallets',
  async transformIndexHtml(html) {
    const [addition = ''] = ADDITION.exec(await readPage(service)) ?? [];
    return html.replace('</head>', `${addition}</head>`);
  },
});

/** Starts the server. Returns it, and where the page is. */
async function serveConsole(service = DEFAULT_SERVICE, port = PORT) {
  const { origin } = new URL(service);
  const certificate = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }],
  });
  const toService = {
    target: origin,
    // The certificate of a local service is its own authority.
    secure: false,
    changeOrigin: true,
    headers: { origin },
  };
  const server = await createServer({
    root: join(project, 'console'),
    configFile: false,
    plugins: [react(), portableModules, demoWalletsOf(origin)],
    resolve: { alias: clientAlias },
    // Whoever signs in signs for the service, not for this server.
    define: { 'import.meta.env.VITE_SERVICE': JSON.stringify(origin) },
    cacheDir: join(project, 'node_modules', '.cache', 'console'),
    server: {
      port,
      strictPort: true,
      https: { key: certificate.private, cert: certificate.cert },
      proxy: { '/api': toService, '/session': toService, '/sessions': toService, '/demo-wallets': toService },
    },
  });
  await server.listen();
  return { server, url: `https://localhost:${server.config.server.port}` };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { url } = await serveConsole(process.argv[2], Number(process.argv[3] ?? PORT));
  console.log(`The console, reloaded as it changes: ${url}`);
}
