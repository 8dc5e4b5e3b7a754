import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { openApiText } from '../contract/openapi';
import { endpoints } from './endpoints';

writeFileSync(resolve('openapi.json'), openApiText(endpoints));
