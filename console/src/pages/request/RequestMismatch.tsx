import { Mismatch } from '../../ui/Mismatch.tsx';

/** A payload that is not what the request shows, or not what was asked for. */
export function RequestMismatch({ problem }: { readonly problem: unknown }) {
  return <Mismatch problem={problem} title="Do not sign: the payload does not match the request" />;
}
