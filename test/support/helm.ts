import type { GoProgram } from './goProgram';

export const HELM: GoProgram = { path: 'helm.sh/helm/v3/cmd/helm', version: 'v3.22.0' };

/** Knows the schemas of Kubernetes's own kinds. */
export const VALIDATE: GoProgram = { path: 'sigs.k8s.io/kubectl-validate', version: 'v0.0.4' };
