import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';

/** What the service as it is now records; the other sets are of releases, and stay as they are. */
export const UNRELEASED = 'unreleased';

const END = '.json.gz';

/** Histories by the state that their workflow has reached, as JSON text. */
type Histories = ReadonlyMap<string, string>;

/** The sets of histories: of each release, and the unreleased one. */
export function recordedSets(): string[] {
  return readdirSync(__dirname).flatMap((file) => (file.endsWith(END) ? file.slice(0, -END.length) : []));
}

/** The histories of a set: `{"waiting": {"events": […]}, …}`, compressed. */
export function readHistories(set: string): Histories {
  const text = gunzipSync(readFileSync(join(__dirname, `${set}${END}`))).toString('utf8');
  const histories: Readonly<Record<string, object>> = JSON.parse(text);
  return new Map(Object.entries(histories).map(([state, history]) => [state, JSON.stringify(history)]));
}

/** Writes a set of histories. The same ones make the same file. */
export function writeHistories(set: string, histories: Histories): void {
  const sorted = [...histories].sort(([one], [other]) => (one < other ? -1 : 1));
  const text = `{${sorted.map(([state, history]) => `${JSON.stringify(state)}:${history}`).join(',\n')}}\n`;
  writeFileSync(join(__dirname, `${set}${END}`), gzipSync(text, { level: 9 }));
}
