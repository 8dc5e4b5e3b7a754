/** What an envelope carries, and how far that is. */
interface Carried {
  readonly kind: 'deployment' | 'transaction' | 'cancellation' | 'filler' | 'upkeep';
  readonly outcome: string | null;
  readonly cancellation: string | null;
  readonly isDeploymentPending: boolean;
}

/** Whether an envelope is obsolete: nobody follows it, and a filler may take its nonce. */
export function isObsolete({ kind, outcome, cancellation, isDeploymentPending }: Carried): boolean {
  switch (kind) {
    case 'filler':
      return true;
    case 'deployment':
      return !isDeploymentPending;
    case 'upkeep':
      return outcome !== null;
    case 'transaction':
    case 'cancellation':
      // Bytes that are to be cancelled are not sent: where the signer holds the cancellation back, a filler takes their nonce.
      return outcome !== null || cancellation !== null;
  }
}
