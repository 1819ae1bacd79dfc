{{/* Metadata of a pod: (dict "root" . "component" "rest" "of" .Values.rest), and optional "annotations". An upgrade of fxd must
not restart the stores, so their pods have no version. */}}
{{- define "fxd.podMetadata" -}}
labels:
  {{- include "fxd.selector" (list .root .component) | nindent 2 }}
  app.kubernetes.io/part-of: fxd
  {{- if not (has .component (list "questdb" "redis")) }}
  app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
  {{- end }}
  {{- with merge dict .of.podLabels .root.Values.commonLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with merge dict (.annotations | default dict) .of.podAnnotations .root.Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Scheduling and user of a pod: (dict "root" . "component" "rest" "of" .Values.rest), and optional "userId", "fsGroup" and
"serviceAccount" (only then can it call the API server). */}}
{{- define "fxd.podBasics" -}}
{{- with .serviceAccount }}
serviceAccountName: {{ . }}
{{- end }}
automountServiceAccountToken: {{ if .serviceAccount }}true{{ else }}false{{ end }}
enableServiceLinks: false
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  {{- if .root.Values.fixedIds }}
  runAsUser: {{ .userId | default 65532 | int }}
  runAsGroup: {{ .userId | default 65532 | int }}
  fsGroup: {{ .userId | default 65532 | int }}
  {{- end }}
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- with .of.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .of.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with include "fxd.affinity" . | fromYaml }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .of.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Affinity of a pod: that of the values, and for parts that are spread a preference for zones without such a pod. The
preference is not a constraint of fxd.spread: the scheduler scores no node that lacks the key of one constraint, and many
clusters have no zones. */}}
{{- define "fxd.affinity" -}}
{{- $zones := dict }}
{{- if and (hasKey .of "topologySpreadConstraints") (not .of.topologySpreadConstraints) }}
{{- $zones = include "fxd.otherZones" . | fromYaml }}
{{- end }}
{{- merge (deepCopy (.of.affinity | default dict)) $zones | toYaml }}
{{- end }}

{{- define "fxd.otherZones" -}}
podAntiAffinity:
  preferredDuringSchedulingIgnoredDuringExecution:
    - weight: 100
      podAffinityTerm:
        topologyKey: topology.kubernetes.io/zone
        {{- include "fxd.alike" . | nindent 8 }}
{{- end }}

{{/* Spreads the pods of a part over nodes: the same arguments. */}}
{{- define "fxd.spread" -}}
topologySpreadConstraints:
{{- if .of.topologySpreadConstraints }}
  {{- toYaml .of.topologySpreadConstraints | nindent 2 }}
{{- else }}
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    {{- include "fxd.alike" . | nindent 4 }}
{{- end }}
{{- end }}

{{/* Selects the pods that are spread together: the same arguments, and optional "each": pods with different values of this
label are spread separately. */}}
{{- define "fxd.alike" -}}
matchLabelKeys: [{{ .each | default "pod-template-hash" }}]
labelSelector:
  matchLabels:
    {{- include "fxd.selector" (list .root .component) | nindent 4 }}
{{- end }}

