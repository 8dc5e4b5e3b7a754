// `npm start`: makes the clone able to run, then runs the embedded stack and the service in this process tree.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { bootstrap, projectDir } from './bootstrap.mjs';

process.chdir(projectDir);
try {
  await bootstrap();
  const { main } = createRequire(import.meta.url)(join(projectDir, 'dist', 'src', 'dev', 'main.js'));
  await main(process.env);
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
