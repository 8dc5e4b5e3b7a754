import { browserCandidates } from '../support/browser/candidates';
import { launchBrowser } from '../support/browser/launch';

const isPackaged = process.platform === 'linux' && process.arch === 'x64';

describe('the browser of the tests', () => {
  it('is that of BROWSER_PATH and no other, where it is set', async () => {
    await expect(launchBrowser({ BROWSER_PATH: '/nowhere/chrome' })).rejects.toThrow(
      /no browser starts for the tests of the console:\n {2}BROWSER_PATH \(\/nowhere\/chrome\): .*\nInstall Chrome or Chromium \d+ or newer, or set BROWSER_PATH to its program\./,
    );
  });

  it('is an installed one, else that of the development dependencies', () => {
    expect(browserCandidates({}).map(({ name }) => name)).toEqual([
      'an installed Chrome or Chromium',
      'the development dependency @sparticuz/chromium',
    ]);
  });

  it('can be that of the development dependencies, with the libraries and the font that it brings', async () => {
    const { HOME, PATH, XDG_CACHE_HOME } = process.env;
    const started = launchBrowser(
      { HOME, PATH, XDG_CACHE_HOME },
      browserCandidates({ HOME, XDG_CACHE_HOME }).slice(1),
    );
    if (!isPackaged) {
      await expect(started).rejects.toThrow('it is for linux-x64');
      return;
    }
    const browser = await started;
    try {
      const page = await browser.newPage();
      await page.setContent('<p>iiii</p><p>WWWW</p><style>p { float: left }</style>');
      const widths = await page
        .getByRole('paragraph')
        .evaluateAll((all) => all.map(({ offsetWidth }) => offsetWidth));
      // Without a font, nothing has a width.
      expect(Math.min(...widths)).toBeGreaterThan(5);
    } finally {
      await browser.close();
    }
  });
});
