// `npm start`: prepares the clone, then runs the embedded stack and the service in this process tree. In
// production nothing is embedded: this process becomes the service.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { bootstrap, projectDir } from './bootstrap.mjs';

process.chdir(projectDir);
try {
  await bootstrap();
  const load = createRequire(import.meta.url);
  if (process.env.NODE_ENV === 'production') load(join(projectDir, 'dist', 'src', 'main.js'));
  else await load(join(projectDir, 'dist', 'tools', 'dev', 'main.js')).main(process.env);
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
