{{/* At most 33 characters: a StreamPool may have 40, and "-stream" has 7. A release's name may have what a Service's may not. */}}
{{- define "fxd.fullname" -}}
{{- $name := .Values.fullnameOverride | default .Release.Name | trunc 33 | trimSuffix "-" -}}
{{- if not (regexMatch "^[a-z][-a-z0-9]*$" $name) }}{{ fail (printf "set fullnameOverride: names of Services begin with a letter and have no dot, but the release is called %s" .Release.Name) }}{{ end -}}
{{- $name }}
{{- end }}

{{/* Labels that identify the pods of one part: (list root component). They never change. */}}
{{- define "fxd.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: fxd
app.kubernetes.io/instance: {{ $root.Release.Name | quote }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{/* (list root component) */}}
{{- define "fxd.labels" -}}
{{- $root := index . 0 -}}
{{ include "fxd.selector" . }}
app.kubernetes.io/part-of: fxd
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name ($root.Chart.Version | replace "+" "_") }}
{{- end }}

{{/* Name, namespace, labels and annotations of an object: (dict "root" . "component" "rest" "name" "fxd-rest"), and
optional "of" (values with labels and annotations) and "annotations". */}}
{{- define "fxd.metadata" -}}
name: {{ .name }}
namespace: {{ .root.Release.Namespace | quote }}
{{ include "fxd.labelsAndAnnotations" . }}
{{- end }}

{{/* Labels and annotations of an object: the same arguments without "name". */}}
{{- define "fxd.labelsAndAnnotations" -}}
{{- $of := .of | default dict -}}
{{- $annotations := merge dict (.annotations | default dict) ($of.annotations | default dict) .root.Values.commonAnnotations -}}
labels:
  {{- include "fxd.labels" (list .root .component) | nindent 2 }}
  {{- with merge dict ($of.labels | default dict) .root.Values.commonLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with $annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* (list root image) */}}
{{- define "fxd.image" -}}
{{- $root := index . 0 -}}
{{- $image := index . 1 -}}
{{- with $root.Values.imageRegistry }}{{ trimSuffix "/" . }}/{{ end -}}
{{ $image.repository }}
{{- if $image.digest }}@{{ $image.digest }}{{ else }}:{{ $image.tag | default $root.Chart.AppVersion }}{{ end }}
{{- end }}

{{- define "fxd.adminSecret" -}}
{{- .Values.secrets.adminToken.existingSecret | default (printf "%s-admin-token" (include "fxd.fullname" .)) }}
{{- end }}

{{- define "fxd.shardSecret" -}}
{{- .Values.secrets.shardToken.existingSecret | default (printf "%s-shard-token" (include "fxd.fullname" .)) }}
{{- end }}

{{- define "fxd.signingSecret" -}}
{{- .Values.secrets.signingKeys.existingSecret | default (printf "%s-signing-keys" (include "fxd.fullname" .)) }}
{{- end }}

{{- define "fxd.chartSecret" -}}
{{- .Values.secrets.chartKeys.existingSecret | default (printf "%s-chart-keys" (include "fxd.fullname" .)) }}
{{- end }}

{{/* (list root "writer") */}}
{{- define "fxd.questdbSecret" -}}
{{- $root := index . 0 -}}
{{- (index $root.Values.questdb (index . 1)).existingSecret | default (printf "%s-questdb-%s" (include "fxd.fullname" $root) (index . 1)) }}
{{- end }}

{{/* (list root "rest") */}}
{{- define "fxd.redisSecret" -}}
{{- $root := index . 0 -}}
{{- (index $root.Values.redis.users (index . 1)).existingSecret | default (printf "%s-redis-%s" (include "fxd.fullname" $root) (index . 1)) }}
{{- end }}

{{/* (list root "ingest"): the Secret with the certificate of a server. */}}
{{- define "fxd.tlsSecret" -}}
{{- $root := index . 0 -}}
{{- if eq $root.Values.tls.mode "CertManager" }}{{ include "fxd.fullname" $root }}-{{ index . 1 }}-tls
{{- else }}{{ required (printf "tls.secretNames.%s is needed with tls.mode Secret" (index . 1)) (index $root.Values.tls.secretNames (index . 1)) }}
{{- end }}
{{- end }}

{{- define "fxd.hasTls" -}}
{{- if kindIs "bool" .Values.tls.mode }}{{ fail "tls.mode: write \"Off\" in quotes, because YAML reads Off as false" }}{{ end -}}
{{- if ne .Values.tls.mode "Off" }}true{{ end }}
{{- end }}

{{- define "fxd.questdbHost" -}}
{{- if and .Values.questdb.enabled .Values.questdb.host }}{{ fail "set questdb.enabled to false: questdb.host is the QuestDB that exists, and the chart would start another" }}{{ end -}}
{{- if .Values.questdb.enabled }}{{ include "fxd.fullname" . }}-questdb
{{- else }}{{ required "questdb.host is needed where questdb.enabled is false" .Values.questdb.host }}
{{- end }}
{{- end }}

{{/* With Sentinels the host of the URL is unused, but a URL requires one. */}}
{{- define "fxd.redisHost" -}}
{{- if and .Values.redis.enabled (or .Values.redis.host .Values.redis.sentinel.hosts .Values.redis.tls.enabled) }}{{ fail "set redis.enabled to false: redis.host, redis.sentinel and redis.tls are for a Redis that exists, and the chart would start another" }}{{ end -}}
{{- if .Values.redis.enabled }}{{ include "fxd.fullname" . }}-redis:6379
{{- else if .Values.redis.sentinel.hosts }}sentinel
{{- else }}{{ required "redis.host or redis.sentinel.hosts is needed where redis.enabled is false" .Values.redis.host }}:{{ .Values.redis.port }}
{{- end }}
{{- end }}

{{/* Maximum replicas of rest. */}}
{{- define "fxd.restMax" -}}
{{- if .Values.rest.autoscaling.enabled }}{{ .Values.rest.autoscaling.maxReplicas }}{{ else }}{{ .Values.rest.replicas }}{{ end }}
{{- end }}

{{/* Maximum PostgreSQL connections of all processes. In a rollout all old pods may still drain while all new ones run.
A process opens 19, 6 or 9: services/stores/questdb/pg/connection-counts.ts. */}}
{{- define "fxd.questdbConnections" -}}
{{- $rest := mul 19 2 (include "fxd.restMax" . | int) -}}
{{- $stream := mul 6 2 (int .Values.stream.replicasMax) -}}
{{- $ingest := mul 9 2 (int .Values.ingest.replicas) -}}
{{- add $rest $stream $ingest .Values.questdb.spareConnections }}
{{- end }}

{{/* The limit of the chart's QuestDB: that maximum, rounded up to a multiple of 256. A change of it restarts QuestDB. */}}
{{- define "fxd.questdbLimit" -}}
{{- mul 256 (div (add 255 (include "fxd.questdbConnections" . | int)) 256) }}
{{- end }}
