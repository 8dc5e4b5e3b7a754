import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from './api/client.ts';
import { router } from './router.tsx';
import './theme/tokens.css';
import './theme/base.css';
import './theme/theme.ts';
import { discoverWallets } from './signing/wallet.ts';

const place = document.getElementById('root');
if (!place) throw new Error('the page has no element "root"');

discoverWallets();
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
