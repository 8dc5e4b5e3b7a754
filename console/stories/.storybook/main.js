import react from '@vitejs/plugin-react';
import { clientAlias, portableModules } from '../../../tools/dev/consoleModules.mjs';

export default {
  framework: '@storybook/react-vite',
  stories: ['../*.stories.tsx'],
  core: { disableTelemetry: true, disableWhatsNewNotifications: true },
  typescript: { reactDocgen: false },
  viteFinal: (config) => ({
    ...config,
    plugins: [...config.plugins, react(), portableModules],
    resolve: { ...config.resolve, alias: clientAlias },
  }),
};
