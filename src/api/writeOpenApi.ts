import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { openApiText } from '../contract/openapi';

writeFileSync(resolve('openapi.json'), openApiText());
