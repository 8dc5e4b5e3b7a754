// Unpacks the browser of the development dependencies into the folder of temporary files, which the caller chooses.
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// The package adds the libraries that a bare machine lacks where it believes to run on Amazon Linux.
process.env.AWS_EXECUTION_ENV = 'AWS_Lambda_nodejs20.x';
const { default: chromium } = await import('@sparticuz/chromium');
await chromium.executablePath();
// Its own list of folders has only those of that machine, and without a font nothing is written.
writeFileSync(
  join(tmpdir(), 'fonts', 'fonts.conf'),
  `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">.</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`,
);
