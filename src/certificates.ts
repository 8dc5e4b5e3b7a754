import { X509Certificate } from 'node:crypto';

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** When each certificate of a PEM text ends, in milliseconds of Unix time. Throws where there is none, or one is malformed. */
export function certificateEnds(pem: string): [number, ...number[]] {
  const [first, ...others] = (pem.match(PEM_CERTIFICATE) ?? []).map((one) =>
    Date.parse(new X509Certificate(one).validTo),
  );
  if (first === undefined) throw new Error('no certificate (PEM) found');
  return [first, ...others];
}

/** When a certificate, with those that signed it, is not accepted any more: with the first of them that ends. */
export function chainEnd(pem: string): Date {
  return new Date(Math.min(...certificateEnds(pem)));
}
