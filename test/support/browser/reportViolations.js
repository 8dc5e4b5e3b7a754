// Runs in every page: what the Content-Security-Policy refuses becomes an error, which the test sees.
document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) =>
  console.error(`Content-Security-Policy: ${effectiveDirective} ${blockedURI}`),
);
