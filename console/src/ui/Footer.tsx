import { useStore } from '../state/store.ts';
import { timeZone } from '../text/time.ts';
import { chooseTheme, type Theme, themeStore } from '../theme/theme.ts';
import styles from './footer.module.css';

const BUILD = document.querySelector<HTMLMetaElement>('meta[name="orgwallet-build"]')?.content;

function ThemeChoice() {
  const theme = useStore(themeStore);
  return (
    <label className={styles.themeChoice}>
      Theme{' '}
      <select value={theme} onChange={({ target }) => chooseTheme(target.value as Theme)}>
        <option value="system">system</option>
        <option value="light">light</option>
        <option value="dark">dark</option>
      </select>
    </label>
  );
}

/** Which build of the page this is, and how it looks. */
export function Footer() {
  return (
    <footer className={styles.foot}>
      <span>
        orgwallet · build <code>{BUILD?.slice(0, 16) || 'development'}</code>
      </span>
      <span>Times are in {timeZone()}</span>
      <ThemeChoice />
    </footer>
  );
}
