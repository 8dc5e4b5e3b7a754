import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { projectRoot } from '../../../src/projectRoot';

const SOURCES = join(projectRoot(), 'console', 'src');
const read = (file: string) => readFileSync(file, 'utf8');
const filesThat = (end: RegExp) =>
  readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
    .filter((file) => end.test(file))
    .map((file) => join(SOURCES, file));

/** The classes that the selectors of a style sheet name, without those of `:global`. */
function classesOf(css: string): string[] {
  const selectors = css
    .replace(/\/\*.*?\*\//gs, '')
    .replace(/:global\([^)]*\)/g, '')
    .replace(/\{[^{}]*\}/g, ' ')
    .replace(/@[^{]*\{/g, ' ');
  return [...new Set([...selectors.matchAll(/\.([a-zA-Z][\w-]*)/g)].map(([, name = '']) => name))];
}

const GLOBAL = new Set(classesOf(read(join(SOURCES, 'theme', 'base.css'))));
const components = filesThat(/\.tsx$/);
const modules = filesThat(/\.css$/).filter((file) => !relative(SOURCES, file).startsWith('theme'));

/** What a component reads of style sheets: the file, and each class; null for one that is chosen as the page runs. */
function usesIn(file: string): readonly (readonly [sheet: string, name: string | null])[] {
  const code = read(file);
  return [...code.matchAll(/import (\w+) from '(\.[^']*\.module\.css)'/g)].flatMap(
    ([, styles = '', path = '']) => {
      const sheet = join(dirname(file), path);
      const named = [...code.matchAll(new RegExp(`\\b${styles}\\.(\\w+)`, 'g'))].map(([, name = '']) => name);
      return [
        ...named.map((name) => [sheet, name] as const),
        ...(code.includes(`${styles}[`) ? [[sheet, null] as const] : []),
      ];
    },
  );
}
const uses = components.flatMap(usesIn);

describe('the style sheets of the console', () => {
  it('are modules, but for the theme', () => {
    expect(modules.filter((file) => !file.endsWith('.module.css'))).toEqual([]);
  });

  it('have every class that a component names', () => {
    const wrong = uses.filter(([sheet, name]) => name !== null && !classesOf(read(sheet)).includes(name));
    expect(wrong.map(([sheet, name]) => `${relative(SOURCES, sheet)}: ${name}`)).toEqual([]);
  });

  it('have no class that no component names', () => {
    const unused = modules.flatMap((sheet) => {
      const named = uses.filter(([used]) => used === sheet).map(([, name]) => name);
      if (named.includes(null)) return [];
      return classesOf(read(sheet))
        .filter((name) => !named.includes(name))
        .map((name) => `${relative(SOURCES, sheet)}: ${name}`);
    });
    expect(unused).toEqual([]);
  });

  it('are not what a component looks for: the names of a module are made by the build', () => {
    const looked = components.flatMap((file) =>
      [...read(file).matchAll(/(?:querySelector(?:All)?(?:<\w+>)?|closest)\(\s*['`][^'`]*\.[a-zA-Z]/g)].map(
        ([found]) => `${relative(SOURCES, file)}: ${found}`,
      ),
    );
    expect(looked).toEqual([]);
  });

  it('have what is named as text in the theme', () => {
    const wrong = components.flatMap((file) =>
      [...read(file).matchAll(/className="([^"]*)"/g)]
        .flatMap(([, names = '']) => names.split(/\s+/))
        .filter((name) => !GLOBAL.has(name))
        .map((name) => `${relative(SOURCES, file)}: ${name}`),
    );
    expect(wrong).toEqual([]);
  });
});