{{- define "fxd.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{/* Liveness depends on nothing outside of the process, so a role that waits for its stores is not restarted. */}}
{{- define "fxd.probes" -}}
startupProbe:
  httpGet: {path: /livez, port: ops}
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: {path: /livez, port: ops}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: {path: /readyz, port: ops}
  periodSeconds: 2
  timeoutSeconds: 2
  failureThreshold: 2
{{- end }}

{{/* Environment of a container: (list text extraEnv). The last entry of a name counts: server-side apply refuses two of one
name. An entry can refer to earlier ones only. So the chart's entries that refer to others, such as a URL to a password,
follow the entries that extraEnv replaces, and new entries that refer to others come last. */}}
{{- define "fxd.env" -}}
{{- $names := list }}
{{- range index . 1 }}{{ $names = append $names .name }}{{ end }}
{{- $chart := list }}
{{- $plain := list }}
{{- $referring := list }}
{{- range fromYamlArray (index . 0) }}
{{- $chart = append $chart .name }}
{{- if has .name $names }}
{{- else if contains "$(" (.value | default "") }}{{ $referring = append $referring . }}
{{- else }}{{ $plain = append $plain . }}
{{- end }}
{{- end }}
{{- $extra := list }}
{{- $last := list }}
{{- range $i, $each := index . 1 }}
{{- if has .name (slice $names (add1 $i)) }}
{{- else if and (contains "$(" (.value | default "")) (not (has .name $chart)) }}{{ $last = append $last $each }}
{{- else }}{{ $extra = append $extra $each }}
{{- end }}
{{- end }}
{{- toYaml (concat $plain $extra $referring $last) }}
{{- end }}

{{/* The container of a role: (dict "root" . "role" "rest" "of" .Values.rest "env" text "ports" text "mounts" text). */}}
{{- define "fxd.container" -}}
name: {{ .role }}
image: {{ include "fxd.image" (list .root .root.Values.image) | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
args: [{{ .role }}]
{{- $common := list
  (printf "- {name: FXD_LOG_LEVEL, value: %q}" .root.Values.logLevel)
  "- {name: FXD_LOG_FORMAT, value: json}"
  (printf "- {name: FXD_OPS_ADDR, value: %q}" (printf "%s:9464" .root.Values.listenAddress))
  .env }}
env:
  {{- include "fxd.env" (list (join "\n" $common) .of.extraEnv) | nindent 2 }}
ports:
  - {name: ops, containerPort: 9464}
  {{- with .ports }}
  {{- . | nindent 2 }}
  {{- end }}
{{ include "fxd.probes" . }}
resources:
  {{- toYaml .of.resources | nindent 2 }}
securityContext:
  {{- include "fxd.containerSecurity" . | nindent 2 }}
{{- with .mounts }}
volumeMounts:
  {{- . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Environment with the stores and the user of a role: (list root "rest" "reader"). */}}
{{- define "fxd.storesEnv" -}}
{{- $root := index . 0 -}}
{{- $role := index . 1 -}}
{{- $questdb := $root.Values.questdb -}}
{{- $redis := $root.Values.redis -}}
{{- $questdbUser := index $questdb (index . 2) -}}
{{- $redisUser := index $redis.users $role -}}
{{- $scheme := ternary "rediss" "redis" (and (not $redis.enabled) $redis.tls.enabled) -}}
{{- $host := include "fxd.questdbHost" $root -}}
- {name: FXD_STORE, value: questdb}
{{- if eq (index . 2) "writer" }}
- {name: FXD_QUESTDB_HTTP, value: {{ printf "%s:%v" $host (ternary 9000 $questdb.httpPort $questdb.enabled) | quote }}}
{{- end }}
- {name: FXD_QUESTDB_PG, value: {{ printf "%s:%v" $host (ternary 8812 $questdb.pgPort $questdb.enabled) | quote }}}
- {name: FXD_QUESTDB_USER, value: {{ $questdbUser.user | quote }}}
- name: FXD_QUESTDB_PASSWORD
  valueFrom:
    secretKeyRef: {name: {{ include "fxd.questdbSecret" (list $root (index . 2)) | quote }}, key: {{ $questdbUser.key | quote }}}
- {name: FXD_QUESTDB_PREFIX, value: {{ $questdb.prefix | quote }}}
- name: REDIS_PASSWORD
  valueFrom:
    secretKeyRef: {name: {{ include "fxd.redisSecret" (list $root $role) | quote }}, key: {{ $redisUser.key | quote }}}
- {name: FXD_REDIS, value: {{ printf "%s://%s:$(REDIS_PASSWORD)@%s/%v" $scheme $redisUser.user (include "fxd.redisHost" $root) $redis.database | quote }}}
- {name: FXD_REDIS_PREFIX, value: {{ $redis.prefix | quote }}}
{{- if and (not $redis.enabled) $redis.sentinel.hosts }}
- {name: FXD_REDIS_SENTINELS, value: {{ join "," $redis.sentinel.hosts | quote }}}
- {name: FXD_REDIS_MASTER, value: {{ $redis.sentinel.master | quote }}}
{{- if $redis.sentinel.tls }}
- {name: FXD_REDIS_SENTINEL_TLS, value: enabled}
{{- end }}
{{- with $redis.sentinel.existingSecret }}
- name: FXD_REDIS_SENTINEL_PASSWORD
  valueFrom:
    secretKeyRef: {name: {{ . | quote }}, key: {{ $redis.sentinel.key | quote }}}
{{- end }}
{{- end }}
{{- if and (not $redis.enabled) (or $redis.tls.enabled $redis.sentinel.tls) $redis.tls.caSecret }}
- {name: NODE_EXTRA_CA_CERTS, value: /etc/fxd/redis/ca.crt}
{{- end }}
{{- end }}

{{/* Volumes of the files that storesEnv names. */}}
{{- define "fxd.storesMounts" -}}
{{- if and (not .Values.redis.enabled) (or .Values.redis.tls.enabled .Values.redis.sentinel.tls) .Values.redis.tls.caSecret }}
- {name: redis-ca, mountPath: /etc/fxd/redis, readOnly: true}
{{- end }}
{{- end }}
{{- define "fxd.storesVolumes" -}}
{{- with .Values.redis }}
{{- if and (not .enabled) (or .tls.enabled .sentinel.tls) .tls.caSecret }}
- name: redis-ca
  secret: {secretName: {{ .tls.caSecret | quote }}, items: [{key: {{ .tls.caKey | quote }}, path: ca.crt}]}
{{- end }}
{{- end }}
{{- end }}

{{/* A token or key as a file /etc/fxd/<name>/<file>: (list "admin" secret key). */}}
{{- define "fxd.secretMount" -}}
- {name: {{ index . 0 }}, mountPath: /etc/fxd/{{ index . 0 }}, readOnly: true}
{{- end }}
{{- define "fxd.secretVolume" -}}
- name: {{ index . 0 }}
  secret: {secretName: {{ index . 1 | quote }}, defaultMode: 0440, items: [{key: {{ index . 2 | quote }}, path: value}]}
{{- end }}

{{/* The certificate of a server: (list root "ingest"). Mounted as a folder, so that renewals are visible. */}}
{{- define "fxd.tlsEnv" -}}
{{- if include "fxd.hasTls" (index . 0) }}
- {name: FXD_TLS_CERT, value: /etc/fxd/tls/tls.crt}
- {name: FXD_TLS_KEY, value: /etc/fxd/tls/tls.key}
{{- end }}
{{- end }}
{{- define "fxd.tlsMount" -}}
{{- if include "fxd.hasTls" (index . 0) }}
- {name: tls, mountPath: /etc/fxd/tls, readOnly: true}
{{- end }}
{{- end }}
{{- define "fxd.tlsVolume" -}}
{{- if include "fxd.hasTls" (index . 0) }}
- name: tls
  secret: {secretName: {{ include "fxd.tlsSecret" . | quote }}, defaultMode: 0440, items: [{key: tls.crt, path: tls.crt}, {key: tls.key, path: tls.key}]}
{{- end }}
{{- end }}

{{/* The authority of the certificates of ingest and shards, for their clients. It comes from the Secret of ingest. */}}
{{- define "fxd.caEnv" -}}
{{- if include "fxd.hasTls" . }}
- {name: FXD_TLS_CA, value: /etc/fxd/ca/ca.crt}
{{- end }}
{{- end }}
{{- define "fxd.caMount" -}}
{{- if include "fxd.hasTls" . }}
- {name: ca, mountPath: /etc/fxd/ca, readOnly: true}
{{- end }}
{{- end }}
{{- define "fxd.caVolume" -}}
{{- if include "fxd.hasTls" . }}
- name: ca
  secret: {secretName: {{ include "fxd.tlsSecret" (list . "ingest") | quote }}, items: [{key: ca.crt, path: ca.crt}]}
{{- end }}
{{- end }}
