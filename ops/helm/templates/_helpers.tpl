{{/* The labels that select the pods of a role: of [role, root]. */}}
{{- define "orgwallet.selector" -}}
app.kubernetes.io/name: orgwallet
app.kubernetes.io/instance: {{ (index . 1).Release.Name }}
app.kubernetes.io/component: {{ index . 0 }}
{{- end }}

{{/* All labels of what belongs to a role: of [role, root]. */}}
{{- define "orgwallet.labels" -}}
{{ include "orgwallet.selector" . }}
app.kubernetes.io/version: {{ (index . 1).Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" (index . 1).Chart.Name (index . 1).Chart.Version }}
{{- end }}

{{/* The label of every pod with an ops port. */}}
{{- define "orgwallet.opsLabel" -}}
orgwallet-ops: {{ .Release.Name }}
{{- end }}

{{- define "orgwallet.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* The Secrets of a role, or of the migration, by the settings that they have: of [role, root]. */}}
{{- define "orgwallet.secrets" -}}
{{- $role := index . 0 }}
{{- with (index . 1).Values.secrets }}
{{- if eq $role "migration" }}
MIGRATION_DATABASE_URL: {{ .migration | quote }}
{{- else }}
{{- if eq $role "signer" }}
SIGNER_DATABASE_URL: {{ .signer | quote }}
KEYSTORE_PASSPHRASE: {{ .signer | quote }}
{{- else }}
DATABASE_URL: {{ .service | quote }}
{{- end }}
TEMPORAL_API_KEY: {{ .temporal | quote }}
{{- end }}
{{- end }}
{{- end }}

{{/* The settings that name the files of these: a variable would be seen in `kubectl describe`, crash dumps and child processes. */}}
{{- define "orgwallet.secretSettings" -}}
{{- range $setting, $secret := include "orgwallet.secrets" . | fromYaml }}
{{- if $secret }}
- { name: {{ $setting }}_FILE, value: /etc/orgwallet-secrets/{{ $setting }} }
{{- end }}
{{- end }}
{{- end }}

{{/* Where they are mounted. */}}
{{- define "orgwallet.secretMount" -}}
{{- if include "orgwallet.secretSettings" . }}
- { name: secrets, mountPath: /etc/orgwallet-secrets, readOnly: true }
{{- end }}
{{- end }}

{{/* The volume of these: each file has the name of its setting, whatever key it has in its Secret. */}}
{{- define "orgwallet.secretVolume" -}}
{{- $keys := (index . 1).Values.secretKeys }}
{{- if include "orgwallet.secretSettings" . }}
- name: secrets
  projected:
    sources:
      {{- range $setting, $secret := include "orgwallet.secrets" . | fromYaml }}
      {{- if $secret }}
      - secret: { name: {{ $secret }}, items: [{ key: {{ index $keys $setting | default $setting }}, path: {{ $setting }} }] }
      {{- end }}
      {{- end }}
{{- end }}
{{- end }}

{{/* What is in a list of all processes and in that of one role: of [list, role, root]. */}}
{{- define "orgwallet.extra" -}}
{{- $of := index . 0 }}
{{- $root := index . 2 }}
{{- with concat (index $root.Values $of) (index (index $root.Values (index . 1)) $of) }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The variables of a role: of [role, root]. */}}
{{- define "orgwallet.env" -}}
{{- $role := index . 0 }}
{{- $root := index . 1 }}
{{- $_ := required "settings.TEMPORAL_ADDRESS is needed: the Temporal frontend, host:port" $root.Values.settings.TEMPORAL_ADDRESS }}
{{- $settings := merge (dict) (index $root.Values $role).settings $root.Values.settings }}
- { name: ORGWALLET_ROLES, value: {{ $role }} }
- { name: OPS_HOST, value: 0.0.0.0 }
- { name: NETWORKS_FILE, value: /etc/orgwallet/networks.json }
{{- if eq $role "worker" }}
{{- /* A build of its own for each upgrade and each rollback. */}}
{{- $build := printf "%s-%d" ($root.Values.image.tag | default $root.Chart.AppVersion) $root.Release.Revision }}
- { name: TEMPORAL_BUILD_ID, value: {{ ternary $build "" $root.Values.worker.builds | quote }} }
{{- end }}
{{- if eq $role "api" }}
- { name: TLS_CERT_FILE, value: /etc/orgwallet-tls/tls.crt }
- { name: TLS_KEY_FILE, value: /etc/orgwallet-tls/tls.key }
{{- end }}
{{- range $name, $value := $settings }}
{{- /* Numbers of a file are floating point: toJson writes them as digits. */}}
- { name: {{ $name }}, value: {{ ternary (toJson $value) (toString $value) (kindIs "float64" $value) | quote }} }
{{- end }}
{{- if eq $role "signer" }}
- { name: ORGWALLET_DATA_DIR, value: /data/signer }
{{- end }}
{{- include "orgwallet.secretSettings" . }}
{{- include "orgwallet.extra" (list "extraEnv" $role $root) }}
{{- end }}

{{- define "orgwallet.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{/* The pod of a role, without its volume for /data: of [role, root]. */}}
{{- define "orgwallet.pod" -}}
{{- $role := index . 0 }}
{{- $root := index . 1 }}
{{- $values := index $root.Values $role }}
metadata:
  labels:
    {{- include "orgwallet.labels" . | nindent 4 }}
    {{- include "orgwallet.opsLabel" $root | nindent 4 }}
  {{- with $root.Values.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- with $root.Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  serviceAccountName: {{ $root.Release.Name }}
  automountServiceAccountToken: false
  terminationGracePeriodSeconds: {{ $root.Values.terminationGracePeriodSeconds }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 1000
    runAsGroup: 1000
    {{- if eq $role "signer" }}
    # A new volume belongs to root: its group may write then.
    fsGroup: 1000
    fsGroupChangePolicy: OnRootMismatch
    {{- end }}
    seccompProfile: { type: RuntimeDefault }
  {{- with $values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if ne $role "signer" }}
  {{- with $root.Values.topologyKeys }}
  topologySpreadConstraints:
    {{- range . }}
    - maxSkew: 1
      topologyKey: {{ . }}
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "orgwallet.selector" (list $role $root) | nindent 10 }}
    {{- end }}
  {{- end }}
  {{- end }}
  {{- if eq $role "signer" }}
  initContainers:
    # The group of the volume must not read the keystore: the signer would refuse it.
    - name: close-to-the-group
      image: {{ include "orgwallet.image" $root }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      command: [sh, -c, "mkdir -p /data/signer && chmod -R go-rwx /data/signer"]
      securityContext:
        {{- include "orgwallet.containerSecurity" $root | nindent 8 }}
      volumeMounts:
        - { name: data, mountPath: /data }
  {{- end }}
  containers:
    - name: {{ $role }}
      image: {{ include "orgwallet.image" $root }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      env:
        {{- include "orgwallet.env" . | nindent 8 }}
      ports:
        - { name: ops, containerPort: 9090 }
        {{- if eq $role "api" }}
        - { name: https, containerPort: 8443 }
        {{- end }}
      # The signer reads its journal first, and may wait a minute for another one to let go of it.
      startupProbe:
        httpGet: { path: /healthz, port: ops }
        periodSeconds: 5
        failureThreshold: 120
      livenessProbe:
        httpGet: { path: /healthz, port: ops }
        periodSeconds: 10
        failureThreshold: 6
      readinessProbe:
        httpGet: { path: /readyz, port: ops }
        periodSeconds: 5
      resources:
        {{- toYaml $values.resources | nindent 8 }}
      securityContext:
        {{- include "orgwallet.containerSecurity" $root | nindent 8 }}
      volumeMounts:
        - { name: data, mountPath: /data }
        - { name: tmp, mountPath: /tmp }
        - { name: networks, mountPath: /etc/orgwallet, readOnly: true }
        {{- include "orgwallet.secretMount" . | indent 8 }}
        {{- if eq $role "api" }}
        - { name: tls, mountPath: /etc/orgwallet-tls, readOnly: true }
        {{- end }}
        {{- include "orgwallet.extra" (list "extraVolumeMounts" $role $root) | indent 8 }}
  volumes:
    - { name: tmp, emptyDir: {} }
    - name: networks
      secret: { secretName: {{ $root.Values.secrets.networks }} }
    {{- include "orgwallet.secretVolume" . | indent 4 }}
    {{- if eq $role "api" }}
    - name: tls
      secret: { secretName: {{ $root.Values.secrets.tls }} }
    {{- end }}
    {{- if ne $role "signer" }}
    - { name: data, emptyDir: {} }
    {{- else if $values.storage.existingClaim }}
    - name: data
      persistentVolumeClaim: { claimName: {{ $values.storage.existingClaim }} }
    {{- end }}
    {{- include "orgwallet.extra" (list "extraVolumes" $role $root) | indent 4 }}
{{- end }}
