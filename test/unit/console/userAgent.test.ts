import { browserText } from '../../../console/src/text/userAgent';

const CHROME =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36';

describe('browserText', () => {
  it.each([
    [CHROME, 'Chrome 138 on Linux'],
    [CHROME.replace('Chrome/', 'HeadlessChrome/'), 'Chrome 138 on Linux'],
    [
      `${CHROME.replace('X11; Linux x86_64', 'Windows NT 10.0; Win64; x64')} Edg/138.0.0.0`,
      'Edge 138 on Windows',
    ],
    [CHROME.replace('X11; Linux x86_64', 'Linux; Android 14; Pixel 8'), 'Chrome 138 on Android'],
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0',
      'Firefox 140 on Windows',
    ],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15',
      'Safari 18 on macOS',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
      'Safari 18 on iOS',
    ],
  ])('names the browser of %s', (userAgent, expected) => {
    expect(browserText(userAgent)).toBe(expected);
  });

  it('shows what it does not know as it is', () => {
    expect(browserText('curl/8.5.0')).toBe('curl/8.5.0');
    expect(browserText('')).toBe('unknown browser');
    expect(browserText(undefined)).toBe('unknown browser');
  });
});
