import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { openApiText } from '../contract/openapi';
import { endpoints, scopeOf } from './endpoints';

writeFileSync(resolve('openapi.json'), openApiText(endpoints, scopeOf));
